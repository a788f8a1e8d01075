// Matrices of weights in panels.
#include "ingot/engine/kernels/packed_matrix.h"

#include <algorithm>
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

PackedMatrix::PackedMatrix(const void* b, std::int64_t rows, std::int64_t columns, std::int64_t row_stride,
                           std::int64_t column_stride, ThreadPool* pool, const Budget& budget)
    : rows_(rows), columns_(columns) {
  const std::int64_t wide = panel_columns(), count = (columns + wide - 1) / wide;
  panels_ = take_pages(static_cast<std::size_t>(byte_size()));
  auto* panels = reinterpret_cast<float*>(panels_.get());
  const Source source{static_cast<const std::byte*>(b), row_stride, column_stride};
  const auto share = [&](std::int64_t n, std::int64_t size, const ThreadPool::Body& body) {
    const std::int64_t grain = std::max<std::int64_t>(1, (std::int64_t{1} << 18) / std::max<std::int64_t>(1, size));
    if (pool) return pool->parallel_for(n, grain, body);
    for (std::int64_t i = 0; i < n; i += grain) body(i, std::min(n, i + grain));
  };
  if (column_stride == 1) {
    share(rows, columns, [&](std::int64_t begin, std::int64_t end) {
      budget.poll();
      pack_rows(source, begin, end, rows, columns, wide, panels);
    });
    return;
  }
  share(count, rows * wide, [&](std::int64_t begin, std::int64_t end) {
    budget.poll();
    for (std::int64_t panel = begin; panel < end; ++panel)
      pack_panel(source, panel * wide, rows, columns, wide, panels + panel * wide * rows);
  });
}

std::int64_t PackedMatrix::byte_size() const {
  const std::int64_t wide = panel_columns();
  return (columns_ + wide - 1) / wide * wide * rows_ * static_cast<std::int64_t>(sizeof(float));
}

struct WeightMatrix::Once {
  Tensor tensor;
  std::size_t offset;
  std::once_flag flag;
  PackedMatrix packed;
};

WeightMatrix::WeightMatrix(Tensor tensor, std::int64_t rows, std::int64_t columns, bool is_transposed,
                           std::int64_t first)
    : rows_(rows), columns_(columns), is_transposed_(is_transposed), once_(std::make_shared<Once>()) {
  once_->tensor = std::move(tensor);
  once_->offset = static_cast<std::size_t>(first * rows * columns) * sizeof(float);
}

const PackedMatrix& WeightMatrix::packed(ThreadPool& pool, const Budget& budget) const {
  std::call_once(once_->flag, [&] {
    const Bytes bytes =
        once_->tensor.bytes().slice(once_->offset, static_cast<std::size_t>(rows_ * columns_) * sizeof(float));
    once_->packed = is_transposed_ ? PackedMatrix(bytes.data(), rows_, columns_, 1, rows_, &pool, budget)
                                   : PackedMatrix(bytes.data(), rows_, columns_, columns_, 1, &pool, budget);
    drop_pages(bytes);
    once_->tensor = {};
  });
  return once_->packed;
}

}  // namespace ingot::engine
