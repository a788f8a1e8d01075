// Layers that are random while training and nothing else while running.
#include "ingot/frontends/keras/translators.h"

namespace ingot::frontends::keras {

void identity(Call& call) { call.outputs = call.inputs; }

void dropout(Call& call) {
  const double rate = call.number("rate", 0.5);
  if (!call.import.options.is_training || rate <= 0) return identity(call);
  GraphBuilder& b = call.b;
  call.set(b.op("Dropout", {call.in(), b.scalar(rate, DType::f32), b.scalar(0, DType::boolean)}));
}

/// Whole channels are dropped: of a mask with a single place for each.
void spatial_dropout(Call& call) {
  const double rate = call.number("rate", 0.5);
  if (!call.import.options.is_training || rate <= 0) return identity(call);
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
  IrValue* mask = b.op("Dropout", {ones, b.scalar(rate, DType::f32), b.scalar(0, DType::boolean)});
  call.set(b.mul(x, mask));
}

/// Noise, and images that are changed at random.
void regularization(Call& call) {
  if (call.import.options.is_training)
    call.import.notes.add("layer '" + call.layer.scope + "' (" + call.layer.class_name +
                          ") is random in Keras while training; here it does nothing");
  identity(call);
}

}  // namespace ingot::frontends::keras
