#pragma once
#include <cstdint>

namespace ingot::engine {

/// The new state of n cells of an LSTM from the sums of their gates (input, output, forget, cell), which are `stride`
/// apart: cell = forget * cell + input * fresh, h = output * tanh(cell).
void lstm_cells(const float* gates, std::int64_t stride, float* cell, float* h, std::int64_t n);

/// y = exp(x - max x) / sum of that; y may be x.
void softmax_row(const float* x, float* y, std::int64_t n);

/// y = (x - mean) / sqrt(variance + epsilon) * scale + bias; bias may be null.
void normalize_row(const float* x, const float* scale, const float* bias, float* y, std::int64_t n, float epsilon);

}  // namespace ingot::engine
