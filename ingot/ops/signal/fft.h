#pragma once
#include <complex>
#include <memory>
#include <vector>

#include "ingot/ops/compute.h"

namespace ingot::ops {

/// Fourier transforms of one length in double, in n log n steps for any length.
class Fft {
 public:
  Fft(KernelContext& c, std::int64_t length, bool inverse);

  /// In place; the inverse divides by the length.
  void operator()(std::span<std::complex<double>> x);

 private:
  void transform(std::span<std::complex<double>> x);

  std::size_t length_, padded_;       // padded_: a length of small factors, length_ itself if it is one
  std::vector<std::size_t> factors_;  // of padded_
  bool inverse_;
  Array roots_;                    // exp(-2 pi i k / padded_)
  Array room_;                     // as large as what is transformed
  Array chirp_, spectrum_, work_;  // for other lengths
};

/// The spectrum of real numbers: where their number is even, the transform of half as many complex ones.
class RealFft {
 public:
  RealFft(KernelContext& c, std::int64_t length);

  /// `x` holds the real numbers in its real parts; it becomes their whole spectrum.
  void operator()(std::span<std::complex<double>> x);

 private:
  bool is_halved_;
  Fft transform_;
  Array roots_;  // exp(-2 pi i k / length) for the first half
};

/// Input i, one number, or what stands for it where it is absent.
std::int64_t only_int(const KernelContext& c, std::size_t i, std::int64_t fallback);

}  // namespace ingot::ops
