// Fourier transforms: halving for powers of two; other lengths as a convolution with a chirp (Bluestein), which is
// done by transforms whose length is a power of two.
#include "ingot/ops/signal/fft.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numbers>

namespace ingot::ops {
namespace {

using Complex = std::complex<double>;

/// exp(-2 pi i part / whole).
Complex root(std::size_t part, std::size_t whole) {
  const double angle = -2 * std::numbers::pi * static_cast<double>(part) / static_cast<double>(whole);
  return {std::cos(angle), std::sin(angle)};
}

// Plain products: std::complex's look for infinities, which costs more than the product.
Complex times(Complex a, Complex b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

Array complexes(KernelContext& c, std::size_t size) {
  return scratch(c, DType::c128, {static_cast<std::int64_t>(size)});
}

}  // namespace

Fft::Fft(KernelContext& c, std::int64_t length, bool inverse)
    : length_(static_cast<std::size_t>(length)), padded_(length_), inverse_(inverse) {
  constexpr std::int64_t kLongest = std::int64_t{1} << 48;
  if (length < 1 || length > kLongest) c.fail("a transform of length " + std::to_string(length));
  const bool is_plain = std::has_single_bit(length_);
  if (!is_plain) padded_ = std::bit_ceil(2 * length_ - 1);
  roots_ = complexes(c, padded_ / 2);
  const auto roots = roots_.mutable_data<Complex>();
  for (std::size_t k = 0; k < roots.size(); ++k) roots[k] = root(k, padded_);
  if (is_plain) return;
  chirp_ = complexes(c, length_);
  spectrum_ = complexes(c, padded_);
  work_ = complexes(c, padded_);
  const auto chirp = chirp_.mutable_data<Complex>(), spectrum = spectrum_.mutable_data<Complex>();
  std::size_t square = 0;  // k * k mod 2 * length
  for (std::size_t k = 0; k < length_; ++k) {
    chirp[k] = root(square, 2 * length_);
    spectrum[k] = std::conj(chirp[k]);
    if (k > 0) spectrum[padded_ - k] = spectrum[k];
    square = (square + 2 * k + 1) % (2 * length_);
  }
  radix2(spectrum, false);
}

void Fft::radix2(std::span<Complex> x, bool conjugate) const {
  const std::size_t n = x.size();
  for (std::size_t i = 1, j = 0; i < n; ++i) {
    std::size_t bit = n / 2;
    for (; j & bit; bit /= 2) j ^= bit;
    j ^= bit;
    if (i < j) std::swap(x[i], x[j]);
  }
  const auto roots = roots_.data<Complex>();
  for (std::size_t half = 1; half < n; half *= 2)
    for (std::size_t first = 0; first < n; first += 2 * half)
      for (std::size_t k = 0; k < half; ++k) {
        const Complex r = roots[k * (n / (2 * half))];
        const Complex odd = times(x[first + half + k], conjugate ? std::conj(r) : r);
        x[first + half + k] = x[first + k] - odd;
        x[first + k] += odd;
      }
}

void Fft::operator()(std::span<Complex> x) {
  if (inverse_)  // the conjugate of the transform of the conjugate
    for (Complex& v : x) v = std::conj(v);
  if (padded_ == length_) {
    radix2(x, false);
  } else {
    const auto chirp = chirp_.data<Complex>(), spectrum = spectrum_.data<Complex>();
    const auto work = work_.mutable_data<Complex>();
    std::fill(work.begin(), work.end(), Complex());
    for (std::size_t k = 0; k < length_; ++k) work[k] = times(x[k], chirp[k]);
    radix2(work, false);
    for (std::size_t k = 0; k < padded_; ++k) work[k] = times(work[k], spectrum[k]);
    radix2(work, true);
    for (std::size_t k = 0; k < length_; ++k) x[k] = times(work[k], chirp[k]) / static_cast<double>(padded_);
  }
  if (inverse_)
    for (Complex& v : x) v = std::conj(v) / static_cast<double>(length_);
}

std::int64_t only_int(const KernelContext& c, std::size_t i, std::int64_t fallback) {
  if (!c.has(i)) return fallback;
  if (c.in(i).size() != 1) c.fail("input " + std::to_string(i) + " is not one number");
  return c.in(i).to_ints().front();
}

}  // namespace ingot::ops
