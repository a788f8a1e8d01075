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
  if (Value* bound = c.node.input(1)) x = c.g.op("Max", {x, bound});
  if (Value* bound = c.node.input(2)) x = c.g.op("Min", {x, bound});
  c.replace({x});
}

constexpr Step kSteps[] = {
    {.since = 6, .up = up_to_default_bounds},
    {.since = 11, .up = up_to_inputs, .down = down_to_attributes},
};

Values decompose(DecomposeContext& c) {
  Value* x = c.in(0);
  if (c.has(1)) x = c.g.where(c.g.op("Less", {x, c.in(1)}), c.in(1), x);
  if (c.has(2)) x = c.g.where(c.g.op("Less", {c.in(2), x}), c.in(2), x);
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
  Value *dx = c.dy(), *least = nullptr, *most = nullptr, *raised = c.x();
  if (c.has(1)) raised = g.op("Max", {c.x(), c.x(1)});
  if (c.has(2)) {
    Value* is_above = c.less(c.x(2), raised);
    most = c.sum_to(c.keep(is_above, dx), c.x(2));
    dx = g.where(is_above, c.number(0), dx);
  }
  if (c.has(1)) {
    Value* is_below = c.less(c.x(), c.x(1));
    least = c.sum_to(c.keep(is_below, dx), c.x(1));
    dx = g.where(is_below, c.number(0), dx);
  }
  return {dx, least, most};
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
