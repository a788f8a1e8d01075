// The matrices of the discrete Fourier transform.
#include "ingot/ops/signal/fourier.h"

#include <cmath>
#include <numbers>

namespace ingot::ops {

FourierMatrices fourier_matrices(std::int64_t inputs, std::int64_t outputs, std::int64_t length, bool inverse,
                                 bool from_half) {
  const auto count = static_cast<std::size_t>(inputs * outputs);
  std::vector<double> cos(count), sin(count);
  const double sign = inverse ? 1 : -1, scale = inverse ? 1 / static_cast<double>(length) : 1;
  for (std::int64_t n = 0; n < inputs; ++n) {
    // Index 0 and, for an even length, the middle are their own conjugates.
    const bool is_paired = from_half && n != 0 && 2 * n != length;
    const double weight = scale * (is_paired ? 2 : 1);
    for (std::int64_t k = 0; k < outputs; ++k) {
      // Reduced first: the angle stays small, so that its cosine is exact to the last digit.
      const auto step = static_cast<double>(n * k % length);
      const double angle = sign * 2 * std::numbers::pi * step / static_cast<double>(length);
      const auto at = static_cast<std::size_t>(n * outputs + k);
      cos[at] = weight * std::cos(angle);
      sin[at] = weight * std::sin(angle);
    }
  }
  return {Tensor::of<double>({inputs, outputs}, cos), Tensor::of<double>({inputs, outputs}, sin)};
}

}  // namespace ingot::ops
