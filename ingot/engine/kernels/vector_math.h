#pragma once
#include <cstdint>

namespace ingot::engine {

/// Functions of one float, computed a vector at a time.
enum class Unary : std::uint8_t {
  abs,
  ceil,
  erf,
  exp,
  floor,
  gelu,       // x / 2 * (1 + erf(x / sqrt(2)))
  gelu_tanh,  // its approximation by tanh
  hard_sigmoid,
  hard_swish,
  leaky_relu,
  clip,
  log,
  negate,
  quantize_8,   // to 8 bits and back: the scale is a, the least multiple of it b
  quantize_16,  // the same with 16 bits
  reciprocal,
  relu,
  round,
  sigmoid,
  softplus,
  sqrt,
  square,
  swish,  // x * sigmoid(a * x)
  tanh,
};

/// Functions of two floats.
enum class Binary : std::uint8_t {
  add,
  subtract,
  multiply,
  divide,
  maximum,
  minimum,
  gate,  // the second where the first is above zero, else 0
};

/// y[i] = op(x[i]) for n elements; y may be x. `a` and `b` are the parameters of clip (low, high), leaky_relu (slope),
/// hard_sigmoid (slope, offset), quantize (scale, lowest) and swish (slope).
void apply(Unary op, const float* x, float* y, std::int64_t n, float a = 0, float b = 0);

/// z[i] = op(x[i * x_step], y[i * y_step]) with steps of 0 or 1; z may be x or y.
void apply(Binary op, const float* x, std::int64_t x_step, const float* y, std::int64_t y_step, float* z,
           std::int64_t n);

/// The new state of n cells of an LSTM from the sums of their gates (input, output, forget, cell), which are `stride`
/// apart: cell = forget * cell + input * fresh, h = output * tanh(cell).
void lstm_cells(const float* gates, std::int64_t stride, float* cell, float* h, std::int64_t n);

/// y = exp(x - max x) / sum of that; y may be x.
void softmax_row(const float* x, float* y, std::int64_t n);

/// y = (x - mean) / sqrt(variance + epsilon) * scale + bias; bias may be null.
void normalize_row(const float* x, const float* scale, const float* bias, float* y, std::int64_t n, float epsilon);

}  // namespace ingot::engine
