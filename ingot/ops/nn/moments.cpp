// Statistics and parameters that the kernels of normalisations share.
#include "ingot/ops/nn/moments.h"

#include <algorithm>
#include <cmath>

namespace ingot::ops {

Moments moments_over(KernelContext& c, const Array& x, const Dims& dims) {
  Moments m;
  m.mean = mean_over(c, x, dims, [](double v, std::int64_t) { return v; });
  const double* mean = m.mean.data<double>().data();
  m.variance = mean_over(c, x, dims, [&](double v, std::int64_t i) { return (v - mean[i]) * (v - mean[i]); });
  return m;
}

Array normalised(KernelContext& c, const Array& x, const Moments& moments, double epsilon) {
  const auto normal = [&](double v, const auto& m) { return (v - m[0]) / std::sqrt(m[1] + epsilon); };
  return map_with(c, x, normal, moments.mean, moments.variance);
}

Array scaled(KernelContext& c, const Array& x, const Array& scale, const Array& bias) {
  return map_with(
      c, x, [](double v, const auto& p) { return v * p[0] + p[1]; }, scale, bias);
}

Array channel_parameter(KernelContext& c, std::size_t i, std::int64_t channels, std::int64_t rank) {
  const Array& parameter = c.in(i);
  if (parameter.dims() != Dims{channels})
    c.fail("input " + std::to_string(i) + " does not have one element for each of " + std::to_string(channels) +
           " channels");
  Dims dims(static_cast<std::size_t>(std::max<std::int64_t>(rank - 1, 1)), 1);
  dims.front() = channels;
  return converted(parameter, DType::f64, c.host()).reshaped(std::move(dims));
}

Dims ones_from(Dims dims, std::int64_t axis) {
  std::fill(dims.begin() + axis, dims.end(), 1);
  return dims;
}

}  // namespace ingot::ops
