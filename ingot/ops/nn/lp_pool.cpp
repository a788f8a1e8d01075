// LpPool: the Lp norm of each window.
#include <cmath>

#include "ingot/ops/catalog.h"
#include "ingot/ops/math/wider_type.h"
#include "ingot/ops/nn/pool.h"

namespace ingot::ops {
namespace {

constexpr Step kSteps[] = {{
                               .since = 2,
                               .up =
                                   [](StepContext& c) {
                                     if (!c.node.attributes.has("kernel_shape"))
                                       c.cannot("kernel_shape is missing, which version 1 allowed without a meaning");
                                     norm_order_to_int(c);
                                   },
                               .down = norm_order_to_float,
                           },
                           {.since = 18, .down = drop_dilations}};

/// (sum of |x|^p)^(1/p), with sums by convolution.
Values decompose(DecomposeContext& c) {
  GraphBuilder& g = c.g;
  const std::int64_t p = c.attr("p", std::int64_t{2});
  if (c.elem(0) == DType::bf16) return bfloat16_in_float(c);
  if (!c.in(0) || c.elem(0) == DType::undefined || p < 1) return {};
  Value* size = g.op("Abs", {c.in(0)});
  if (p == 1) {
    Value* sums = window_sums(c, size, c.elem(0));
    return sums ? Values{sums} : Values{};
  }
  Value* sums = window_sums(c, g.op("Pow", {size, g.scalar(static_cast<double>(p), c.elem(0))}), c.elem(0));
  if (!sums) return {};
  return {p == 2 ? g.op("Sqrt", {sums}) : g.op("Pow", {sums, g.scalar(1 / static_cast<double>(p), c.elem(0))})};
}

void run(KernelContext& c) {
  const auto p = static_cast<double>(c.attr("p", std::int64_t{2}));
  if (!(p >= 1)) c.fail("attribute 'p' is less than 1");
  const Sliding s = Sliding::over(c, c.in(0).dims());
  pool_windows(c, s, [&](const double* plane, const Box& box) {
    double sum = 0;
    box.each([&](std::int64_t i) { sum += std::pow(std::abs(plane[i]), p); });
    return std::pow(sum, 1 / p);
  });
}

}  // namespace

constinit const OpDef defs::LpPool = {
    .name = "LpPool",
    .infer = infer_pool,
    .steps = kSteps,
    .decompose = decompose,
    .kernel = run,
};

}  // namespace ingot::ops
