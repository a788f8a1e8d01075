// Matrices of weights in panels.
#include "ingot/engine/kernels/packed_matrix.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <mutex>

#include "ingot/base/mapped_file.h"
#include "ingot/base/threads.h"
#include "ingot/engine/pages.h"

namespace ingot::engine {
namespace {

constexpr std::int64_t kUsual = 16;  // columns of a panel where vectors have eight elements
constexpr std::int64_t kTile = 16;

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

/// Rows [begin, end) of all panels, of a matrix whose rows are whole: each row is read from left to right.
void pack_rows(const Source& b, std::int64_t begin, std::int64_t end, std::int64_t rows, std::int64_t columns,
               std::int64_t wide, float* panels) {
  for (std::int64_t k = begin; k < end; ++k) {
    const std::byte* from = b.at(k, 0);
    float* to = panels + k * wide;
    std::int64_t first = 0;
    if (wide == kUsual)
      for (; first + kUsual <= columns; first += kUsual, to += rows * wide)
        copy_floats(to, from + first * static_cast<std::int64_t>(sizeof(float)), kUsual);
    for (; first < columns; first += wide, to += rows * wide) {
      const std::int64_t there = std::min(wide, columns - first);
      copy_floats(to, from + first * static_cast<std::int64_t>(sizeof(float)), there);
      std::fill(to + there, to + wide, 0.0f);
    }
  }
}

/// The panel that begins with this column, of any matrix, in square tiles.
void pack_panel(const Source& b, std::int64_t first, std::int64_t rows, std::int64_t columns, std::int64_t wide,
                float* panel) {
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

PackedMatrix::PackedMatrix(const LooseMatrix& b, ThreadPool* pool, const Budget& budget)
    : rows_(b.rows), columns_(b.columns) {
  const std::int64_t wide = panel_columns(), count = (columns_ + wide - 1) / wide;
  panels_ = take_pages(static_cast<std::size_t>(byte_size()));
  auto* panels = reinterpret_cast<float*>(panels_.get());
  const Source source{static_cast<const std::byte*>(b.data), b.row_stride, b.column_stride};
  const auto share = [&](std::int64_t n, std::int64_t size, const ThreadPool::Body& body) {
    const std::int64_t grain = std::max<std::int64_t>(1, (std::int64_t{1} << 18) / std::max<std::int64_t>(1, size));
    if (pool) return pool->parallel_for(n, grain, body);
    for (std::int64_t i = 0; i < n; i += grain) body(i, std::min(n, i + grain));
  };
  if (b.column_stride == 1) {
    share(rows_, columns_, [&](std::int64_t begin, std::int64_t end) {
      budget.poll();
      pack_rows(source, begin, end, rows_, columns_, wide, panels);
    });
    return;
  }
  share(count, rows_ * wide, [&](std::int64_t begin, std::int64_t end) {
    budget.poll();
    for (std::int64_t panel = begin; panel < end; ++panel)
      pack_panel(source, panel * wide, rows_, columns_, wide, panels + panel * wide * rows_);
  });
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
    s.packed = PackedMatrix(loose(s.bytes), &pool, budget);
    drop_pages(s.bytes);
    s.bytes = {};
    s.is_packed.store(true, std::memory_order_release);
  }
  return s.packed;
}

}  // namespace ingot::engine
