// Max, Min, Sum and Mean of any number of inputs, broadcast.
#include <algorithm>
#include <functional>

#include "ingot/ops/gradient.h"
#include "ingot/ops/math/known_elements.h"
#include "ingot/ops/math/scalar_functions.h"
#include "ingot/ops/steps.h"
#include "ingot/ops/walk.h"

namespace ingot::ops {
namespace {

Dim largest(std::span<const Dim> x) {
  Dim result = x[0];
  for (const Dim& d : x.subspan(1)) result = max(result, d);
  return result;
}

Dim smallest(std::span<const Dim> x) {
  Dim result = x[0];
  for (const Dim& d : x.subspan(1)) result = min(result, d);
  return result;
}

Dim total(std::span<const Dim> x) {
  Dim result = 0;
  for (const Dim& d : x) result = result + d;
  return result;
}

bool are_all_of_one_shape(const StepContext& c) {
  const auto& first = c.type(0).shape;
  for (std::size_t i = 1; i < c.node.input_count(); ++i) {
    const auto& other = c.type(i).shape;
    if (!first || !other || first->size() != other->size()) return false;
    for (std::size_t k = 0; k < first->size(); ++k)
      if (!same((*first)[k], (*other)[k])) return false;
  }
  return true;
}

Value* add_up(GraphBuilder& g, const Values& terms) {
  Value* sum = terms.front();
  for (std::size_t i = 1; i < terms.size(); ++i) sum = g.add(sum, terms[i]);
  return sum;
}

// Until 7 all inputs had one shape.
void down_to_one_shape(StepContext& c) {
  if (!are_all_of_one_shape(c)) c.cannot("operator set 7 does not broadcast the inputs");
}

void down_to_additions(StepContext& c) {
  if (!are_all_of_one_shape(c)) c.replace({add_up(c.g, c.node.inputs())});
}

constexpr Step kSteps[] = {{.since = 8, .down = down_to_one_shape}};
constexpr Step kSumSteps[] = {{.since = 8, .down = down_to_additions}};

bool has_all_inputs(const DecomposeContext& c) {
  for (std::size_t i = 0; i < c.node.input_count(); ++i)
    if (!c.has(i)) return false;
  return c.node.input_count() > 0;
}

Values decompose_sum(DecomposeContext& c) {
  if (!has_all_inputs(c)) return {};
  if (c.node.input_count() == 1) return {c.g.op("Identity", {c.in(0)})};
  return {add_up(c.g, c.node.inputs())};
}

Values decompose_mean(DecomposeContext& c) {
  if (!has_all_inputs(c) || c.elem(0) == DType::undefined) return {};
  return {c.g.div(add_up(c.g, c.node.inputs()), static_cast<double>(c.node.input_count()))};
}

/// f(x, y), broadcast, in their one type.
template <class List, class F> Array combined(KernelContext& c, List types, const Array& x, const Array& y, F f) {
  const Dims dims = broadcast_dims(c, {&x.dims(), &y.dims()});
  const Walk walk = broadcast(dims, {&x.dims(), &y.dims()});
  Array z = scratch(c, x.dtype(), dims);
  dispatch(x.dtype(), types, [&]<class T>() {
    const T *a = x.data<T>().data(), *b = y.data<T>().data();
    T* out = z.mutable_data<T>().data();
    const std::int64_t step_a = walk.strides[0].back(), step_b = walk.strides[1].back();
    for_each_row(walk, c.host().budget(), [&](const std::int64_t* at, std::int64_t n) {
      for (std::int64_t i = 0; i < n; ++i) *out++ = f(a[at[0] + i * step_a], b[at[1] + i * step_b]);
    });
  });
  return z;
}

/// NaN wins over every number.
template <class Better> void run_extremum(KernelContext& c) {
  Array best = computable(c, 0);
  for (std::size_t i = 1; i < c.input_count(); ++i)
    best = combined(c, ComputeNumbers{}, best, computable(c, i),
                    [](auto x, auto y) { return is_nan(x) || (!is_nan(y) && !Better()(y, x)) ? x : y; });
  put(c, 0, best, c.in(0).dtype());
}

/// The sum in double, divided by a number, rounded once.
void run_scaled_sum(KernelContext& c, double divisor) {
  Array sum = converted(c.in(0), DType::f64, c.host());
  for (std::size_t i = 1; i < c.input_count(); ++i)
    sum = combined(c, Types<double>{}, sum, converted(c.in(i), DType::f64, c.host()), std::plus<double>());
  Array result = scratch(c, DType::f64, sum.dims());
  std::ranges::transform(sum.data<double>(), result.mutable_data<double>().begin(),
                         [&](double x) { return x / divisor; });
  put(c, 0, result, c.in(0).dtype());
}
void run_sum(KernelContext& c) { run_scaled_sum(c, 1); }
void run_mean(KernelContext& c) { run_scaled_sum(c, static_cast<double>(c.input_count())); }

// Inputs that share the extremum share the gradient.
Values gradient_extremum(GradContext& c) {
  GraphBuilder& g = c.g;
  Values winners;
  Value* count = nullptr;
  for (std::size_t i = 0; i < c.node.input_count(); ++i) {
    winners.push_back(c.equal(c.x(i), c.y()));
    Value* one = g.cast(winners.back(), c.elem());
    count = count ? g.add(count, one) : one;
  }
  Value* share = g.div(c.dy(), count);
  Values dxs;
  for (std::size_t i = 0; i < winners.size(); ++i) dxs.push_back(c.sum_to(c.keep(winners[i], share), c.x(i)));
  return dxs;
}

Values gradient_sum(GradContext& c) {
  Values dxs;
  for (Value* x : c.node.inputs()) dxs.push_back(c.sum_to(c.dy(), x));
  return dxs;
}

Values gradient_mean(GradContext& c) {
  Value* share = c.g.div(c.dy(), static_cast<double>(c.node.input_count()));
  Values dxs;
  for (Value* x : c.node.inputs()) dxs.push_back(c.sum_to(share, x));
  return dxs;
}

}  // namespace

constinit const OpDef defs::Max = {
    .name = "Max",
    .infer = infer_variadic<largest>,
    .steps = kSteps,
    .kernel = run_extremum<std::greater<>>,
    .gradient = gradient_extremum,
};
constinit const OpDef defs::Min = {
    .name = "Min",
    .infer = infer_variadic<smallest>,
    .steps = kSteps,
    .kernel = run_extremum<std::less<>>,
    .gradient = gradient_extremum,
};
constinit const OpDef defs::Sum = {
    .name = "Sum",
    .infer = infer_variadic<total>,
    .steps = kSumSteps,
    .decompose = decompose_sum,
    .kernel = run_sum,
    .gradient = gradient_sum,
};
constinit const OpDef defs::Mean = {
    .name = "Mean",
    .infer = infer_broadcast,
    .steps = kSteps,
    .decompose = decompose_mean,
    .kernel = run_mean,
    .gradient = gradient_mean,
};

}  // namespace ingot::ops
