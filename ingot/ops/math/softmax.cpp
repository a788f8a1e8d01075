// Softmax, LogSoftmax and Hardmax along one axis.
#include <algorithm>
#include <cmath>

#include "ingot/ops/compute.h"
#include "ingot/ops/gradient.h"
#include "ingot/ops/infer.h"
#include "ingot/ops/math/flattened_axis.h"
#include "ingot/ops/math/lanes.h"
#include "ingot/ops/math/nonnegative_axis.h"

namespace ingot::ops {
namespace {

// Until 12, the axis split the input into a matrix and the softmax ran over all of its second half.
constexpr Step kSteps[] = {
    {.since = 11, .down = down_to_nonnegative_axis},
    {.since = 13, .up = up_from_flattened_axis, .down = down_to_flattened_axis},
};

void infer(InferContext& c) {
  if (const auto rank = c.rank(0)) c.axis(c.attr("axis", std::int64_t{-1}), *rank);
  c.out_shape_like(0, 0);
}

struct Exponents {
  Value *shifted, *exps, *sum;
};

/// x minus its largest number, so that no exponent overflows.
Exponents exponents(DecomposeContext& c) {
  const std::int64_t axis = c.attr("axis", std::int64_t{-1});
  Value* shifted = c.g.sub(c.in(0), c.g.op("ReduceMax", {c.in(0), c.g.ints({axis})}));
  Value* exps = c.g.op("Exp", {shifted});
  return {shifted, exps, c.g.reduce_sum(exps, {axis})};
}

Values decompose_softmax(DecomposeContext& c) {
  const Exponents e = exponents(c);
  return {c.g.div(e.exps, e.sum)};
}

Values decompose_log_softmax(DecomposeContext& c) {
  const Exponents e = exponents(c);
  return {c.g.sub(e.shifted, c.g.op("Log", {e.sum}))};
}

// One at the first of the largest numbers.
Values decompose_hardmax(DecomposeContext& c) {
  const DType elem = c.elem(0);
  if (elem == DType::undefined) return {};
  const std::int64_t axis = c.attr("axis", std::int64_t{-1});
  Value* place = c.g.op("ArgMax", {c.in(0)}, {{"axis", axis}, {"keepdims", 0}});
  Value* depth = c.g.op("Gather", {c.g.shape(c.in(0)), c.g.ints({axis})});
  Value* marks = c.g.cast(c.g.constant(Tensor::of<float>({2}, {0.0f, 1.0f})), elem);
  return {c.g.op("OneHot", {place, depth, marks}, {{"axis", axis}})};
}

enum class Kind { softmax, log_softmax, hardmax };

/// One lane, in double.
template <Kind kind> void transform_lane(std::span<double> lane) {
  const auto highest =
      std::ranges::max_element(lane, [](double a, double b) { return !std::isnan(a) && (std::isnan(b) || a < b); });
  const double shift = *highest;
  if constexpr (kind == Kind::hardmax) {
    const auto place = highest - lane.begin();
    std::ranges::fill(lane, 0);
    lane[static_cast<std::size_t>(place)] = 1;
    return;
  }
  double sum = 0;
  for (const double x : lane) sum += std::exp(x - shift);
  for (double& x : lane) {
    if constexpr (kind == Kind::softmax)
      x = std::exp(x - shift) / sum;
    else
      x = x - shift - std::log(sum);
  }
}

template <Kind kind> void run(KernelContext& c) {
  const Array x = computable(c, 0);
  const Lanes lanes = lanes_along(x, c.axis(c.attr("axis", std::int64_t{-1}), x.rank()));
  Array y = scratch(c, x.dtype(), x.dims());
  Array room = scratch(c, DType::f64, {lanes.size});
  const auto lane = room.mutable_data<double>();
  dispatch(x.dtype(), ComputeFloats{}, [&]<class T>() {
    const T* in = x.data<T>().data();
    T* out = y.mutable_data<T>().data();
    for_each_lane(lanes, c.host().budget(), [&](std::int64_t first) {
      for (std::int64_t i = 0; i < lanes.size; ++i)
        lane[static_cast<std::size_t>(i)] = static_cast<double>(in[first + i * lanes.inner]);
      transform_lane<kind>(lane);
      for (std::int64_t i = 0; i < lanes.size; ++i)
        out[first + i * lanes.inner] = static_cast<T>(lane[static_cast<std::size_t>(i)]);
    });
  });
  put(c, 0, y, c.in(0).dtype());
}

Values gradient_softmax(GradContext& c) {
  Value* weighted = c.g.mul(c.dy(), c.y());
  Value* mean = c.g.reduce_sum(weighted, {c.attr("axis", std::int64_t{-1})});
  return {c.g.sub(weighted, c.g.mul(c.y(), mean))};
}

Values gradient_log_softmax(GradContext& c) {
  Value* sum = c.g.reduce_sum(c.dy(), {c.attr("axis", std::int64_t{-1})});
  return {c.g.sub(c.dy(), c.g.mul(c.g.op("Exp", {c.y()}), sum))};
}

}  // namespace

constinit const OpDef defs::Hardmax = {
    .name = "Hardmax",
    .infer = infer,
    .steps = kSteps,
    .decompose = decompose_hardmax,
    .kernel = run<Kind::hardmax>,
    .gradient = gradient_zero,
};
constinit const OpDef defs::LogSoftmax = {
    .name = "LogSoftmax",
    .infer = infer,
    .steps = kSteps,
    .decompose = decompose_log_softmax,
    .kernel = run<Kind::log_softmax>,
    .gradient = gradient_log_softmax,
};
constinit const OpDef defs::Softmax = {
    .name = "Softmax",
    .infer = infer,
    .steps = kSteps,
    .decompose = decompose_softmax,
    .kernel = run<Kind::softmax>,
    .gradient = gradient_softmax,
};

}  // namespace ingot::ops
