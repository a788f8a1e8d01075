// Gradients of single operators, as training graphs have them.
#include "ingot/frontends/tensorflow/node.h"

namespace ingot::frontends::tensorflow {
namespace {

Value* zero_of(GraphBuilder& g, Value* like) { return g.scalar(0, like->type.elem); }

/// The gradient where the condition holds, else nothing.
Value* passed(GraphBuilder& g, Value* condition, Value* dy) { return g.where(condition, dy, zero_of(g, dy)); }

}  // namespace

// Inputs: the gradient, then what the operator saw (or, for Elu and Selu, gave).
Values relu_grad(const TfNode& n, GraphBuilder& g) {
  Value* is_on = g.op("Greater", {n.input(1), zero_of(g, n.input(1))});
  return {passed(g, is_on, n.input(0))};
}
Values relu6_grad(const TfNode& n, GraphBuilder& g) {
  Value* is_above = g.op("Greater", {n.input(1), zero_of(g, n.input(1))});
  Value* is_below = g.op("Less", {n.input(1), g.scalar(6, n.elem(1))});
  return {passed(g, g.op("And", {is_above, is_below}), n.input(0))};
}
Values leaky_relu_grad(const TfNode& n, GraphBuilder& g) {
  Value* is_on = g.op("Greater", {n.input(1), zero_of(g, n.input(1))});
  return {g.where(is_on, n.input(0), g.mul(n.input(0), n.real("alpha", 0.2)))};
}
Values elu_grad(const TfNode& n, GraphBuilder& g) {
  Value* is_low = g.op("Less", {n.input(1), zero_of(g, n.input(1))});
  return {g.where(is_low, g.mul(n.input(0), g.add(n.input(1), 1)), n.input(0))};
}
Values selu_grad(const TfNode& n, GraphBuilder& g) {
  constexpr double kScale = 1.0507009873554804934193349852946, kScaleAlpha = kScale * 1.6732632423543772848170429916717;
  Value* is_low = g.op("Less", {n.input(1), zero_of(g, n.input(1))});
  Value* low = g.mul(n.input(0), g.add(n.input(1), kScaleAlpha));
  return {g.where(is_low, low, g.mul(n.input(0), kScale))};
}
Values softplus_grad(const TfNode& n, GraphBuilder& g) { return {g.mul(n.input(0), g.op("Sigmoid", {n.input(1)}))}; }
Values softsign_grad(const TfNode& n, GraphBuilder& g) {
  Value* size = g.add(g.op("Abs", {n.input(1)}), 1);
  return {g.div(n.input(0), g.mul(size, size))};
}

// Inputs: what the operator gave, then the gradient.
Values sigmoid_grad(const TfNode& n, GraphBuilder& g) {
  Value* slope = g.mul(n.input(0), g.sub(1, n.input(0)));
  return {g.mul(n.input(1), slope)};
}
Values tanh_grad(const TfNode& n, GraphBuilder& g) {
  Value* slope = g.sub(1, g.mul(n.input(0), n.input(0)));
  return {g.mul(n.input(1), slope)};
}
Values reciprocal_grad(const TfNode& n, GraphBuilder& g) {
  Value* slope = g.neg(g.mul(n.input(0), n.input(0)));
  return {g.mul(n.input(1), slope)};
}
Values sqrt_grad(const TfNode& n, GraphBuilder& g) { return {g.div(g.mul(n.input(1), 0.5), n.input(0))}; }
Values rsqrt_grad(const TfNode& n, GraphBuilder& g) {
  Value* square = g.mul(n.input(0), n.input(0));
  return {g.mul(n.input(1), g.mul(g.mul(square, n.input(0)), -0.5))};
}

Values bias_add_grad(const TfNode& n, GraphBuilder& g) {
  const std::int64_t rank = n.rank(0);
  const std::int64_t channel = n.text("data_format", "NHWC") == "NCHW" && rank > 2 ? 1 : rank - 1;
  std::vector<std::int64_t> axes;
  for (std::int64_t axis = 0; axis < rank; ++axis)
    if (axis != channel) axes.push_back(axis);
  return {axes.empty() ? n.input(0) : g.reduce_sum(n.input(0), axes, false)};
}

}  // namespace ingot::frontends::tensorflow
