#pragma once
#include <cstdint>

namespace ingot::engine {

/// The sum of n numbers, in double.
double sum_of(const float* x, std::int64_t n);
/// The sum of (x - mean)^2.
double squares_about(const float* x, std::int64_t n, float mean);
/// sums[r]: the sum of row r of n numbers, or of their squares.
void sum_each_row(const float* x, std::int64_t rows, std::int64_t n, bool squares, double* sums);
/// sums[i] += x[i], or its square, for the n numbers of each row, one row after the other; rows are `stride` apart.
void add_rows(const float* x, std::int64_t rows, std::int64_t stride, std::int64_t n, bool squares, double* sums);
/// sums[j]: the sum of the numbers j of n blocks of eight.
void sum_blocks(const float* x, std::int64_t n, double* sums);
/// Block i of n blocks of eight: the sum of `taps` blocks of x, weighted; their places and weights follow those of the
/// block before. What has no weight may be infinite.
struct BlockTaps {
  const std::int64_t* places;
  const float* weights;
  std::int64_t taps;
};
void mix_blocks(const float* x, const BlockTaps& taps, float* y, std::int64_t n);
/// Whether there is neither infinity nor NaN.
bool is_all_finite(const float* x, std::int64_t n);
/// z = x * a + y * b, as averages move.
void blend(const float* x, float a, const float* y, float b, float* z, std::int64_t n);
/// z = p - m / (sqrt(v) / size + epsilon) * rate, as Adam steps.
struct Descent {
  float size = 1, epsilon = 0, rate = 0;
};
void descend(const Descent& how, const float* p, const float* m, const float* v, float* z, std::int64_t n);
/// y = clamp((x - mean) * factor + offset + added); `added` may be null. NaN stays NaN.
struct ChannelLine {
  float mean = 0, factor = 1, offset = 0, low = 0, high = 0;
};
void line_of_channel(const ChannelLine& line, const float* x, const float* added, float* y, std::int64_t n);

/// What arrives at n places: dy, or where `gate` is given and not above zero, nothing.
struct Arriving {
  const float* dy = nullptr;
  const float* gate = nullptr;
};
/// The sum of what arrives, and of that times (x - mean).
struct GradientSums {
  double plain = 0, weighted = 0;
};
GradientSums gradient_sums(const Arriving& d, const float* x, std::int64_t n, float mean);
/// dx = d * by_arriving + (x - mean) * by_deviation + offset.
struct GradientLine {
  float mean = 0, by_arriving = 1, by_deviation = 0, offset = 0;
};
void gradient_of_channel(const GradientLine& line, const Arriving& d, const float* x, float* dx, std::int64_t n);

}  // namespace ingot::engine
