// LpNormalization: divides by the L1 or L2 norm along one axis.
#include <cmath>

#include "ingot/ops/catalog.h"
#include "ingot/ops/gradient.h"
#include "ingot/ops/infer.h"
#include "ingot/ops/math/wider_type.h"
#include "ingot/ops/nn/moments.h"

namespace ingot::ops {
namespace {

void infer(InferContext& c) {
  const std::int64_t p = c.attr("p", std::int64_t{2});
  c.require(p == 1 || p == 2, "attribute 'p' must be 1 or 2");
  if (const auto rank = c.rank(0)) c.axis(c.attr("axis", std::int64_t{-1}), *rank);
  c.out_shape_like(0, 0);
}

void run(KernelContext& c) {
  const std::int64_t p = c.attr("p", std::int64_t{2});
  if (p != 1 && p != 2) c.fail("attribute 'p' must be 1 or 2");
  const Array x = converted(c.in(0), DType::f64, c.host());
  Dims dims = x.dims();
  dims[static_cast<std::size_t>(c.axis(c.attr("axis", std::int64_t{-1}), x.rank()))] = 1;
  const Array sums = sum_over(c, x, dims, [&](double v, std::int64_t) { return p == 1 ? std::abs(v) : v * v; });
  // Where all elements are 0, so are the results.
  const auto divide = [&](double v, const auto& sum) {
    return sum[0] == 0 ? 0 : v / (p == 1 ? sum[0] : std::sqrt(sum[0]));
  };
  put(c, 0, map_with(c, x, divide, sums), c.in(0).dtype());
}

Values gradient_lp_normalization(GradContext& c) {
  GraphBuilder& g = c.g;
  const bool is_l1 = c.attr("p", std::int64_t{2}) == 1;
  Value* axes = g.ints({c.attr("axis", std::int64_t{-1})});
  Value* norm = is_l1 ? g.op("ReduceL1", {c.x(), axes}) : g.op("ReduceL2", {c.x(), axes});
  Value* is_zero = c.equal(norm, c.number(0));
  Value* along = g.op("ReduceSum", {g.mul(c.dy(), c.y()), axes});
  Value* direction = is_l1 ? g.op("Sign", {c.x()}) : c.y();
  Value* across = g.sub(c.dy(), g.mul(direction, along));
  Value* dx = g.div(across, norm);
  return {g.where(is_zero, c.number(0), dx)};
}

Values decompose(DecomposeContext& c) {
  if (Values wider = halves_in_float(c); !wider.empty()) return wider;
  GraphBuilder& g = c.g;
  const std::int64_t p = c.attr("p", std::int64_t{2});
  if (c.elem(0) == DType::undefined || (p != 1 && p != 2)) return {};
  Value* axes = g.ints({c.attr("axis", std::int64_t{-1})});
  Value* norm = p == 1 ? g.op("ReduceL1", {c.in(0), axes}) : g.op("ReduceL2", {c.in(0), axes});
  Value* zero = g.scalar(0, c.elem(0));
  Value* is_zero = g.op("Equal", {norm, zero});
  Value* quotient = g.div(c.in(0), norm);
  return {g.where(is_zero, zero, quotient)};
}

}  // namespace

constinit const OpDef defs::LpNormalization = {
    .name = "LpNormalization",
    .infer = infer,
    .decompose = decompose,
    .kernel = run,
    .gradient = gradient_lp_normalization,
};

}  // namespace ingot::ops
