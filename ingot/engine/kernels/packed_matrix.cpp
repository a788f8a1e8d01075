// Matrices of weights in panels.
#include "ingot/engine/kernels/packed_matrix.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <mutex>
#include <vector>

#include "ingot/base/mapped_file.h"
#include "ingot/base/threads.h"
#include "ingot/engine/kernels/transpose_tiles.h"
#include "ingot/engine/pages.h"

namespace ingot::engine {
namespace {

constexpr std::int64_t kUsual = 16;  // columns of a panel where vectors have eight elements
constexpr std::int64_t kTile = 16;
constexpr std::int64_t kDropped = std::int64_t{4} << 20;  // elements after which the pages of a file are given back

struct Source {
  const std::byte* data;
  std::int64_t row_stride, column_stride;

  const std::byte* at(std::int64_t row, std::int64_t column) const {
    return data + (row * row_stride + column * column_stride) * static_cast<std::int64_t>(sizeof(float));
  }
};

void copy_floats(float* to, const std::byte* from, std::int64_t n) {
  std::memcpy(to, from, static_cast<std::size_t>(n) * sizeof(float));
}

/// Rows [begin, end) of all panels, of a matrix whose rows are whole. Some rows at a time: the panels' lines for one
/// row are where they would push each other out of the cache.
void pack_rows(const Source& b, std::int64_t begin, std::int64_t end, std::int64_t rows, std::int64_t columns,
               std::int64_t wide, float* panels) {
  for (std::int64_t k = begin; k < end; k += kTile) {
    const std::int64_t last = std::min(end, k + kTile);
    float* panel = panels;
    std::int64_t first = 0;
    if (wide == kUsual)
      for (; first + kUsual <= columns; first += kUsual, panel += rows * kUsual)
        for (std::int64_t i = k; i < last; ++i) copy_floats(panel + i * kUsual, b.at(i, first), kUsual);
    for (; first < columns; first += wide, panel += rows * wide)
      for (std::int64_t i = k; i < last; ++i) {
        const std::int64_t there = std::min(wide, columns - first);
        copy_floats(panel + i * wide, b.at(i, first), there);
        std::fill(panel + i * wide + there, panel + (i + 1) * wide, 0.0f);
      }
  }
}

/// The panel that begins with this column, of a matrix whose columns are whole.
void pack_columns(const Source& b, std::int64_t first, std::int64_t rows, std::int64_t columns, std::int64_t wide,
                  float* panel) {
  constexpr std::int64_t kRows = 64;  // at once: out of the file, where nothing is aligned
  const std::int64_t there = std::min(wide, columns - first);
  std::vector<std::uint32_t> lines(static_cast<std::size_t>(there * kRows));
  for (std::int64_t k = 0; k < rows; k += kRows) {
    const std::int64_t some = std::min(kRows, rows - k);
    for (std::int64_t j = 0; j < there; ++j)
      std::memcpy(lines.data() + j * kRows, b.at(k, first + j), static_cast<std::size_t>(some) * sizeof(float));
    transpose_words(lines.data(), kRows, reinterpret_cast<std::uint32_t*>(panel + k * wide), wide, some, there);
    for (std::int64_t i = k; i < k + some && there < wide; ++i)
      std::fill(panel + i * wide + there, panel + (i + 1) * wide, 0.0f);
  }
}

/// The panel that begins with this column, of any matrix, in square tiles.
void pack_panel(const Source& b, std::int64_t first, std::int64_t rows, std::int64_t columns, std::int64_t wide,
                float* panel) {
  if (b.row_stride == 1) return pack_columns(b, first, rows, columns, wide, panel);
  const std::int64_t there = std::min(wide, columns - first);
  for (std::int64_t k = 0; k < rows; k += kTile) {
    const std::int64_t end = std::min(rows, k + kTile);
    for (std::int64_t j = 0; j < there; ++j)
      for (std::int64_t i = k; i < end; ++i) copy_floats(panel + i * wide + j, b.at(i, first + j), 1);
    for (std::int64_t i = k; i < end; ++i) std::fill(panel + i * wide + there, panel + (i + 1) * wide, 0.0f);
  }
}

}  // namespace

void LooseMatrix::pack(std::int64_t first_row, std::int64_t row_count, std::int64_t first_column,
                       std::int64_t column_count, float* panels) const {
  const std::int64_t wide = panel_columns();
  const Source all{static_cast<const std::byte*>(data), row_stride, column_stride};
  const Source source{all.at(first_row, first_column), row_stride, column_stride};
  if (column_stride == 1) return pack_rows(source, 0, row_count, row_count, column_count, wide, panels);
  for (std::int64_t first = 0; first < column_count; first += wide)
    pack_panel(source, first, row_count, column_count, wide, panels + first * row_count);
}

PackedMatrix::PackedMatrix(const LooseMatrix& b, ThreadPool* pool, const Budget& budget, const Bytes& file)
    : rows_(b.rows), columns_(b.columns) {
  const std::int64_t wide = panel_columns(), count = (columns_ + wide - 1) / wide;
  panels_ = take_pages(static_cast<std::size_t>(byte_size()));
  auto* panels = reinterpret_cast<float*>(panels_.get());
  const Source source{static_cast<const std::byte*>(b.data), b.row_stride, b.column_stride};
  /// n lines of so many elements each, which follow each other in the source.
  const auto share = [&](std::int64_t n, std::int64_t size, const ThreadPool::Body& body) {
    const auto lines = [&](std::int64_t elements) {
      return std::max<std::int64_t>(1, elements / std::max<std::int64_t>(1, size));
    };
    const std::int64_t at_once = file.data() ? lines(kDropped) : n, grain = lines(std::int64_t{1} << 18);
    for (std::int64_t first = 0; first < n; first += at_once) {
      const std::int64_t some = std::min(at_once, n - first);
      const auto shifted = [&](std::int64_t begin, std::int64_t end) {
        budget.poll();
        body(first + begin, first + end);
      };
      if (pool)
        pool->parallel_for(some, grain, shifted);
      else
        shifted(0, some);
      if (!file.data()) continue;
      const auto width = static_cast<std::size_t>(size) * sizeof(float);
      const std::size_t begin = static_cast<std::size_t>(first) * width;
      drop_pages(file.slice(begin, std::min(file.size() - begin, static_cast<std::size_t>(some) * width)));
    }
  };
  if (b.column_stride == 1) {
    share(rows_, columns_,
          [&](std::int64_t begin, std::int64_t end) { pack_rows(source, begin, end, rows_, columns_, wide, panels); });
    return;
  }
  share(count, rows_ * wide, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t panel = begin; panel < end; ++panel)
      pack_panel(source, panel * wide, rows_, columns_, wide, panels + panel * wide * rows_);
  });
}

PackedMatrix PackedMatrix::part(std::int64_t first_column, std::int64_t column_count) const {
  PackedMatrix part;
  part.rows_ = rows_;
  part.columns_ = column_count;
  part.panels_ = {panels_, panels_.get() + first_column * rows_ * static_cast<std::int64_t>(sizeof(float))};
  return part;
}

std::int64_t PackedMatrix::byte_size() const {
  const std::int64_t wide = panel_columns();
  return (columns_ + wide - 1) / wide * wide * rows_ * static_cast<std::int64_t>(sizeof(float));
}

struct WeightMatrix::State {
  std::mutex mutex;
  Bytes bytes;  // none once it is packed
  bool was_used = false;
  PackedMatrix packed;
  std::atomic<bool> is_packed{false};
};

WeightMatrix::WeightMatrix(Tensor tensor, std::int64_t rows, std::int64_t columns, bool is_transposed,
                           std::int64_t first)
    : rows_(rows), columns_(columns), is_transposed_(is_transposed), state_(std::make_shared<State>()) {
  const auto size = static_cast<std::size_t>(rows * columns) * sizeof(float);
  state_->bytes = tensor.bytes().slice(static_cast<std::size_t>(first) * size, size);
}

LooseMatrix WeightMatrix::loose(const Bytes& bytes) const {
  return {bytes.data(), rows_, columns_, is_transposed_ ? 1 : columns_, is_transposed_ ? rows_ : 1};
}

void WeightMatrix::give_back(const Bytes& bytes) { drop_pages(bytes); }

Bytes WeightMatrix::first_use() const {
  if (state_->is_packed.load(std::memory_order_acquire)) return {};
  const std::lock_guard lock(state_->mutex);
  if (state_->was_used || state_->is_packed) return {};
  state_->was_used = true;
  return state_->bytes;
}

const PackedMatrix& WeightMatrix::packed(ThreadPool& pool, const Budget& budget) const {
  State& s = *state_;
  if (s.is_packed.load(std::memory_order_acquire)) return s.packed;
  const std::lock_guard lock(s.mutex);
  if (!s.is_packed) {
    s.packed = PackedMatrix(loose(s.bytes), &pool, budget, s.bytes);
    drop_pages(s.bytes);
    s.bytes = {};
    s.is_packed.store(true, std::memory_order_release);
  }
  return s.packed;
}

}  // namespace ingot::engine
