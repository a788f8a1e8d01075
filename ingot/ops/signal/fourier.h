#pragma once
#include "ingot/ops/builder.h"

namespace ingot::ops {

/// cos and sin of -+2 pi n k / length, as matrices [inputs, outputs].
struct FourierMatrices {
  Tensor cos, sin;
};

/// `inverse` turns the sign and divides by the length. `from_half`: the inputs are the first half of a spectrum
/// whose other half are their conjugates; only the real part of the result has a meaning then.
FourierMatrices fourier_matrices(std::int64_t inputs, std::int64_t outputs, std::int64_t length, bool inverse,
                                 bool from_half);

struct FourierFactors {
  Value *cos, *sin;
};

/// The same as operands of type `elem`, float or double: constants where the sizes, vectors of one element, are
/// constant and the matrices are small; else computed while running.
FourierFactors fourier_factors(GraphBuilder& g, Value* inputs, Value* outputs, Value* length, bool inverse,
                               bool from_half, DType elem);

}  // namespace ingot::ops
