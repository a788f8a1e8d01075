// The matrices of the discrete Fourier transform.
#include "ingot/ops/signal/fourier.h"

#include <cmath>
#include <numbers>

#include "ingot/ops/infer.h"

namespace ingot::ops {
namespace {

constexpr std::int64_t kMostElements = std::int64_t{1} << 20;

std::optional<std::int64_t> constant_size(const Value* value) {
  const Tensor* t = constant_of(value);
  return t && t->size() == 1 ? std::optional(t->to_ints().front()) : std::nullopt;
}

}  // namespace

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

FourierFactors fourier_factors(GraphBuilder& g, Value* inputs, Value* outputs, Value* length, bool inverse,
                               bool from_half, DType elem) {
  const auto rows = constant_size(inputs), columns = constant_size(outputs), whole = constant_size(length);
  if (rows && columns && whole && *rows > 0 && *columns > 0 && *whole > 0 && *rows <= kMostElements / *columns) {
    const FourierMatrices m = fourier_matrices(*rows, *columns, *whole, inverse, from_half);
    const auto stored = [&](const Tensor& t) {
      if (elem == DType::f64) return g.constant(t);
      const auto wide = t.to_vector<double>();
      return g.constant(Tensor::of<float>(t.dims(), std::vector<float>(wide.begin(), wide.end())));
    };
    return {stored(m.cos), stored(m.sin)};
  }
  Value *zero = g.index(0), *one = g.index(1);
  const auto counted = [&](Value* end) { return g.op("Range", {zero, g.squeeze(end, {0}), one}); };
  Value* n = g.unsqueeze(counted(inputs), {1});
  Value* step = g.op("Mod", {g.mul(n, counted(outputs)), length});
  Value* size = g.cast(length, elem);
  Value* circle = g.scalar((inverse ? 2 : -2) * std::numbers::pi, elem);
  Value* angle = g.div(g.mul(g.cast(step, elem), circle), size);
  FourierFactors f = {g.op("Cos", {angle}), g.op("Sin", {angle})};
  if (!inverse) return f;
  Value* weight = g.op("Reciprocal", {size});
  if (from_half) {
    Value* own = g.op("Or", {g.op("Equal", {n, zero}), g.op("Equal", {g.add(n, n), length})});
    weight = g.mul(weight, g.where(own, g.scalar(1, elem), g.scalar(2, elem)));
  }
  return {g.mul(f.cos, weight), g.mul(f.sin, weight)};
}

}  // namespace ingot::ops
