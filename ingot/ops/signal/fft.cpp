// Fourier transforms: a length of small factors is divided by one after the other (Stockham); other lengths as a
// convolution with a chirp (Bluestein), which is done by transforms whose length is a power of two.
#include "ingot/ops/signal/fft.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <numbers>

namespace ingot::ops {
namespace {

using Complex = std::complex<double>;

constexpr std::size_t kLargestFactor = 7;

/// exp(-2 pi i part / whole).
Complex root(std::size_t part, std::size_t whole) {
  const double angle = -2 * std::numbers::pi * static_cast<double>(part) / static_cast<double>(whole);
  return {std::cos(angle), std::sin(angle)};
}

// Plain products: std::complex's look for infinities, which costs more than the product.
Complex times(Complex a, Complex b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}
Complex times_minus_i(Complex a) { return {a.imag(), -a.real()}; }

Array complexes(KernelContext& c, std::size_t size) {
  return scratch(c, DType::c128, {static_cast<std::int64_t>(size)});
}

/// Fours first; empty if a factor is large.
std::vector<std::size_t> factors_of(std::size_t n) {
  std::vector<std::size_t> factors;
  for (const std::size_t p : {std::size_t{4}, std::size_t{2}, std::size_t{3}, std::size_t{5}, kLargestFactor})
    for (; n % p == 0; n /= p) factors.push_back(p);
  if (n != 1) factors.clear();
  return factors;
}

/// One division by a factor: `count` transforms of length n that stand side by side become transforms of length
/// n / factor, of which there are `factor` times as many.
struct Division {
  std::size_t n, count;
  std::span<const Complex> roots;  // of n * count

  Complex turn(std::size_t i, std::size_t k) const { return roots[i * k * count]; }

  void by_two(const Complex* x, Complex* y) const {
    const std::size_t part = n / 2;
    for (std::size_t i = 0; i < part; ++i) {
      const Complex w = turn(i, 1);
      const Complex *a = x + i * count, *b = a + part * count;
      Complex* to = y + 2 * i * count;
      for (std::size_t q = 0; q < count; ++q) {
        to[q] = a[q] + b[q];
        to[q + count] = times(a[q] - b[q], w);
      }
    }
  }

  void by_four(const Complex* x, Complex* y) const {
    const std::size_t part = n / 4, step = part * count;
    for (std::size_t i = 0; i < part; ++i) {
      const Complex w1 = turn(i, 1), w2 = turn(i, 2), w3 = turn(i, 3);
      const Complex* from = x + i * count;
      Complex* to = y + 4 * i * count;
      for (std::size_t q = 0; q < count; ++q) {
        const Complex a = from[q], b = from[q + step], c = from[q + 2 * step], d = from[q + 3 * step];
        const Complex even = a + c, odd = b + d, difference = a - c, turned = times_minus_i(b - d);
        to[q] = even + odd;
        to[q + count] = times(difference + turned, w1);
        to[q + 2 * count] = times(even - odd, w2);
        to[q + 3 * count] = times(difference - turned, w3);
      }
    }
  }

  void by(std::size_t factor, const Complex* x, Complex* y) const {
    const std::size_t part = n / factor, step = part * count;
    std::array<Complex, kLargestFactor> unity, a;
    for (std::size_t k = 0; k < factor; ++k) unity[k] = roots[k * step];
    for (std::size_t i = 0; i < part; ++i)
      for (std::size_t q = 0; q < count; ++q) {
        for (std::size_t j = 0; j < factor; ++j) a[j] = x[i * count + q + j * step];
        for (std::size_t k = 0; k < factor; ++k) {
          Complex sum = a[0];
          for (std::size_t j = 1; j < factor; ++j) sum += times(a[j], unity[j * k % factor]);
          y[(factor * i + k) * count + q] = times(sum, turn(i, k));
        }
      }
  }
};

}  // namespace

Fft::Fft(KernelContext& c, std::int64_t length, bool inverse)
    : length_(static_cast<std::size_t>(length)), padded_(length_), inverse_(inverse) {
  constexpr std::int64_t kLongest = std::int64_t{1} << 48;
  if (length < 1 || length > kLongest) c.fail("a transform of length " + std::to_string(length));
  factors_ = factors_of(length_);
  const bool is_plain = length == 1 || !factors_.empty();
  if (!is_plain) {
    padded_ = std::bit_ceil(2 * length_ - 1);
    factors_ = factors_of(padded_);
  }
  roots_ = complexes(c, padded_);
  room_ = complexes(c, padded_);
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
  transform(spectrum);
}

void Fft::transform(std::span<Complex> x) {
  const std::span<Complex> room = room_.mutable_data<Complex>();
  Complex *from = x.data(), *to = room.data();
  Division division{x.size(), 1, roots_.data<Complex>()};
  for (const std::size_t factor : factors_) {
    if (factor == 4)
      division.by_four(from, to);
    else if (factor == 2)
      division.by_two(from, to);
    else
      division.by(factor, from, to);
    division.n /= factor;
    division.count *= factor;
    std::swap(from, to);
  }
  if (from != x.data()) std::ranges::copy(room, x.begin());
}

void Fft::operator()(std::span<Complex> x) {
  if (inverse_)  // the conjugate of the transform of the conjugate
    for (Complex& v : x) v = std::conj(v);
  if (padded_ == length_) {
    transform(x);
  } else {
    const auto chirp = chirp_.data<Complex>(), spectrum = spectrum_.data<Complex>();
    const auto work = work_.mutable_data<Complex>();
    std::fill(work.begin(), work.end(), Complex());
    for (std::size_t k = 0; k < length_; ++k) work[k] = times(x[k], chirp[k]);
    transform(work);
    for (std::size_t k = 0; k < padded_; ++k) work[k] = std::conj(times(work[k], spectrum[k]));
    transform(work);
    for (std::size_t k = 0; k < length_; ++k) x[k] = times(std::conj(work[k]), chirp[k]) / static_cast<double>(padded_);
  }
  if (inverse_)
    for (Complex& v : x) v = std::conj(v) / static_cast<double>(length_);
}

RealFft::RealFft(KernelContext& c, std::int64_t length)
    : is_halved_(length % 2 == 0), transform_(c, is_halved_ ? length / 2 : length, false) {
  if (!is_halved_) return;
  const auto half = static_cast<std::size_t>(length) / 2;
  roots_ = complexes(c, half);
  for (std::size_t k = 0; k < half; ++k) roots_.mutable_data<Complex>()[k] = root(k, 2 * half);
}

void RealFft::operator()(std::span<Complex> x) {
  if (!is_halved_) return transform_(x);
  const std::size_t half = x.size() / 2;
  for (std::size_t k = 0; k < half; ++k) x[k] = {x[2 * k].real(), x[2 * k + 1].real()};
  transform_(x.first(half));
  // Numbers at even and at odd places: what their spectra have in common with their conjugates tells them apart.
  const auto roots = roots_.data<Complex>();
  const Complex first = x[0];
  for (std::size_t k = 1; 2 * k <= half; ++k) {
    const Complex a = x[k], b = std::conj(x[half - k]);
    const Complex even = (a + b) * 0.5, odd = times(times_minus_i(a - b) * 0.5, roots[k]);
    x[k] = even + odd;
    x[half - k] = std::conj(even - odd);
  }
  x[0] = first.real() + first.imag();
  x[half] = first.real() - first.imag();
  for (std::size_t k = 1; k < half; ++k) x[2 * half - k] = std::conj(x[k]);
}

std::int64_t only_int(const KernelContext& c, std::size_t i, std::int64_t fallback) {
  if (!c.has(i)) return fallback;
  if (c.in(i).size() != 1) c.fail("input " + std::to_string(i) + " is not one number");
  return c.in(i).to_ints().front();
}

}  // namespace ingot::ops
