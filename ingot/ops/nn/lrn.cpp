// LRN: local response normalization across neighbouring channels.
#include <algorithm>
#include <cmath>

#include "ingot/ops/catalog.h"
#include "ingot/ops/compute.h"
#include "ingot/ops/gradient.h"
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

/// The sum over `before` channels below each to `after` above it.
Value* sum_of_neighbours(GradContext& c, Value* x, std::int64_t before, std::int64_t after) {
  GraphBuilder& g = c.g;
  const std::int64_t size = before + after + 1;
  Value* plane = g.unsqueeze(g.reshape(x, {0, 0, -1}), {1});
  const std::vector<float> taps(static_cast<std::size_t>(size), 1.0f);
  Value* ones = g.cast(g.constant(Tensor::of<float>({1, 1, size, 1}, taps)), c.elem());
  Value* sums = g.op("Conv", {plane, ones}, {{"pads", {before, 0, after, 0}}});
  return c.shaped(sums, c.x());
}

Values gradient_lrn(GradContext& c) {
  GraphBuilder& g = c.g;
  const std::int64_t size = c.attr("size", std::int64_t{1});
  if (size < 1) c.fail("attribute 'size' must be positive");
  // Beyond the channels there are no neighbours: a window of any size is at most so long.
  constexpr std::int64_t kMostUnknown = 1 << 16;
  const auto& shape = c.x()->type.shape;
  const bool is_known = shape && shape->size() > 1 && (*shape)[1].is_known();
  const std::int64_t farthest = is_known ? std::max<std::int64_t>((*shape)[1].value() - 1, 0) : kMostUnknown;
  const std::int64_t wanted = (size - 1) / 2, before = std::min(wanted, farthest),
                     after = std::min(size - 1 - wanted, farthest);
  if (!is_known && size - 1 - wanted > farthest)
    c.fail("a window of " + std::to_string(size) + " channels needs the number of channels to be known");
  const double alpha = c.attr("alpha", 0.0001f), beta = c.attr("beta", 0.75f), bias = c.attr("bias", 1.0f);
  const double each = alpha / static_cast<double>(size);
  Value* squares = sum_of_neighbours(c, g.mul(c.x(), c.x()), before, after);
  Value* base = g.add(g.mul(squares, each), bias);
  Value* own = g.div(c.dy(), g.op("Pow", {base, c.number(beta)}));
  // A channel is a neighbour of those whose neighbour it is, seen from the other side.
  Value* arriving = g.div(g.mul(c.dy(), c.y()), base);
  Value* shared = sum_of_neighbours(c, arriving, after, before);
  return {g.sub(own, g.mul(g.mul(c.x(), shared), 2 * each * beta))};
}

}  // namespace

constinit const OpDef defs::LRN = {
    .name = "LRN",
    .infer = infer,
    .decompose = bfloat16_in_float,
    .kernel = run,
    .gradient = gradient_lrn,
};

}  // namespace ingot::ops
