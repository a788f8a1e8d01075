// Normalisations.
#include "ingot/frontends/torch/call.h"
#include "ingot/frontends/values.h"

namespace ingot::frontends::torch {
namespace {

/// What is not given is 1 or 0 for each channel.
Value* per_channel(const Call& c, std::size_t i, Value* x, double otherwise) {
  if (c.has(i)) return c.tensor(i);
  GraphBuilder& g = c.g();
  return g.op("Expand", {g.scalar(otherwise, x->type.elem), g.op("Slice", {g.shape(x), g.ints({1}), g.ints({2})})});
}

/// A vector of channels beside [batch, channels, ...].
Value* beside_channels(const Call& c, Value* vector, Value* x) {
  Ints shape(static_cast<std::size_t>(c.rank(x) - 1), 1);
  shape[0] = -1;
  return c.g().reshape(vector, shape);
}

/// What normalisation gives: the normalised, the batch's mean and 1 / deviation, and the running statistics after it.
struct Normalized {
  Value *y = nullptr, *mean = nullptr, *scale = nullptr, *next_mean = nullptr, *next_variance = nullptr;
};

/// (1 - momentum) * running + momentum * batch
Value* moved_on(const Call& c, Value* running, double momentum, Value* batch) {
  GraphBuilder& g = c.g();
  return g.cast(g.add(g.mul(running, 1 - momentum), g.mul(g.cast(batch, running->type.elem), momentum)),
                running->type.elem);
}

Normalized by_batch(const Call& c, Value* x, double epsilon) {
  GraphBuilder& g = c.g();
  Ints axes{0};
  for (std::int64_t i = 2; i < c.rank(x); ++i) axes.push_back(i);
  Normalized made;
  Value* mean = g.op("ReduceMean", {x, g.ints(axes)});
  Value* off = g.sub(x, mean);
  Value* variance = g.op("ReduceMean", {g.mul(off, off), g.ints(axes)});
  Value* deviation = g.op("Sqrt", {g.add(variance, epsilon)});
  made.y = g.div(off, deviation);
  made.mean = g.reshape(mean, {-1});
  made.scale = g.op("Reciprocal", {g.reshape(deviation, {-1})});
  if (!c.has(3) || !c.has(4)) return made;
  // PyTorch's running variance is the unbiased one.
  Value* channels = g.op("Size", {mean});
  Value* count = g.cast(g.op("Div", {g.op("Size", {x}), channels}), x->type.elem);
  Value* unbiased = g.mul(g.reshape(variance, {-1}), g.div(count, g.sub(count, 1)));
  const double* momentum = c.arg(6).get<double>();
  if (!momentum) return made;  // a mean over all batches: how many there were is known to the run alone
  made.next_mean = moved_on(c, c.tensor(3), *momentum, made.mean);
  made.next_variance = moved_on(c, c.tensor(4), *momentum, unbiased);
  return made;
}

Normalized normalized(const Call& c, bool is_training, std::size_t epsilon) {
  GraphBuilder& g = c.g();
  Value* x = c.tensor(0);
  if (!rank_of(x)) refuse("the rank of a normalised tensor must be known");
  if ((!is_training || c.t.is_trainable) && c.has(3)) {
    const double* momentum = c.arg(epsilon - 1).get<double>();
    return {g.op("BatchNormalization", {x, per_channel(c, 1, x, 1), per_channel(c, 2, x, 0), c.tensor(3), c.tensor(4)},
                 {{"epsilon", c.real(epsilon)}, {"momentum", 1 - (momentum ? *momentum : 0.1)}}, 1)[0]};
  }
  Normalized made = by_batch(c, x, c.real(epsilon));
  if (c.has(1)) made.y = g.mul(made.y, beside_channels(c, c.tensor(1), x));
  if (c.has(2)) made.y = g.add(made.y, beside_channels(c, c.tensor(2), x));
  return made;
}

/// Running statistics that are no values of their own follow the batch in place.
void move_on(const Call& c, const Normalized& made) {
  if (!made.next_mean) return;
  if (const TensorRef* mean = c.arg(3).get<TensorRef>()) c.t.write(*mean, made.next_mean);
  if (const TensorRef* variance = c.arg(4).get<TensorRef>()) c.t.write(*variance, made.next_variance);
}

/// Without the batch's statistics there are none to tell.
Item nothing(const Call& c) { return c.g().constant(Tensor(c.tensor(0)->type.elem, {0}, {})); }
Item or_nothing(const Call& c, Value* value) { return value ? Item(value) : nothing(c); }

/// The mean over the axes and 1 / deviation from it.
std::pair<Value*, Value*> moments(GraphBuilder& g, Value* x, const Ints& axes, double epsilon) {
  Value* mean = g.op("ReduceMean", {x, g.ints(axes)});
  Value* off = g.sub(x, mean);
  Value* variance = g.op("ReduceMean", {g.mul(off, off), g.ints(axes)});
  return {mean, g.op("Reciprocal", {g.op("Sqrt", {g.add(variance, epsilon)})})};
}

}  // namespace

Item batch_norm(const Call& c) {
  const Normalized made = normalized(c, c.flag(5), 7);
  move_on(c, made);
  return made.y;
}
Item native_batch_norm(const Call& c) {
  // _native_batch_norm_legit.no_stats(input, weight, bias, training, momentum, eps)
  if (c.arg(3).is<bool>())
    return c.t.call("native_batch_norm", {c.arg(0), c.arg(1), c.arg(2), {}, {}, c.arg(3), c.arg(4), c.arg(5)});
  const Normalized made = normalized(c, c.flag(5), 7);
  move_on(c, made);
  return Item::tuple({Item(made.y), or_nothing(c, made.mean), or_nothing(c, made.scale)});
}
Item native_batch_norm_no_training(const Call& c) {
  return Item::tuple({Item(normalized(c, false, 6).y), nothing(c), nothing(c)});
}
Item native_batch_norm_functional(const Call& c) {
  const Normalized made = normalized(c, c.flag(5), 7);
  return Item::tuple({Item(made.y), or_nothing(c, made.mean), or_nothing(c, made.scale),
                      made.next_mean ? Item(made.next_mean) : c.arg(3),
                      made.next_variance ? Item(made.next_variance) : c.arg(4)});
}
Item instance_norm(const Call& c) {
  GraphBuilder& g = c.g();
  Value* x = c.tensor(0);
  if (!c.flag(5))
    return g.op("BatchNormalization", {x, per_channel(c, 1, x, 1), per_channel(c, 2, x, 0), c.tensor(3), c.tensor(4)},
                {{"epsilon", c.real(7)}}, 1)[0];
  return g.op("InstanceNormalization", {x, per_channel(c, 1, x, 1), per_channel(c, 2, x, 0)}, {{"epsilon", c.real(7)}});
}
Item layer_norm(const Call& c) {
  GraphBuilder& g = c.g();
  Value* x = c.tensor(0);
  const Ints shape = c.ints(1);
  Value* scale = c.has(2) ? c.tensor(2) : g.op("Expand", {g.scalar(1, x->type.elem), g.ints(shape)});
  Values inputs{x, scale};
  if (c.has(3)) inputs.push_back(c.tensor(3));
  return g.op("LayerNormalization", inputs,
              {{"axis", -static_cast<std::int64_t>(shape.size())}, {"epsilon", c.real(4)}}, 1)[0];
}
Item native_layer_norm(const Call& c) {
  const auto count = static_cast<std::int64_t>(c.ints(1).size());
  Ints axes;
  for (std::int64_t i = -count; i < 0; ++i) axes.push_back(i);
  const auto [mean, scale] = moments(c.g(), c.tensor(0), axes, c.real(4));
  return Item::tuple({layer_norm(c), Item(mean), Item(scale)});
}
Item rms_norm(const Call& c) {
  GraphBuilder& g = c.g();
  Value* x = c.tensor(0);
  const Ints shape = c.ints(1);
  Value* scale = c.has(2) ? c.tensor(2) : g.op("Expand", {g.scalar(1, x->type.elem), g.ints(shape)});
  return g.op(
      "RMSNormalization", {x, scale},
      {{"axis", -static_cast<std::int64_t>(shape.size())}, {"epsilon", c.has(3) ? c.real(3) : 1.1920928955078125e-07}});
}
Item group_norm(const Call& c) {
  GraphBuilder& g = c.g();
  Value* x = c.tensor(0);
  return g.op("GroupNormalization", {x, per_channel(c, 2, x, 1), per_channel(c, 3, x, 0)},
              {{"num_groups", c.integer(1)}, {"epsilon", c.real(4)}});
}
Item native_group_norm(const Call& c) {
  GraphBuilder& g = c.g();
  Value* x = c.tensor(0);
  Value* y = g.op("GroupNormalization", {x, per_channel(c, 1, x, 1), per_channel(c, 2, x, 0)},
                  {{"num_groups", c.integer(6)}, {"epsilon", c.real(7)}});
  Value* groups = g.op("Reshape", {x, g.concat({g.op("Slice", {g.shape(x), g.ints({0}), g.ints({1})}),
                                                g.ints({c.integer(6), -1})},
                                               0)});
  const auto [mean, scale] = moments(g, groups, {2}, c.real(7));
  return Item::tuple({Item(y), Item(g.squeeze(mean, {2})), Item(g.squeeze(scale, {2}))});
}
Item weight_norm(const Call& c) {
  GraphBuilder& g = c.g();
  Value* v = c.tensor(0);
  const std::int64_t axis = c.integer(2) < 0 ? -1 : c.axis(2, v);
  Ints axes;
  for (std::int64_t i = 0; i < c.rank(v); ++i)
    if (i != axis) axes.push_back(i);
  return g.mul(v, g.div(c.tensor(1), g.op("ReduceL2", {v, g.ints(axes)})));
}
Item weight_norm_interface(const Call& c) { return Item::tuple({weight_norm(c), Item(Unknown{})}); }
Item renorm(const Call& c) {
  GraphBuilder& g = c.g();
  Value* x = c.tensor(0);
  const std::int64_t axis = c.axis(2, x);
  Ints axes;
  for (std::int64_t i = 0; i < c.rank(x); ++i)
    if (i != axis) axes.push_back(i);
  const Item norm = c.t.call("norm", {Item(x), c.arg(1), Item::integers(axes), true});
  Value* length = c.t.read(*norm.get<TensorRef>());
  Value* most = g.scalar(c.real(3), x->type.elem);
  return g.where(g.op("Greater", {length, most}), g.mul(x, g.div(most, g.add(length, 1e-7))), x);
}

}  // namespace ingot::frontends::torch
