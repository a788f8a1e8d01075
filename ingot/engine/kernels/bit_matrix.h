#pragma once
#include <memory>
#include <mutex>
#include <vector>

#include "ingot/base/budget.h"
#include "ingot/engine/kernels/bit_panels.h"
#include "ingot/ir/tensor.h"

namespace ingot {
class ThreadPool;
}

namespace ingot::engine {

/// A constant matrix of integers of 4 or 8 bits. Along its rows each block of them has a scale and a zero point for
/// each column: element = (integer - zero) * scale.
struct BitWeights {
  Tensor integers;       // of type u4, i4, u8 or i8
  bool is_turned;        // they are [columns, rows]
  std::int64_t block;    // rows of a block
  Tensor scales, zeros;  // [blocks, columns], turned as the integers are, or one for all; zeros may be empty

  std::int64_t rows() const { return integers.dims()[is_turned ? 1 : 0]; }
  std::int64_t columns() const { return integers.dims()[is_turned ? 0 : 1]; }
  std::int64_t blocks() const { return (rows() + block - 1) / block; }
};

/// The right-hand operand of a product, in panels that stay as small as the integers are.
class BitMatrix {
 public:
  BitMatrix(const BitWeights& weights, ThreadPool& pool, const Budget& budget);

  std::int64_t rows() const { return rows_; }
  std::int64_t columns() const { return columns_; }
  BitPanel panel(std::int64_t i) const;

 private:
  void pack(const BitWeights& weights, std::int64_t panel);

  std::int64_t rows_, columns_, block_, bits_;
  std::int64_t panel_bytes_, panel_blocks_;  // elements of a panel's integers, and of its scales
  std::shared_ptr<std::byte> integers_;
  std::vector<float> scales_;
  std::vector<std::uint8_t> zeros_;
};

/// The same where a plan holds it: made by the first run, which gives the pages of the file back.
class BitOperand {
 public:
  explicit BitOperand(BitWeights weights)
      : rows_(weights.rows()), columns_(weights.columns()), weights_(std::move(weights)) {}

  std::int64_t rows() const { return rows_; }
  std::int64_t columns() const { return columns_; }
  template <class F> void use(ThreadPool& pool, const Budget& budget, F f) const { f(*packed(pool, budget)); }

 private:
  std::shared_ptr<const BitMatrix> packed(ThreadPool& pool, const Budget& budget) const;

  std::int64_t rows_, columns_;
  mutable std::mutex mutex_;
  mutable BitWeights weights_;
  mutable std::shared_ptr<const BitMatrix> packed_;
};

}  // namespace ingot::engine
