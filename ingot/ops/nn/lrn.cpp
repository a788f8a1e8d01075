// LRN: local response normalization across neighbouring channels.
#include <algorithm>
#include <cmath>

#include "ingot/ops/catalog.h"
#include "ingot/ops/compute.h"
#include "ingot/ops/infer.h"
#include "ingot/ops/math/wider_type.h"
#include "ingot/ops/pace.h"

namespace ingot::ops {
namespace {

void infer(InferContext& c) {
  c.require(c.need_int("size").value_or(1) >= 1, "attribute 'size' must be positive");
  if (const auto rank = c.rank(0)) c.require(*rank >= 2, "the input has no channels");
  c.out_shape_like(0, 0);
}

void run(KernelContext& c) {
  const std::int64_t size = c.attr("size", std::int64_t{0});
  if (size < 1) c.fail("attribute 'size' must be positive");
  const double alpha = c.attr("alpha", 1e-4f), beta = c.attr("beta", 0.75f), bias = c.attr("bias", 1.0f);
  const Array x = converted(c.in(0), DType::f64, c.host());
  if (x.rank() < 2) c.fail("the input has no channels");
  Array y = scratch(c, DType::f64, x.dims());
  if (x.size() == 0) return put(c, 0, y, c.in(0).dtype());
  const std::int64_t batch = x.dims()[0], channels = x.dims()[1], plane = x.size() / (batch * channels);
  const std::int64_t before = (size - 1) / 2, after = size - 1 - before;
  const double* in = x.data<double>().data();
  double* out = y.mutable_data<double>().data();
  Pace pace(c.host().budget());
  for (std::int64_t k = 0; k < batch * channels; ++k) {
    const std::int64_t channel = k % channels;
    const std::int64_t first = k - std::min(before, channel), last = k + std::min(after, channels - 1 - channel);
    double* to = out + k * plane;
    for (std::int64_t j = first; j <= last; ++j) {
      for (std::int64_t i = 0; i < plane; ++i) to[i] += in[j * plane + i] * in[j * plane + i];
      pace.step(plane);
    }
    for (std::int64_t i = 0; i < plane; ++i)
      to[i] = in[k * plane + i] / std::pow(bias + alpha / static_cast<double>(size) * to[i], beta);
  }
  put(c, 0, y, c.in(0).dtype());
}

}  // namespace

constinit const OpDef defs::LRN = {
    .name = "LRN",
    .infer = infer,
    .decompose = bfloat16_in_float,
    .kernel = run,
};

}  // namespace ingot::ops
