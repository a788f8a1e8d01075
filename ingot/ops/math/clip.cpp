// Clip: numbers held between a least and a most.
#include <limits>

#include "ingot/ops/compute.h"
#include "ingot/ops/gradient.h"
#include "ingot/ops/math/known_elements.h"
#include "ingot/ops/steps.h"

namespace ingot::ops {
namespace {

constexpr float kMost = std::numeric_limits<float>::max();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

void infer(InferContext& c) {
  c.out_shape_like(0, 0);
  for (std::size_t i = 1; i <= 2; ++i)
    if (const Shape* bound = c.shape(i))
      c.require(may_equal(product(*bound), 1), i == 1 ? "min is not one number" : "max is not one number");
  if (c.input_count() == 3 && c.has(1) && c.has(2))
    fold_elements(c, c.elem(0), 3, [](std::span<const Dim> x) { return min(max(x[0], x[1]), x[2]); });
}

/// A bound is one number, but may have axes, which would be broadcast.
Value* without_axes(GraphBuilder& g, Value* bound) {
  const auto& shape = bound->type.shape;
  return shape && shape->empty() ? bound : g.reshape(bound, {});
}

// Version 1 without a bound has none; version 6 bounds by the largest float.
void up_to_default_bounds(StepContext& c) {
  if (!c.node.attributes.has("min")) c.node.attributes.set({"min", -double{kInfinity}});
  if (!c.node.attributes.has("max")) c.node.attributes.set({"max", double{kInfinity}});
}

void bound_to_input(StepContext& c, const char* name, std::size_t i, float fallback) {
  const float bound = c.node.attributes.float_or(name, fallback);
  c.node.attributes.erase(name);
  const DType elem = c.type(0).elem;
  if (elem == DType::undefined) c.cannot("the input's element type is not known", "state the types of the inputs");
  Tensor number = Tensor::scalar(bound, elem);
  const double held = number.to_doubles().front();
  if (held == (fallback < 0 ? -double{kInfinity} : double{kInfinity})) return;  // no bound at all
  c.node.set_input(i, c.g.constant(std::move(number)));
}

void up_to_inputs(StepContext& c) {
  bound_to_input(c, "min", 1, -kMost);
  bound_to_input(c, "max", 2, kMost);
}

/// The bound as a float attribute, when it is constant and a float holds it.
std::optional<float> constant_bound(const StepContext& c, std::size_t i, float none) {
  if (!c.node.input(i)) return none;
  const Tensor* number = c.constant(i);
  if (!number || number->size() != 1 || !is_float(number->dtype())) return std::nullopt;
  const double value = number->to_doubles().front();
  const auto rounded = static_cast<float>(value);
  return static_cast<double>(rounded) == value ? std::optional(rounded) : std::nullopt;
}

void down_to_attributes(StepContext& c) {
  const auto least = constant_bound(c, 1, -kInfinity), most = constant_bound(c, 2, kInfinity);
  if (least && most) {
    c.node.attributes.set({"min", double{*least}});
    c.node.attributes.set({"max", double{*most}});
    c.node.resize_inputs(1);
    return;
  }
  Value* x = c.node.input(0);
  if (Value* bound = c.node.input(1)) x = c.g.op("Max", {x, without_axes(c.g, bound)});
  if (Value* bound = c.node.input(2)) x = c.g.op("Min", {x, without_axes(c.g, bound)});
  c.replace({x == c.node.input(0) ? c.g.op("Identity", {x}) : x});
}

constexpr Step kSteps[] = {
    {.since = 6, .up = up_to_default_bounds},
    {.since = 11, .up = up_to_inputs, .down = down_to_attributes},
};

Values decompose(DecomposeContext& c) {
  Value* x = c.in(0);
  if (c.has(1)) {
    Value* least = without_axes(c.g, c.in(1));
    x = c.g.where(c.g.op("Less", {x, least}), least, x);
  }
  if (c.has(2)) {
    Value* most = without_axes(c.g, c.in(2));
    x = c.g.where(c.g.op("Less", {most, x}), most, x);
  }
  return {x == c.in(0) ? c.g.op("Identity", {x}) : x};
}

/// A bound, which must be one number.
template <class T> std::optional<T> bound(KernelContext& c, std::size_t i) {
  if (!c.has(i)) return std::nullopt;
  const Array number = computable(c, i);
  if (number.size() != 1) c.fail(i == 1 ? "min is not one number" : "max is not one number");
  return number.data<T>()[0];
}

// NaN stays NaN; where the bounds cross, the upper one counts.
void run(KernelContext& c) {
  dispatch(compute_dtype(c.in(0).dtype()), ComputeNumbers{}, [&]<class T>() {
    const auto least = bound<T>(c, 1), most = bound<T>(c, 2);
    map_unary(c, Types<T>{}, [&](T x) {
      if (least && x < *least) x = *least;
      return most && *most < x ? *most : x;
    });
  });
}

// On a bound the gradient passes, as if x were inside. Where the bounds cross, the upper one holds.
Values gradient_clip(GradContext& c) {
  GraphBuilder& g = c.g;
  Value *dx = c.dy(), *d_least = nullptr, *d_most = nullptr, *raised = c.x();
  Value* least = c.has(1) ? without_axes(g, c.x(1)) : nullptr;
  const auto gradient_of = [&](std::size_t i, Value* kept) {
    return c.shaped(g.op("ReduceSum", {kept}, {{"keepdims", 0}}), c.x(i));
  };
  if (least) raised = g.op("Max", {c.x(), least});
  if (c.has(2)) {
    Value* is_above = c.less(without_axes(g, c.x(2)), raised);
    d_most = gradient_of(2, c.keep(is_above, dx));
    dx = g.where(is_above, c.number(0), dx);
  }
  if (least) {
    Value* is_below = c.less(c.x(), least);
    d_least = gradient_of(1, c.keep(is_below, dx));
    dx = g.where(is_below, c.number(0), dx);
  }
  return {dx, d_least, d_most};
}

}  // namespace

constinit const OpDef defs::Clip = {
    .name = "Clip",
    .infer = infer,
    .steps = kSteps,
    .decompose = decompose,
    .kernel = run,
    .gradient = gradient_clip,
};

}  // namespace ingot::ops
