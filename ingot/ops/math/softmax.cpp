// Softmax, LogSoftmax and Hardmax along one axis.
#include "ingot/ops/gradient.h"
#include "ingot/ops/infer.h"
#include "ingot/ops/math/flattened_axis.h"
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
    .gradient = gradient_zero,
};
constinit const OpDef defs::LogSoftmax = {
    .name = "LogSoftmax",
    .infer = infer,
    .steps = kSteps,
    .decompose = decompose_log_softmax,
    .gradient = gradient_log_softmax,
};
constinit const OpDef defs::Softmax = {
    .name = "Softmax",
    .infer = infer,
    .steps = kSteps,
    .decompose = decompose_softmax,
    .gradient = gradient_softmax,
};

}  // namespace ingot::ops
