#pragma once
#include "ingot/ir/tensor.h"

namespace ingot::ops {

/// Transforms of more elements than this are not written out as matrices.
inline constexpr std::int64_t kMostFourierElements = std::int64_t{1} << 22;

/// cos and sin of -+2 pi n k / length as float64 [inputs, outputs].
struct FourierMatrices {
  Tensor cos, sin;
};

/// `inverse` turns the sign and divides by the length. `from_half`: the inputs are the first half of a spectrum
/// whose other half are their conjugates; only the real part of the result has a meaning then.
FourierMatrices fourier_matrices(std::int64_t inputs, std::int64_t outputs, std::int64_t length, bool inverse,
                                 bool from_half);

}  // namespace ingot::ops
