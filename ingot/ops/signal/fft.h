#pragma once
#include <complex>

#include "ingot/ops/compute.h"

namespace ingot::ops {

/// Fourier transforms of one length in double, in n log n steps for any length.
class Fft {
 public:
  Fft(KernelContext& c, std::int64_t length, bool inverse);

  /// In place; the inverse divides by the length.
  void operator()(std::span<std::complex<double>> x);

 private:
  void radix2(std::span<std::complex<double>> x, bool conjugate) const;

  std::size_t length_, padded_;  // padded_: a power of two, length_ itself if it is one
  bool inverse_;
  Array roots_;                    // exp(-2 pi i k / padded_) for the first half
  Array chirp_, spectrum_, work_;  // for other lengths
};

/// Input i, one number, or what stands for it where it is absent.
std::int64_t only_int(const KernelContext& c, std::size_t i, std::int64_t fallback);

}  // namespace ingot::ops
