#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "ingot/base/budget.h"
#include "ingot/base/dtype.h"

namespace ingot {
class ThreadPool;
}

// Products of matrices of 8-bit integers, exact in int32 (sums wrap around).

namespace ingot::engine {

/// The left operand: int16 elements from which their zero points were subtracted, an even number of them per row.
class CentredRows {
 public:
  CentredRows() = default;
  /// `rows` rows of `depth` elements of type i8 or u8. `zeros`: one per row, or one for all, or none at all.
  CentredRows(const void* a, DType type, std::int64_t rows, std::int64_t depth, const std::vector<std::int32_t>& zeros,
              ThreadPool& pool, const Budget& budget);

  std::int64_t rows() const { return rows_; }
  std::int64_t depth() const { return depth_; }
  std::int64_t stride() const { return depth_ + depth_ % 2; }
  const std::int16_t* row(std::int64_t i) const { return elements() + i * stride(); }
  /// The sum of row i.
  std::int32_t sum(std::int64_t i) const { return sums_[static_cast<std::size_t>(i)]; }
  /// What operands of these sizes take.
  static std::uint64_t byte_size(std::int64_t rows, std::int64_t depth);

 private:
  std::int16_t* elements() const { return reinterpret_cast<std::int16_t*>(elements_.get()); }

  std::int64_t rows_ = 0, depth_ = 0;
  std::shared_ptr<std::byte> elements_;
  std::vector<std::int32_t> sums_;
};

/// A right operand wherever it is: i8 or u8, read by `read(row, first, count, to)`, which puts so many elements of a
/// row to `to`.
struct ByteMatrix {
  using Reader = std::function<void(std::int64_t row, std::int64_t first, std::int64_t count, std::uint8_t* to)>;
  std::int64_t rows = 0, columns = 0;
  bool is_signed = false;
  Reader read;

  /// Rows one after the other at `data`.
  static ByteMatrix dense(const void* data, DType type, std::int64_t rows, std::int64_t columns);
};

/// The same in panels as wide as the kernel wants them.
class PackedBytes {
 public:
  PackedBytes() = default;
  PackedBytes(const ByteMatrix& b, ThreadPool& pool, const Budget& budget);

  std::int64_t rows() const { return rows_; }
  std::int64_t columns() const { return columns_; }
  bool is_signed() const { return is_signed_; }
  const std::uint8_t* panels() const { return reinterpret_cast<const std::uint8_t*>(panels_.get()); }
  static std::uint64_t byte_size(std::int64_t rows, std::int64_t columns);

 private:
  std::int64_t rows_ = 0, columns_ = 0;
  bool is_signed_ = false;
  std::shared_ptr<std::byte> panels_;
};

/// The zero points of the right operand: one per column, or one for all, or none at all.
using ColumnZeros = std::vector<std::int32_t>;

/// c = rows [first, first + count) of a, times (b - zeros), row by row and `c_stride` apart.
void multiply(const CentredRows& a, std::int64_t first, std::int64_t count, const PackedBytes& b,
              const ColumnZeros& zeros, std::int32_t* c, std::int64_t c_stride, ThreadPool& pool, const Budget& budget);
/// The same from a matrix that is not packed: for one use.
void multiply(const CentredRows& a, std::int64_t first, std::int64_t count, const ByteMatrix& b,
              const ColumnZeros& zeros, std::int32_t* c, std::int64_t c_stride, ThreadPool& pool, const Budget& budget);

/// y[i] = clamp(round((sums[i] + bias) * factors[i * step]) + zero) as i8 or u8; halves are rounded to even, NaN is
/// zero. Step: 0 or 1.
void requantize(const std::int32_t* sums, std::int64_t n, std::int32_t bias, const float* factors, std::int64_t step,
                float zero, DType type, void* y);

/// y[i] = clamp(round(x[i] / scales[i * step]) + zeros[i * step]) as i8, u8, i16 or u16; halves are rounded to even, NaN
/// is the zero point. Step: 0 or 1.
void quantize(const float* x, std::int64_t n, const float* scales, const float* zeros, std::int64_t step, DType type,
              void* y);

/// y[i] = (x[i] - zeros[i * step]) * scales[i * step] of i8, u8, i16 or u16.
void dequantize(const void* x, DType type, std::int64_t n, const float* scales, const float* zeros, std::int64_t step,
                float* y);

/// The least and the largest of n numbers and 0; false if one of them is NaN.
bool find_range(const float* x, std::int64_t n, float& low, float& high);

/// to[i] += weight * (x[i] - zero) for n elements of type i8 or u8.
void add_scaled(const void* x, bool is_signed, std::int32_t zero, std::int32_t weight, std::int32_t* to,
                std::int64_t n);

}  // namespace ingot::engine
