#pragma once
#include <cstdint>
#include <memory>

#include "ingot/base/budget.h"

namespace ingot {
class ThreadPool;
}

namespace ingot::engine {

/// What happens to a result on its way to memory: y = clamp(y + bias[column] + residual), once.
struct Epilogue {
  const float* bias = nullptr;      // one per column
  const float* residual = nullptr;  // of the shape and row stride of the result; may be the result
  float low, high;                  // NaN stays NaN

  Epilogue();
};

/// The right-hand operand of a product, in panels as wide as the machine's kernel wants them.
class PackedMatrix {
 public:
  PackedMatrix() = default;
  /// Element (row, column) of the rows x columns matrix is b[row * row_stride + column * column_stride].
  PackedMatrix(const float* b, std::int64_t rows, std::int64_t columns, std::int64_t row_stride,
               std::int64_t column_stride, const Budget& budget = Budget::unlimited());

  std::int64_t rows() const { return rows_; }
  std::int64_t columns() const { return columns_; }
  const float* panels() const { return panels_.get(); }
  std::int64_t byte_size() const;

 private:
  std::int64_t rows_ = 0, columns_ = 0;
  std::shared_ptr<float> panels_;
};

/// c = a * b, row by row: a has `rows` rows of b.rows() elements, `a_stride` apart; c has rows `c_stride` apart. The
/// bits of the result do not depend on the number of threads. Polls the budget.
void multiply(const float* a, std::int64_t rows, std::int64_t a_stride, const PackedMatrix& b, float* c,
              std::int64_t c_stride, const Epilogue& epilogue, ThreadPool& pool,
              const Budget& budget = Budget::unlimited());

}  // namespace ingot::engine
