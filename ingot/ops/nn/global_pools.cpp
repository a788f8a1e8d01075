// GlobalAveragePool, GlobalMaxPool, GlobalLpPool: one window that covers all spatial axes.
#include <cmath>
#include <limits>
#include <numeric>

#include "ingot/ops/catalog.h"
#include "ingot/ops/gradient.h"
#include "ingot/ops/math/wider_type.h"
#include "ingot/ops/nn/pool.h"

namespace ingot::ops {
namespace {

constexpr Step kLpSteps[] = {{.since = 2, .up = norm_order_to_int, .down = norm_order_to_float}};

/// Output 0 is value(elements of one plane), in double.
template <class F> void pool_planes(KernelContext& c, F value) {
  const Array x = converted(c.in(0), DType::f64, c.host());
  if (x.rank() < 2) c.fail("the input has no channels");
  Array y = scratch(c, DType::f64, pooled_dims(x.dims(), Dims(x.dims().size() - 2, 1)));
  const std::span<const double> in = x.data<double>();
  const std::span<double> out = y.mutable_data<double>();
  for (std::size_t i = 0; i < out.size(); ++i) {
    const std::size_t size = in.size() / out.size();
    out[i] = value(in.subspan(i * size, size));
    c.host().budget().poll();
  }
  put(c, 0, y, c.in(0).dtype());
}

void run_average(KernelContext& c) {
  pool_planes(c, [](std::span<const double> plane) {
    return std::accumulate(plane.begin(), plane.end(), 0.0) / static_cast<double>(plane.size());
  });
}

void run_lp(KernelContext& c) {
  const auto p = static_cast<double>(c.attr("p", std::int64_t{2}));
  if (!(p >= 1)) c.fail("attribute 'p' is less than 1");
  pool_planes(c, [p](std::span<const double> plane) {
    double sum = 0;
    for (const double v : plane) sum += std::pow(std::abs(v), p);
    return std::pow(sum, 1 / p);
  });
}

void run_max(KernelContext& c) {
  pool_planes(c, [](std::span<const double> plane) {
    double best = -std::numeric_limits<double>::infinity();
    for (const double v : plane) best = v > best || v != v ? v : best;
    return best;
  });
}

Values gradient_average(GradContext& c) {
  return {c.stretched(c.g.div(c.dy(), c.ratio_of_sizes(c.x(), c.y())), c.x())};
}

// Of equal elements the first counts.
Values gradient_max(GradContext& c) {
  GraphBuilder& g = c.g;
  Value* rows = g.reshape(c.x(), {0, 0, -1});
  Value* place = g.op("ArgMax", {rows}, {{"axis", 2}, {"keepdims", 1}});
  Value* zeros = c.zeros(rows);
  Value* arriving = g.reshape(c.dy(), {0, 0, 1});
  return {c.shaped(g.op("ScatterElements", {zeros, place, arriving}, {{"axis", 2}}), c.x())};
}

// x |x|^(p-2) / y^(p-1); zero where all is zero.
Values gradient_lp(GradContext& c) {
  GraphBuilder& g = c.g;
  const auto p = static_cast<double>(c.attr("p", std::int64_t{2}));
  Value *sign = g.op("Sign", {c.x()}), *size = g.op("Abs", {c.x()});
  if (p == 1) return {g.mul(sign, c.dy())};
  Value* is_zero = c.equal(c.y(), c.number(0));
  Value* norm = g.where(is_zero, c.number(1), c.y());
  Value* share = g.div(size, norm);
  if (p != 2) share = g.op("Pow", {share, c.number(p - 1)});
  return {g.mul(g.mul(sign, share), c.dy())};
}

}  // namespace

constinit const OpDef defs::GlobalAveragePool = {
    .name = "GlobalAveragePool",
    .infer = infer_global_pool,
    .decompose = bfloat16_in_float,
    .kernel = run_average,
    .gradient = gradient_average,
};
constinit const OpDef defs::GlobalLpPool = {
    .name = "GlobalLpPool",
    .infer = infer_global_pool,
    .steps = kLpSteps,
    .decompose = bfloat16_in_float,
    .kernel = run_lp,
    .gradient = gradient_lp,
};
constinit const OpDef defs::GlobalMaxPool = {
    .name = "GlobalMaxPool",
    .infer = infer_global_pool,
    .decompose = bfloat16_in_float,
    .kernel = run_max,
    .gradient = gradient_max,
};

}  // namespace ingot::ops
