// Layers that are random while training and nothing else while running.
#include <cmath>

#include "ingot/frontends/keras/translators.h"

namespace ingot::frontends::keras {

namespace {

bool is_random(const Call& call) { return call.is_live() || call.learns(); }

}  // namespace

void identity(Call& call) { call.outputs = call.inputs; }

void dropout(Call& call) {
  const double rate = call.number("rate", 0.5);
  if (!is_random(call) || rate <= 0) return identity(call);
  GraphBuilder& b = call.b;
  call.set(b.op("Dropout", {call.in(), b.scalar(rate, DType::f32), b.scalar(call.is_live() ? 1 : 0, DType::boolean)}));
}

/// Whole channels are dropped: of a mask with a single place for each.
void spatial_dropout(Call& call) {
  const double rate = call.number("rate", 0.5);
  if (!is_random(call) || rate <= 0) return identity(call);
  GraphBuilder& b = call.b;
  IrValue* x = call.in();
  const std::int64_t rank = call.rank();
  call.require(rank >= 3, "the input has no channels over places");
  const bool is_first = rank > 3 && call.is_channels_first();
  Values sizes;
  for (std::int64_t i = 0; i < rank; ++i) {
    const bool is_kept = i == 0 || i == (is_first ? 1 : rank - 1);
    sizes.push_back(is_kept ? b.op("Slice", {b.shape(x), b.ints({i}), b.ints({i + 1}), b.ints({0})}) : b.ints({1}));
  }
  IrValue* ones = b.op("Expand", {b.scalar(1, call.elem()), b.concat(sizes, 0)});
  IrValue* mask = b.op("Dropout", {ones, b.scalar(rate, DType::f32), b.scalar(call.is_live() ? 1 : 0, DType::boolean)});
  call.set(b.mul(x, mask));
}

namespace {

/// Whether the graph is one that trains: a Dropout of ONNX leaves a one alone only where it does nothing.
IrValue* trains(GraphBuilder& b) {
  IrValue* one = b.scalar(1, DType::f32);
  IrValue* kept = b.op("Dropout", {one, b.scalar(0.5, DType::f32), b.scalar(0, DType::boolean)});
  return b.op("Not", {b.op("Equal", {kept, one})});
}

/// Normal numbers in the shape of a value, from which no gradient goes back.
IrValue* noise_like(GraphBuilder& b, IrValue* x, double mean, double deviation) {
  IrValue* zeros = b.op("Expand", {b.scalar(0, x->type.elem), b.shape(x)});
  return b.op("RandomNormalLike", {zeros},
              {{"mean", static_cast<float>(mean)}, {"scale", static_cast<float>(deviation)}});
}

}  // namespace

void gaussian_noise(Call& call) {
  const double deviation = call.number("stddev", 1);
  if (!is_random(call) || deviation <= 0) return identity(call);
  GraphBuilder& b = call.b;
  IrValue* noisy = b.add(call.in(), noise_like(b, call.in(), 0, deviation));
  call.set(call.is_live() ? noisy : b.where(trains(b), noisy, call.in()));
}

void gaussian_dropout(Call& call) {
  const double rate = call.number("rate", 0.5);
  if (!is_random(call) || rate <= 0 || rate >= 1) return identity(call);
  GraphBuilder& b = call.b;
  IrValue* noisy = b.mul(call.in(), noise_like(b, call.in(), 1, std::sqrt(rate / (1 - rate))));
  call.set(call.is_live() ? noisy : b.where(trains(b), noisy, call.in()));
}

/// What is dropped becomes SELU's least value, and mean and variance stay what they were.
void alpha_dropout(Call& call) {
  const double rate = call.number("rate", 0.5);
  if (!is_random(call) || rate <= 0 || rate >= 1) return identity(call);
  GraphBuilder& b = call.b;
  constexpr double kLeast = -1.6732632423543772 * 1.0507009873554805;
  const double scale = 1 / std::sqrt((1 - rate) * (1 + rate * kLeast * kLeast)), offset = -scale * kLeast * rate;
  IrValue* ones = b.op("Expand", {b.scalar(1, call.elem()), b.shape(call.in())});
  IrValue* mask = b.op("Dropout", {ones, b.scalar(rate, DType::f32), b.scalar(call.is_live() ? 1 : 0, DType::boolean)});
  IrValue* is_kept = b.op("Greater", {mask, b.scalar(0, call.elem())});
  IrValue* dropped = b.where(is_kept, call.in(), b.scalar(kLeast, call.elem()));
  IrValue* noisy = b.add(b.mul(dropped, scale), offset);
  call.set(call.is_live() ? noisy : b.where(trains(b), noisy, call.in()));
}

/// Images that are changed at random.
void regularization(Call& call) {
  if (call.is_live()) call.refuse("it changes images at random also while running (training=True)");
  if (call.learns())
    call.import.notes.add("layer '" + call.layer.scope + "' (" + call.layer.class_name +
                          ") is random in Keras while training; here it does nothing");
  identity(call);
}

}  // namespace ingot::frontends::keras
