// Convolutions as products with the matrix of windows, of which only what the cache holds is made at a time.
#include "ingot/engine/kernels/image_product.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "ingot/base/budget.h"
#include "ingot/base/threads.h"
#include "ingot/engine/kernels/dense_product.h"
#include "ingot/engine/kernels/transpose_tiles.h"
#include "ingot/engine/pages.h"

namespace ingot::engine {
namespace {

constexpr std::int64_t kUsual = 16, kWidest = 64;  // columns of a panel
constexpr std::int64_t kLeftStride = kPieceDepth + kUsual;

/// Memory of one thread.
struct Room {
  std::shared_ptr<std::byte> a = take_pages(kPieceRows * kLeftStride * sizeof(float));
  std::shared_ptr<std::byte> b = take_pages(((kPieceColumns + kWidest) * kPieceDepth + kWidest) * sizeof(float));
  std::shared_ptr<std::byte> c = take_pages(kPieceRows * kPieceColumns * sizeof(float));

  float* left() const { return reinterpret_cast<float*>(a.get()); }
  float* panels() const { return reinterpret_cast<float*>(b.get()); }
  float* sums() const { return reinterpret_cast<float*>(c.get()); }
};
const Room& room() {
  thread_local const Room kRoom;
  return kRoom;
}

const std::uint32_t* words(const float* x) { return reinterpret_cast<const std::uint32_t*>(x); }
std::uint32_t* words(float* x) { return reinterpret_cast<std::uint32_t*>(x); }

std::int64_t in_steps(std::int64_t size, std::int64_t step) { return (size + step - 1) / step; }

/// A line of the cache: a size that the compiler knows.
void copy_line(const float* from, float* to) { std::memcpy(to, from, kUsual * sizeof(float)); }

/// Columns that follow each other where they come from, too.
struct Run {
  std::int64_t first, from, count;
};

/// The matrix of windows: a row for each channel and place in the kernel, a column for each image and place of the
/// window. Element (row, column) of the padded images is at row_at + column_at.
class Windows {
 public:
  Windows(const ConvolutionShape& s, const float* x, const ImageProduct::Host& host)
      : channels_(s.x[1]),
        out_height_(s.y[2]),
        out_width_(s.y[3]),
        stride_height_(s.strides[0]),
        stride_width_(s.strides[1]),
        data_(x) {
    const std::int64_t images = s.x[0], height = s.x[2], width = s.x[3];
    const std::int64_t top = s.pads_begin[0], left = s.pads_begin[1];
    const std::int64_t reach_down = (out_height_ - 1) * s.strides[0] + (s.w[2] - 1) * s.dilations[0] + 1;
    const std::int64_t reach_right = (out_width_ - 1) * s.strides[1] + (s.w[3] - 1) * s.dilations[1] + 1;
    height_ = height;
    width_ = width;
    if (top > 0 || left > 0 || reach_down > height || reach_right > width) {
      height_ = std::max(reach_down, top + height);
      width_ = std::max(reach_right, left + width);
    }
    readable_ = images * channels_ * height_ * width_;
    if (height_ != height || width_ != width) pad(images, height, width, top, left, x, host);
    columns_ = images * out_height_ * out_width_;
    for (std::int64_t c = 0; c < channels_; ++c)
      for (std::int64_t i = 0; i < s.w[2]; ++i)
        for (std::int64_t j = 0; j < s.w[3]; ++j)
          row_at_.push_back((c * height_ + i * s.dilations[0]) * width_ + j * s.dilations[1]);
  }

  std::int64_t rows() const { return std::ssize(row_at_); }
  std::int64_t columns() const { return columns_; }

  /// Panels of some rows and columns.
  void pack(std::int64_t row, std::int64_t rows, std::int64_t column, std::int64_t columns, float* panels) const {
    const std::int64_t wide = panel_columns();
    for (std::int64_t first = 0; first < columns; first += wide, panels += rows * wide) {
      std::array<std::int64_t, kWidest> at{};
      const std::int64_t there = std::min(wide, columns - first);
      fill_places(column + first, there, at.data());
      std::array<std::int64_t, kWidest> starts{};
      std::int64_t runs = 0;
      for (std::int64_t i = 0; i < there; ++i)
        if (i == 0 || at[index(i)] != at[index(i - 1)] + 1) starts[index(runs++)] = i;
      // Whole vectors: what a run has too much, the next one writes over.
      if (wide == kUsual && there == wide && runs <= kUsual / 2 && is_safe(row + rows - 1, at[index(there - 1)])) {
        for (std::int64_t k = 0; k < rows; ++k) {
          const float* from = data_ + row_at_[index(row + k)];
          for (std::int64_t r = 0; r < runs; ++r)
            copy_line(from + at[index(starts[index(r)])], panels + k * kUsual + starts[index(r)]);
        }
        continue;
      }
      for (std::int64_t k = 0; k < rows; ++k) {
        const float* from = data_ + row_at_[index(row + k)];
        float* to = panels + k * wide;
        for (std::int64_t i = 0; i < there; ++i) to[i] = from[at[index(i)]];
        std::fill(to + there, to + wide, 0.0f);
      }
    }
  }

  /// Some rows and columns in order; rows are `kLeftStride` apart.
  void copy(std::int64_t row, std::int64_t rows, std::int64_t column, std::int64_t columns, float* to) const {
    std::array<std::int64_t, kPieceDepth> at{};
    fill_places(column, columns, at.data());
    std::vector<Run> runs;
    for (std::int64_t i = 0; i < columns; ++i) {
      if (i > 0 && at[index(i)] == at[index(i - 1)] + 1)
        ++runs.back().count;
      else
        runs.push_back({i, at[index(i)], 1});
    }
    const bool has_runs = std::ssize(runs) * 2 <= columns && is_safe(row + rows - 1, at[index(columns - 1)]);
    for (std::int64_t k = 0; k < rows; ++k, to += kLeftStride) {
      const float* from = data_ + row_at_[index(row + k)];
      if (has_runs) {
        for (const Run& run : runs)
          for (std::int64_t i = 0; i < run.count; i += kUsual) copy_line(from + run.from + i, to + run.first + i);
      } else {
        for (std::int64_t i = 0; i < columns; ++i) to[i] = from[at[index(i)]];
      }
    }
  }

 private:
  static std::size_t index(std::int64_t i) { return static_cast<std::size_t>(i); }

  /// Whether a vector can be read there, and at all places before.
  bool is_safe(std::int64_t row, std::int64_t last) const { return row_at_[index(row)] + last + kUsual <= readable_; }

  void fill_places(std::int64_t column, std::int64_t count, std::int64_t* at) const {
    std::int64_t j = column % out_width_, i = column / out_width_ % out_height_;
    std::int64_t image = column / (out_width_ * out_height_);
    for (std::int64_t c = 0; c < count; ++c) {
      at[c] = (image * channels_ * height_ + i * stride_height_) * width_ + j * stride_width_;
      if (++j < out_width_) continue;
      j = 0;
      if (++i < out_height_) continue;
      i = 0;
      ++image;
    }
  }

  void pad(std::int64_t images, std::int64_t height, std::int64_t width, std::int64_t top, std::int64_t left,
           const float* x, const ImageProduct::Host& host) {
    kept_ = host.allocate(readable_ + kUsual);
    float* padded = kept_.mutable_data<float>().data();
    const std::int64_t plane = height_ * width_;
    constexpr std::int64_t kGrain = 1 << 14;
    host.pool.parallel_for(images * channels_, std::max<std::int64_t>(1, kGrain / plane),
                           [&](std::int64_t begin, std::int64_t end) {
                             host.budget.poll();
                             for (std::int64_t p = begin; p < end; ++p) {
                               float* to = padded + p * plane;
                               const float* from = x + p * height * width;
                               std::fill_n(to, top * width_ + left, 0.0f);
                               to += top * width_ + left;
                               for (std::int64_t i = 0; i < height; ++i, to += width_, from += width) {
                                 std::copy_n(from, width, to);
                                 if (i + 1 < height) std::fill_n(to + width, width_ - width, 0.0f);
                               }
                               to += width - width_;
                               std::fill(to, padded + (p + 1) * plane, 0.0f);
                             }
                           });
    std::fill_n(padded + readable_, kUsual, 0.0f);
    readable_ += kUsual;
    data_ = padded;
  }

  std::int64_t channels_, out_height_, out_width_, stride_height_, stride_width_;
  std::int64_t height_, width_;  // of a padded image
  std::int64_t columns_, readable_;
  const float* data_;
  Array kept_;
  std::vector<std::int64_t> row_at_;
};

/// Results [rows x columns] of a piece to images of `plane` places each: row r of image n is at (n * all_rows + r).
void store(const float* sums, std::int64_t stride, std::int64_t row, std::int64_t rows, std::int64_t column,
           std::int64_t columns, std::int64_t all_rows, std::int64_t plane, const float* bias, float* y) {
  for (std::int64_t first = 0; first < columns;) {
    const std::int64_t image = (column + first) / plane, place = (column + first) % plane;
    const std::int64_t count = std::min(plane - place, columns - first);
    for (std::int64_t r = 0; r < rows; ++r) {
      const float* from = sums + r * stride + first;
      float* to = y + (image * all_rows + row + r) * plane + place;
      const float added = bias ? bias[row + r] : 0;
      for (std::int64_t i = 0; i < count; ++i) to[i] = from[i] + added;
    }
    first += count;
  }
}

/// The kernel that goes the other way: channels exchanged, each plane turned by half a circle.
Array turned_kernel(const ConvolutionShape& s, const float* w, const ImageProduct::Host& host) {
  const std::int64_t filters = s.w[0], channels = s.w[1], plane = s.w[2] * s.w[3];
  Array made = host.allocate(filters * channels * plane);
  float* to = made.mutable_data<float>().data();
  host.pool.parallel_for(channels, 8, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t f = 0; f < filters; ++f)
      for (std::int64_t c = begin; c < end; ++c)
        std::reverse_copy(w + (f * channels + c) * plane, w + (f * channels + c + 1) * plane,
                          to + (c * filters + f) * plane);
  });
  return made;
}

/// Adds a piece of the gradient by windows to the images they were taken from.
class Scatter {
 public:
  Scatter(const ConvolutionShape& s, float* dx) : s_(s), dx_(dx) {}

  void add(const float* sums, std::int64_t stride, std::int64_t channel, std::int64_t channels, std::int64_t column,
           std::int64_t columns) const {
    const std::int64_t width = s_.y[3], plane = s_.y[2] * width;
    for (std::int64_t first = 0; first < columns;) {
      const std::int64_t image = (column + first) / plane, place = (column + first) % plane;
      const std::int64_t i = place / width, j = place % width, count = std::min(width - j, columns - first);
      const float* from = sums + first;
      for (std::int64_t c = channel; c < channel + channels; ++c)
        for (std::int64_t a = 0; a < s_.w[2]; ++a)
          for (std::int64_t b = 0; b < s_.w[3]; ++b, from += stride)
            add_row(from, (image * s_.x[1] + c) * s_.x[2], i * s_.strides[0] - s_.pads_begin[0] + a * s_.dilations[0],
                    j * s_.strides[1] - s_.pads_begin[1] + b * s_.dilations[1], count);
      first += count;
    }
  }

 private:
  void add_row(const float* from, std::int64_t first_row, std::int64_t i, std::int64_t j, std::int64_t count) const {
    if (i < 0 || i >= s_.x[2]) return;
    const std::int64_t step = s_.strides[1], width = s_.x[3];
    const std::int64_t begin = j < 0 ? in_steps(-j, step) : 0;
    const std::int64_t end = j < width ? std::min(count, in_steps(width - j, step)) : 0;
    float* to = dx_ + (first_row + i) * width + j;
    for (std::int64_t k = begin; k < end; ++k) to[k * step] += from[k];
  }

  const ConvolutionShape& s_;
  float* dx_;
};

/// By the product of kernel and dy, which is what arrives at each window.
void to_input_by_windows(const ConvolutionShape& s, const float* dy, const float* w, float* dx,
                         const ImageProduct::Host& host) {
  const std::int64_t images = s.x[0], channels = s.x[1], filters = s.w[0], taps = s.w[2] * s.w[3];
  const std::int64_t rows = channels * taps, plane = s.y[2] * s.y[3], in_plane = s.x[2] * s.x[3];
  ConvolutionShape points;
  points.x = points.y = s.y;
  points.w = {1, filters, 1, 1};
  points.strides = points.dilations = {1, 1};
  points.pads_begin = points.pads_end = {0, 0};
  const Windows arriving(points, dy, host);
  constexpr std::int64_t kEnough = 8, kFewRows = 96;
  const std::int64_t at_once = std::max<std::int64_t>(1, kPieceColumns / plane);  // images
  const std::int64_t image_blocks = in_steps(images, at_once);
  std::int64_t block = std::min(channels, kPieceRows / taps);  // channels
  while (in_steps(channels, block) * image_blocks < kEnough && block > 1 && block * taps > kFewRows) block /= 2;
  const std::int64_t channel_blocks = in_steps(channels, block);
  const Scatter scatter(s, dx);
  host.pool.parallel_for(channel_blocks * image_blocks, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t piece = begin; piece < end; ++piece) {
      const std::int64_t channel = piece / image_blocks * block, some = std::min(block, channels - channel);
      const std::int64_t image = piece % image_blocks * at_once, few = std::min(at_once, images - image);
      for (std::int64_t i = image; i < image + few; ++i)
        std::fill_n(dx + (i * channels + channel) * in_plane, some * in_plane, 0.0f);
      for (std::int64_t column = image * plane; column < (image + few) * plane; column += kPieceColumns) {
        PiecePart part;
        part.rows = some * taps;
        part.columns = std::min(kPieceColumns, (image + few) * plane - column);
        part.a = room().left();
        part.panels = room().panels();
        part.c = room().sums();
        part.c_stride = kPieceColumns;
        for (std::int64_t k = 0; k < filters; k += kPieceDepth) {
          host.budget.poll();
          part.depth = std::min(kPieceDepth, filters - k);
          part.is_first = k == 0;
          interleave_rows({w + k * rows + channel * taps, 1, rows}, part.rows, part.depth, room().left());
          arriving.pack(k, part.depth, column, part.columns, room().panels());
          multiply_part(part);
        }
        scatter.add(room().sums(), kPieceColumns, channel, some, column, part.columns);
      }
    }
  });
}

}  // namespace

bool ImageProduct::is_for(const ConvolutionShape& s, Pass pass) {
  if (s.x.size() != 4 || s.groups != 1 || s.w[2] * s.w[3] > kPieceRows || panel_columns() > kWidest) return false;
  for (std::size_t i = 0; i < 2; ++i)
    if (s.pads_begin[i] < 0) return false;
  constexpr std::int64_t kSmallImage = 16, kMediumImage = 256;  // places, as measured
  if (s.y[2] * s.y[3] >= kSmallImage && (pass != Pass::to_weights || s.y[2] * s.y[3] > kMediumImage)) return false;
  return tensor_size(s.x) > 0 && tensor_size(s.y) > 0 && tensor_size(s.w) > 0;
}

void ImageProduct::forward(const ConvolutionShape& s, const float* x, const float* w, const float* bias, float* y,
                           const Host& host) {
  const Windows windows(s, x, host);
  const std::int64_t filters = s.w[0], depth = windows.rows(), columns = windows.columns(), wide = panel_columns();
  const std::int64_t plane = s.y[2] * s.y[3];
  const Cut cut(filters, columns);
  // Where all rows meet the same few columns, these are packed once.
  const std::int64_t padded = in_steps(cut.block_columns, wide) * wide;
  const bool is_packed = cut.column_blocks == 1 && cut.row_blocks > 1;
  Array packed = is_packed ? host.allocate(depth * padded + kWidest) : Array();
  float* const shared = is_packed ? packed.mutable_data<float>().data() : nullptr;
  if (is_packed)
    host.pool.parallel_for(in_steps(depth, kPieceDepth), 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        host.budget.poll();
        const std::int64_t deep = std::min(kPieceDepth, depth - i * kPieceDepth);
        // By way of memory of its own: packing writes a little too far.
        windows.pack(i * kPieceDepth, deep, 0, columns, room().panels());
        std::copy_n(room().panels(), deep * padded, shared + i * kPieceDepth * padded);
      }
    });
  host.pool.parallel_for(cut.pieces(), 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t piece = begin; piece < end; ++piece) {
      const std::int64_t row = piece / cut.column_blocks * cut.block_rows;
      const std::int64_t column = piece % cut.column_blocks * cut.block_columns;
      PiecePart part;
      part.a_stride = depth;
      part.rows = std::min(cut.block_rows, filters - row);
      part.columns = std::min(cut.block_columns, columns - column);
      part.c = room().sums();
      part.c_stride = kPieceColumns;
      for (std::int64_t k = 0; k < depth; k += kPieceDepth) {
        host.budget.poll();
        part.depth = std::min(kPieceDepth, depth - k);
        part.is_first = k == 0;
        part.a = w + row * depth + k;
        part.panels = is_packed ? shared + k * padded : room().panels();
        if (!is_packed) windows.pack(k, part.depth, column, part.columns, room().panels());
        multiply_part(part);
      }
      store(part.c, kPieceColumns, row, part.rows, column, part.columns, filters, plane, bias, y);
    }
  });
}

void ImageProduct::to_input(const ConvolutionShape& s, const float* dy, const float* w, float* dx, const Host& host) {
  ConvolutionShape back;
  back.x = s.y;
  back.y = s.x;
  back.w = {s.w[1], s.w[0], s.w[2], s.w[3]};
  back.strides = s.strides;
  back.dilations = s.dilations;
  bool is_convolution = s.strides[0] == 1 && s.strides[1] == 1;
  for (std::size_t i = 0; i < 2; ++i) {
    back.pads_begin.push_back((s.w[i + 2] - 1) * s.dilations[i] - s.pads_begin[i]);
    back.pads_end.push_back((s.w[i + 2] - 1) * s.dilations[i] - s.pads_end[i]);
    is_convolution &= back.pads_begin.back() >= 0 && back.pads_end.back() >= 0;
  }
  // To turn a large kernel for few windows does not pay.
  if (!is_convolution || s.y[0] * s.y[2] * s.y[3] < s.w[0]) return to_input_by_windows(s, dy, w, dx, host);
  const Array turned = turned_kernel(s, w, host);
  forward(back, dy, turned.data<float>().data(), nullptr, dx, host);
}

void ImageProduct::to_weights(const ConvolutionShape& s, const float* x, const float* dy, float* dw, const Host& host) {
  const Windows windows(s, x, host);
  const std::int64_t images = s.y[0], filters = s.w[0], rows = windows.rows(), depth = windows.columns();
  const std::int64_t plane = s.y[2] * s.y[3], wide = panel_columns(), panels = in_steps(filters, wide);
  // dy in panels: a filter is a column.
  Array packed = host.allocate(panels * wide * depth);
  float* const arriving = packed.mutable_data<float>().data();
  constexpr std::int64_t kGrain = 1 << 14;
  host.pool.parallel_for(
      panels * images, std::max<std::int64_t>(1, kGrain / (plane * wide)), [&](std::int64_t begin, std::int64_t end) {
        host.budget.poll();
        for (std::int64_t i = begin; i < end; ++i) {
          const std::int64_t panel = i / images, image = i % images, there = std::min(wide, filters - panel * wide);
          float* to = arriving + (panel * depth + image * plane) * wide;
          if (there < wide) std::fill_n(to, plane * wide, 0.0f);
          transpose_words(words(dy + (image * filters + panel * wide) * plane), plane, words(to), wide, plane, there);
        }
      });
  const Cut cut(rows, filters, {.keeps_columns = true});
  host.pool.parallel_for(cut.pieces(), 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t piece = begin; piece < end; ++piece) {
      const std::int64_t row = piece / cut.column_blocks * cut.block_rows;
      const std::int64_t column = piece % cut.column_blocks * cut.block_columns;
      PiecePart part;
      part.rows = std::min(cut.block_rows, rows - row);
      part.columns = std::min(cut.block_columns, filters - column);
      part.a = room().left();
      part.a_stride = kLeftStride;
      part.c = room().sums();
      part.c_stride = kPieceColumns;
      part.panel_stride = depth * wide;
      for (std::int64_t k = 0; k < depth; k += kPieceDepth) {
        host.budget.poll();
        part.depth = std::min(kPieceDepth, depth - k);
        part.is_first = k == 0;
        part.panels = arriving + (column / wide * depth + k) * wide;
        windows.copy(row, part.rows, k, part.depth, room().left());
        multiply_part(part);
      }
      transpose_words(words(part.c), kPieceColumns, words(dw + column * rows + row), rows, part.columns, part.rows);
    }
  });
}

}  // namespace ingot::engine
