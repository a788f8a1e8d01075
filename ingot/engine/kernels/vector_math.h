#pragma once
#include <cstdint>
#include <span>

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
  elu,  // b * x above zero, else b * a * (e^x - 1)
};

/// Functions of two floats.
enum class Binary : std::uint8_t {
  add,
  subtract,
  multiply,
  divide,
  maximum,
  minimum,
  gate,   // the second where the first is above zero, else 0
  prelu,  // the first, times the second where it is below zero
};

/// y[i] = op(x[i]) for n elements; y may be x. `a` and `b` are the parameters of clip (low, high), elu (slope, factor),
/// leaky_relu (slope), hard_sigmoid (slope, offset), quantize (scale, lowest) and swish (slope).
void apply(Unary op, const float* x, float* y, std::int64_t n, float a = 0, float b = 0);

/// z[i] = op(x[i * x_step], y[i * y_step]) with steps of 0 or 1; z may be x or y.
void apply(Binary op, const float* x, std::int64_t x_step, const float* y, std::int64_t y_step, float* z,
           std::int64_t n);

/// Whether a function is so short that reading and writing its numbers takes longer.
bool is_simple(Unary op);

/// One of several steps that are taken together, so that what is between them stays in registers: a simple function of
/// the value that the step before it made.
struct JoinedStep {
  bool is_binary = false;
  Unary unary = Unary::relu;
  float a = 0, b = 0;  // of a unary function
  Binary binary = Binary::add;
  const float* other = nullptr;  // of a binary function: the other operand; null: the value itself
  std::int64_t step = 0;         // how the other operand goes on: 0 or 1
  bool is_second = false;        // whether the value is the second operand
};
constexpr std::size_t kMostJoined = 8;

/// y[i] = the last step(... the first step(x[i])) for n elements; y may be x or an operand.
void apply(std::span<const JoinedStep> steps, const float* x, float* y, std::int64_t n);

}  // namespace ingot::engine
