// AveragePool: the mean of each window.
#include "ingot/ops/catalog.h"
#include "ingot/ops/math/wider_type.h"
#include "ingot/ops/nn/pool.h"

namespace ingot::ops {
namespace {

constexpr Step kSteps[] = {{.since = 19, .down = drop_dilations}};

/// Sums by convolution, divided by how many elements were added.
Values decompose(DecomposeContext& c) {
  GraphBuilder& g = c.g;
  if (c.elem(0) == DType::bf16) return bfloat16_in_float(c);
  if (!c.in(0) || c.elem(0) == DType::undefined) return {};
  Value* sums = window_sums(c, c.in(0), c.elem(0));
  if (!sums) return {};
  const bool counts_padding = c.attr("count_include_pad", std::int64_t{0}) != 0;
  if (counts_padding && c.attr("ceil_mode", std::int64_t{0}) == 0) {
    const auto kernel = c.node.attributes.ints_or("kernel_shape", {});
    return {g.div(sums, g.scalar(static_cast<double>(tensor_size(kernel)), c.elem(0)))};
  }
  Value* ones = g.op("Expand", {g.scalar(1, c.elem(0)), g.shape(c.in(0))});
  Value* counts = window_sums(c, ones, c.elem(0), counts_padding);
  return counts ? Values{g.div(sums, counts)} : Values{};
}

void run(KernelContext& c) {
  const bool counts_padding = c.attr("count_include_pad", std::int64_t{0}) != 0;
  const Sliding s = Sliding::over(c, c.in(0).dims());
  pool_windows(c, s, [&](const double* plane, const Box& box) {
    double sum = 0;
    box.each([&](std::int64_t i) { sum += plane[i]; });
    return sum / static_cast<double>(counts_padding ? box.with_padding : box.size);
  });
}

}  // namespace

constinit const OpDef defs::AveragePool = {
    .name = "AveragePool",
    .infer = infer_pool,
    .steps = kSteps,
    .decompose = decompose,
    .kernel = run,
};

}  // namespace ingot::ops
