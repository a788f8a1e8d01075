// Matrices of integers of 4 or 8 bits in panels.
#include "ingot/engine/kernels/bit_matrix.h"

#include <algorithm>

#include "ingot/base/mapped_file.h"
#include "ingot/base/threads.h"
#include "ingot/engine/kernels/packed_matrix.h"
#include "ingot/engine/pages.h"

namespace ingot::engine {
namespace {

/// Elements of a matrix of integers as they are stored, of signed types moved to begin with zero.
class Integers {
 public:
  explicit Integers(const Tensor& tensor)
      : bytes_(reinterpret_cast<const std::uint8_t*>(tensor.bytes().data())), is_half_(bits_of(tensor.dtype()) == 4) {
    if (tensor.dtype() == DType::i4) turn_ = 8;
    if (tensor.dtype() == DType::i8) turn_ = 128;
  }
  std::uint8_t operator[](std::int64_t i) const {
    const int stored = is_half_ ? bytes_[i / 2] >> (i % 2 * 4) & 15 : bytes_[i];
    return static_cast<std::uint8_t>(stored ^ turn_);
  }
  /// What stands for zero.
  std::uint8_t zero() const { return static_cast<std::uint8_t>(turn_); }

 private:
  const std::uint8_t* bytes_;
  bool is_half_;
  int turn_ = 0;
};

}  // namespace

BitMatrix::BitMatrix(const BitWeights& weights, ThreadPool& pool, const Budget& budget)
    : rows_(weights.rows()),
      columns_(weights.columns()),
      block_(weights.block),
      bits_(bits_of(weights.integers.dtype())) {
  const std::int64_t wide = panel_columns(), panels = (columns_ + wide - 1) / wide;
  panel_bytes_ = rows_ * bits_ / 8 * wide;
  panel_blocks_ = weights.blocks() * wide;
  integers_ = take_pages(static_cast<std::size_t>(panels * panel_bytes_));
  scales_.resize(static_cast<std::size_t>(panels * panel_blocks_));
  zeros_.resize(scales_.size());
  pool.parallel_for(panels, std::max<std::int64_t>(1, (1 << 18) / (rows_ * wide)),
                    [&](std::int64_t begin, std::int64_t end) {
                      budget.poll();
                      for (std::int64_t i = begin; i < end; ++i) pack(weights, i);
                    });
}

void BitMatrix::pack(const BitWeights& weights, std::int64_t panel) {
  const std::int64_t wide = panel_columns(), first = panel * wide, some = std::min(wide, columns_ - first);
  const auto place = [&](std::int64_t row, std::int64_t column, std::int64_t rows) {
    return weights.is_turned ? column * rows + row : row * columns_ + column;
  };
  const Integers integers(weights.integers);
  const std::uint8_t middle = integers.zero();
  auto* to = reinterpret_cast<std::uint8_t*>(integers_.get()) + panel * panel_bytes_;
  std::fill_n(to, panel_bytes_, std::uint8_t{0});
  for (std::int64_t j = 0; j < some; ++j)
    for (std::int64_t row = 0; row < rows_; ++row) {
      const std::uint8_t integer = integers[place(row, first + j, rows_)];
      std::uint8_t& byte = to[row * bits_ / 8 * wide + j];
      byte = static_cast<std::uint8_t>(byte | integer << (bits_ == 4 && row % 2 ? 4 : 0));
    }
  const bool is_one = weights.scales.size() == 1;
  for (std::int64_t block = 0; block < weights.blocks(); ++block)
    for (std::int64_t j = 0; j < some; ++j) {
      const std::int64_t from = is_one ? 0 : place(block, first + j, weights.blocks());
      const auto at = static_cast<std::size_t>(panel * panel_blocks_ + block * wide + j);
      scales_[at] = weights.scales.at<float>(from);
      zeros_[at] = weights.zeros ? Integers(weights.zeros)[from] : middle;
    }
}

BitPanel BitMatrix::panel(std::int64_t i) const {
  return {reinterpret_cast<const std::uint8_t*>(integers_.get()) + i * panel_bytes_,
          rows_,
          bits_,
          block_,
          scales_.data() + i * panel_blocks_,
          zeros_.data() + i * panel_blocks_};
}

std::shared_ptr<const BitMatrix> BitOperand::packed(ThreadPool& pool, const Budget& budget) const {
  const std::lock_guard lock(mutex_);
  if (!packed_) {
    packed_ = std::make_shared<BitMatrix>(weights_, pool, budget);
    for (const Tensor& read : {weights_.integers, weights_.scales, weights_.zeros}) drop_pages(read.bytes());
    weights_ = {};
  }
  return packed_;
}

}  // namespace ingot::engine
