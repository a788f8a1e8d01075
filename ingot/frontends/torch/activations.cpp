// Activation functions.
#include <cmath>

#include "ingot/frontends/torch/call.h"

namespace ingot::frontends::torch {

Item relu(const Call& c) { return c.g().op("Relu", {c.tensor(0)}); }
Item relu6(const Call& c) {
  Value* x = c.tensor(0);
  return c.g().op("Clip", {x, c.g().scalar(0, x->type.elem), c.g().scalar(6, x->type.elem)});
}
Item hardtanh(const Call& c) {
  Value* x = c.tensor(0);
  return c.g().op("Clip", {x, c.g().scalar(c.real(1), x->type.elem), c.g().scalar(c.real(2), x->type.elem)});
}
Item leaky_relu(const Call& c) { return c.g().op("LeakyRelu", {c.tensor(0)}, {{"alpha", c.real(1)}}); }
Item rrelu(const Call& c) {
  if (c.flag(3)) refuse("rrelu draws its slopes at random while training");
  return c.g().op("LeakyRelu", {c.tensor(0)}, {{"alpha", (c.real(1) + c.real(2)) / 2}});
}
Item prelu(const Call& c) {
  Value* x = c.tensor(0);
  Value* slope = c.tensor(1);
  GraphBuilder& g = c.g();
  // One slope for each channel, which is axis 1.
  const std::int64_t rank = c.rank(x);
  if (rank_of(slope) == 1 && dim_of(slope, 0) != 1 && rank > 2) {
    Ints shape(static_cast<std::size_t>(rank - 1), 1);
    shape[0] = -1;
    slope = g.reshape(slope, shape);
  }
  return g.op("PRelu", {x, slope});
}
Item elu(const Call& c) {
  GraphBuilder& g = c.g();
  Value* x = c.tensor(0);
  const double alpha = c.real(1), scale = c.real(2), input_scale = c.real(3);
  if (scale == 1 && input_scale == 1) return g.op("Elu", {x}, {{"alpha", alpha}});
  Value* zero = g.scalar(0, x->type.elem);
  Value* low = g.mul(g.sub(g.op("Exp", {g.mul(g.op("Min", {x, zero}), input_scale)}), 1), alpha * scale);
  return g.where(g.op("Greater", {x, zero}), g.mul(x, scale), low);
}
Item selu(const Call& c) {
  return c.g().op("Selu", {c.tensor(0)}, {{"alpha", 1.6732632423543772848}, {"gamma", 1.0507009873554804934}});
}
Item celu(const Call& c) { return c.g().op("Celu", {c.tensor(0)}, {{"alpha", c.real(1)}}); }
Item gelu(const Call& c) { return c.g().op("Gelu", {c.tensor(0)}, {{"approximate", c.text(1)}}); }
Item silu(const Call& c) {
  Value* x = c.tensor(0);
  return c.g().mul(x, c.g().op("Sigmoid", {x}));
}
Item mish(const Call& c) { return c.g().op("Mish", {c.tensor(0)}); }
Item hardswish(const Call& c) { return c.g().op("HardSwish", {c.tensor(0)}); }
Item hardsigmoid(const Call& c) { return c.g().op("HardSigmoid", {c.tensor(0)}, {{"alpha", 1.0 / 6}, {"beta", 0.5}}); }
Item log_sigmoid(const Call& c) {
  GraphBuilder& g = c.g();
  return g.neg(g.op("Softplus", {g.neg(c.tensor(0))}));
}
Item log_sigmoid_forward(const Call& c) { return Item::tuple({log_sigmoid(c), c.arg(0)}); }
Item softplus(const Call& c) {
  GraphBuilder& g = c.g();
  Value* x = c.tensor(0);
  const double beta = c.real(1), threshold = c.real(2);
  Value* wide = beta == 1 ? x : g.mul(x, beta);
  Value* soft = g.op("Softplus", {wide});
  if (beta != 1) soft = g.div(soft, beta);
  return g.where(g.op("Greater", {wide, g.scalar(threshold, x->type.elem)}), x, soft);
}
Item softshrink(const Call& c) {
  return c.g().op("Shrink", {c.tensor(0)}, {{"lambd", c.real(1)}, {"bias", c.real(1)}});
}
Item hardshrink(const Call& c) { return c.g().op("Shrink", {c.tensor(0)}, {{"lambd", c.real(1)}, {"bias", 0.0}}); }
Item threshold(const Call& c) {
  GraphBuilder& g = c.g();
  Value* x = c.tensor(0);
  return g.where(g.op("Greater", {x, g.scalar(c.real(1), x->type.elem)}), x, g.scalar(c.real(2), x->type.elem));
}
Item glu(const Call& c) {
  Value* x = c.tensor(0);
  GraphBuilder& g = c.g();
  const Values halves = g.op("Split", {x}, {{"axis", c.axis(1, x)}, {"num_outputs", 2}}, 2);
  return g.mul(halves[0], g.op("Sigmoid", {halves[1]}));
}
Item dropout(const Call& c) {
  if (!c.flag(2) && !c.t.is_trainable) return c.arg(0);
  if (c.real(1) != 0 && c.t.is_trainable && c.row.name == "dropout")
    return c.g().op("Dropout", {c.real_tensor(0), c.g().scalar(c.real(1), DType::f32)}, {}, 1)[0];
  if (!c.flag(2) || c.real(1) == 0) return c.arg(0);
  if (c.row.name != "dropout") refuse("dropout of whole channels or to negative values while training");
  return c.g().op("Dropout",
                  {c.real_tensor(0), c.g().scalar(c.real(1), DType::f32), c.g().constant(Tensor::scalar(true))}, {},
                  1)[0];
}
Item native_dropout(const Call& c) {
  if (c.flag(2)) refuse("dropout while training");
  return Item::tuple({c.arg(0), Item(c.g().op("Equal", {c.tensor(0), c.tensor(0)}))});
}
Item softmax(const Call& c) {
  if (is_single(c)) return on_single(c, softmax);
  Value* x = c.tensor(0);
  x = c.g().cast(
      x, c.row.name.starts_with('_') ? x->type.elem : c.dtype(2, is_float(x->type.elem) ? x->type.elem : DType::f32));
  return c.g().op("Softmax", {x}, {{"axis", c.integer(1)}});
}
Item log_softmax(const Call& c) {
  if (is_single(c)) return on_single(c, log_softmax);
  Value* x = c.tensor(0);
  x = c.g().cast(
      x, c.row.name.starts_with('_') ? x->type.elem : c.dtype(2, is_float(x->type.elem) ? x->type.elem : DType::f32));
  return c.g().op("LogSoftmax", {x}, {{"axis", c.integer(1)}});
}

}  // namespace ingot::frontends::torch
