#pragma once
#include <cstdint>
#include <memory>

#include "ingot/base/budget.h"
#include "ingot/ir/tensor.h"

namespace ingot {
class ThreadPool;
}

namespace ingot::engine {

/// Columns of a panel on this machine.
std::int64_t panel_columns();

/// The right-hand operand of a product, in panels as wide as the machine's kernel wants them.
class PackedMatrix {
 public:
  PackedMatrix() = default;
  /// Element (row, column) of the rows x columns matrix of floats is the one at row * row_stride + column *
  /// column_stride, at any alignment.
  PackedMatrix(const void* b, std::int64_t rows, std::int64_t columns, std::int64_t row_stride,
               std::int64_t column_stride, ThreadPool* pool = nullptr, const Budget& budget = Budget::unlimited());

  std::int64_t rows() const { return rows_; }
  std::int64_t columns() const { return columns_; }
  const float* panels() const { return reinterpret_cast<const float*>(panels_.get()); }
  std::int64_t byte_size() const;

 private:
  std::int64_t rows_ = 0, columns_ = 0;
  std::shared_ptr<std::byte> panels_;
};

/// A constant right-hand operand that is packed by the first run; then the pages of the file that holds it are given
/// back.
class WeightMatrix {
 public:
  /// Rows and columns of the operand; `b` is `first` matrices of that size into the tensor. Transposed: its rows are
  /// the operand's columns.
  WeightMatrix(Tensor tensor, std::int64_t rows, std::int64_t columns, bool is_transposed, std::int64_t first = 0);

  std::int64_t rows() const { return rows_; }
  std::int64_t columns() const { return columns_; }
  const PackedMatrix& packed(ThreadPool& pool, const Budget& budget) const;

 private:
  struct Once;
  std::int64_t rows_, columns_;
  bool is_transposed_;
  std::shared_ptr<Once> once_;
};

}  // namespace ingot::engine
