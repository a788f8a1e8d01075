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

Value* by_batch(const Call& c, Value* x, double epsilon) {
  GraphBuilder& g = c.g();
  Ints axes{0};
  for (std::int64_t i = 2; i < c.rank(x); ++i) axes.push_back(i);
  Value* off = g.sub(x, g.op("ReduceMean", {x, g.ints(axes)}));
  Value* variance = g.op("ReduceMean", {g.mul(off, off), g.ints(axes)});
  return g.div(off, g.op("Sqrt", {g.add(variance, epsilon)}));
}

Value* batch_normalized(const Call& c, bool is_training, std::size_t epsilon) {
  GraphBuilder& g = c.g();
  Value* x = c.tensor(0);
  if (!rank_of(x)) refuse("the rank of a normalised tensor must be known");
  if (!is_training && c.has(3))
    return g.op("BatchNormalization", {x, per_channel(c, 1, x, 1), per_channel(c, 2, x, 0), c.tensor(3), c.tensor(4)},
                {{"epsilon", c.real(epsilon)}}, 1)[0];
  Value* y = by_batch(c, x, c.real(epsilon));
  if (c.has(1)) y = g.mul(y, beside_channels(c, c.tensor(1), x));
  return c.has(2) ? g.add(y, beside_channels(c, c.tensor(2), x)) : y;
}

}  // namespace

Item batch_norm(const Call& c) { return batch_normalized(c, c.flag(5), 7); }
Item native_batch_norm(const Call& c) {
  return Item::tuple({Item(batch_normalized(c, c.flag(5), 7)), Item(Unknown{}), Item(Unknown{})});
}
Item native_batch_norm_no_training(const Call& c) {
  return Item::tuple({Item(batch_normalized(c, false, 6)), Item(Unknown{}), Item(Unknown{})});
}
Item native_batch_norm_functional(const Call& c) {
  return Item::tuple({Item(batch_normalized(c, c.flag(5), 7)), Item(Unknown{}), Item(Unknown{}), c.arg(3), c.arg(4)});
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
Item native_layer_norm(const Call& c) { return Item::tuple({layer_norm(c), Item(Unknown{}), Item(Unknown{})}); }
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
  return Item::tuple({Item(y), Item(Unknown{}), Item(Unknown{})});
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
  if (c.real(1) != 2) refuse("renorm by another norm than 2");
  Value* length = g.op("ReduceL2", {x, g.ints(axes)});
  Value* most = g.scalar(c.real(3), x->type.elem);
  return g.where(g.op("Greater", {length, most}), g.mul(x, g.div(most, g.add(length, 1e-7))), x);
}

}  // namespace ingot::frontends::torch
