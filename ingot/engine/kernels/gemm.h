#pragma once
#include <cstdint>

#include "ingot/engine/kernels/bit_matrix.h"
#include "ingot/engine/kernels/packed_matrix.h"
#include "ingot/engine/kernels/vector_math.h"

namespace ingot::engine {

/// What happens to a result on its way to memory: y = function(clamp(y + bias[column] + residual)), once.
struct Epilogue {
  const float* bias = nullptr;      // one per column
  const float* residual = nullptr;  // of the shape and row stride of the result; may be the result
  float low, high;                  // NaN stays NaN
  bool has_function = false;
  Unary function = Unary::relu;
  float a = 0, b = 0;  // its parameters

  Epilogue();
};

/// c = a * b, row by row: a has `rows` rows of b.rows() elements, `a_stride` apart; c has rows `c_stride` apart. The
/// bits of the result do not depend on the number of threads. Polls the budget.
void multiply(const float* a, std::int64_t rows, std::int64_t a_stride, const PackedMatrix& b, float* c,
              std::int64_t c_stride, const Epilogue& epilogue, ThreadPool& pool,
              const Budget& budget = Budget::unlimited());

/// The same bits from a matrix that is not packed: for one use.
void multiply(const float* a, std::int64_t rows, std::int64_t a_stride, const LooseMatrix& b, float* c,
              std::int64_t c_stride, const Epilogue& epilogue, ThreadPool& pool,
              const Budget& budget = Budget::unlimited());

/// The same with a matrix of integers of few bits, whose panels become floats as they are read.
void multiply(const float* a, std::int64_t rows, std::int64_t a_stride, const BitMatrix& b, float* c,
              std::int64_t c_stride, const Epilogue& epilogue, ThreadPool& pool,
              const Budget& budget = Budget::unlimited());

}  // namespace ingot::engine
