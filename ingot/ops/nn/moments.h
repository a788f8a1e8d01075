#pragma once
#include <array>

#include "ingot/ops/walk.h"

// Sums over axes and maps with broadcast operands, in double: what the kernels of normalisations are written in.

namespace ingot::ops {

/// The sum of term(element, i) over the axes along which `dims` is 1 (x has the same rank); i is where it goes.
template <class F> Array sum_over(KernelContext& c, const Array& x, Dims dims, F term) {
  Array sums = scratch(c, DType::f64, std::move(dims));
  const Walk walk = broadcast(x.dims(), {&x.dims(), &sums.dims()});
  const double* in = x.data<double>().data();
  double* out = sums.mutable_data<double>().data();
  const std::int64_t step = walk.strides[0].back(), sum_step = walk.strides[1].back();
  for_each_row(walk, c.host().budget(), [&](const std::int64_t* at, std::int64_t n) {
    for (std::int64_t i = 0; i < n; ++i) {
      const std::int64_t to = at[1] + i * sum_step;
      out[to] += term(in[at[0] + i * step], to);
    }
  });
  return sums;
}

/// As sum_over, divided by the number of terms.
template <class F> Array mean_over(KernelContext& c, const Array& x, Dims dims, F term) {
  Array means = sum_over(c, x, std::move(dims), term);
  for (double& mean : means.mutable_data<double>()) mean /= static_cast<double>(x.size() / means.size());
  return means;
}

struct Moments {
  Array mean, variance;
};
Moments moments_over(KernelContext& c, const Array& x, const Dims& dims);

/// f(element, others), the other arrays being broadcast to x; others[k] is the element of the k-th.
template <class F, class... Others> Array map_with(KernelContext& c, const Array& x, F f, const Others&... others) {
  if (broadcast_dims(c, {&x.dims(), &others.dims()...}) != x.dims()) c.fail("a parameter is larger than the input");
  Array y = scratch(c, DType::f64, x.dims());
  const Walk walk = broadcast(x.dims(), {&x.dims(), &others.dims()...});
  const double* in = x.data<double>().data();
  const std::array<const double*, sizeof...(Others)> sources = {others.template data<double>().data()...};
  std::array<double, sizeof...(Others)> values;
  double* out = y.mutable_data<double>().data();
  for_each_row(walk, c.host().budget(), [&](const std::int64_t* at, std::int64_t n) {
    for (std::int64_t i = 0; i < n; ++i) {
      for (std::size_t k = 0; k < values.size(); ++k)
        values[k] = sources[k][at[k + 1] + i * walk.strides[k + 1].back()];
      *out++ = f(in[at[0] + i * walk.strides[0].back()], values);
    }
  });
  return y;
}

/// (x - mean) / sqrt(variance + epsilon).
Array normalised(KernelContext& c, const Array& x, const Moments& moments, double epsilon);
/// x * scale + bias.
Array scaled(KernelContext& c, const Array& x, const Array& scale, const Array& bias);
/// Input i, which must have one element per channel, in double and as [channels, 1, ...]: it fits arrays
/// [N, channels, ...] of the given rank.
Array channel_parameter(KernelContext& c, std::size_t i, std::int64_t channels, std::int64_t rank);
/// The dimensions with 1 in place of those from an axis on.
Dims ones_from(Dims dims, std::int64_t axis);

}  // namespace ingot::ops
