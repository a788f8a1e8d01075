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

/// A matrix of floats wherever it is, at any alignment: element (row, column) is the one at row * row_stride + column *
/// column_stride.
struct LooseMatrix {
  const void* data = nullptr;
  std::int64_t rows = 0, columns = 0, row_stride = 0, column_stride = 1;

  /// Some rows of the panels of some columns, which begin with a panel's first, one panel after the other.
  void pack(std::int64_t first_row, std::int64_t row_count, std::int64_t first_column, std::int64_t column_count,
            float* panels) const;
};

/// The right-hand operand of a product, in panels as wide as the machine's kernel wants them.
class PackedMatrix {
 public:
  PackedMatrix() = default;
  /// `file`: all bytes of a matrix without gaps, whose pages are given back as they are read.
  explicit PackedMatrix(const LooseMatrix& b, ThreadPool* pool = nullptr, const Budget& budget = Budget::unlimited(),
                        const Bytes& file = {});
  /// The same of a LooseMatrix's fields.
  PackedMatrix(const void* b, std::int64_t rows, std::int64_t columns, std::int64_t row_stride,
               std::int64_t column_stride, ThreadPool* pool = nullptr, const Budget& budget = Budget::unlimited())
      : PackedMatrix(LooseMatrix{b, rows, columns, row_stride, column_stride}, pool, budget) {}

  /// Some of its columns, of which the first begins a panel; the memory is shared.
  PackedMatrix part(std::int64_t first_column, std::int64_t column_count) const;

  std::int64_t rows() const { return rows_; }
  std::int64_t columns() const { return columns_; }
  const float* panels() const { return reinterpret_cast<const float*>(panels_.get()); }
  std::int64_t byte_size() const;

 private:
  std::int64_t rows_ = 0, columns_ = 0;
  std::shared_ptr<std::byte> panels_;
};

/// A constant right-hand operand in a file. What is used once is read where it is; the second use packs it. Either
/// gives the pages of the file back.
class WeightMatrix {
 public:
  /// Rows and columns of the operand, which is `first` matrices of that size into the tensor. Transposed: the rows of
  /// the tensor are the operand's columns.
  WeightMatrix(Tensor tensor, std::int64_t rows, std::int64_t columns, bool is_transposed, std::int64_t first = 0);

  std::int64_t rows() const { return rows_; }
  std::int64_t columns() const { return columns_; }
  /// Packed now, if it is not yet.
  const PackedMatrix& packed(ThreadPool& pool, const Budget& budget) const;
  /// Calls f with a PackedMatrix, or, the first time, with a LooseMatrix.
  template <class F> void use(ThreadPool& pool, const Budget& budget, F f) const {
    if (const Bytes bytes = first_use(); bytes.data()) {
      f(loose(bytes));
      give_back(bytes);
    } else {
      f(packed(pool, budget));
    }
  }

 private:
  struct State;
  Bytes first_use() const;
  LooseMatrix loose(const Bytes& bytes) const;
  static void give_back(const Bytes& bytes);

  std::int64_t rows_, columns_;
  bool is_transposed_;
  std::shared_ptr<State> state_;
};

}  // namespace ingot::engine
