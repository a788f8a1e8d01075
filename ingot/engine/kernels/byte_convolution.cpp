// Convolutions of bytes on channels last. The input is copied with its padding, unsigned; what the filters meet there
// is put together in rows, which are multiplied with the weights. Depthwise ones read each tap where it is.
#include "ingot/engine/kernels/byte_convolution.h"

#include <algorithm>
#include <cstring>

#include "ingot/base/budget.h"
#include "ingot/base/error.h"
#include "ingot/base/threads.h"

namespace ingot::engine {
namespace {

constexpr std::int64_t kRowBytes = 32 << 10;  // of what the filters of a piece of work meet
constexpr std::int64_t kMostRows = 96;        // of a piece: their sums stay in the first-level cache
constexpr std::int64_t kPiecePanels = 16;     // of a piece
constexpr std::int64_t kSlideSums = 4096;     // of a piece of a row of a depthwise convolution
constexpr double kSmall = 1 << 19;            // multiplications for which it does not pay to wake another thread

std::int64_t up_to(std::int64_t n, std::int64_t whole) { return (n + whole - 1) / whole * whole; }

/// Memory of this thread, at least so large.
template <int kWhich> std::byte* room(std::size_t bytes) {
  thread_local std::vector<std::byte> kept;
  if (kept.size() < bytes) kept.resize(bytes);
  return kept.data();
}

}  // namespace

/// One call: the sizes, and where its bytes are.
struct ByteConvolution::Image {
  const std::uint8_t* x;  // with its padding
  std::byte* y;
  std::int64_t batch, height, width, out_height, out_width;
};

ByteConvolution::ByteConvolution(ByteSpec spec, const Tensor& weights, ByteMath math)
    : spec_(std::move(spec)),
      math_(math),
      filters_(weights.dims()[spec_.is_matrix ? 1 : 0]),
      channels_(spec_.is_depthwise ? filters_ : weights.dims()[spec_.is_matrix ? 0 : 1]),
      height_(spec_.is_matrix ? 1 : weights.dims()[2]),
      width_(spec_.is_matrix ? 1 : weights.dims()[3]) {
  const auto all = static_cast<std::size_t>(up_to(filters_, kByteColumns));
  factors_ = spec_.factors;
  factors_.resize(all, 1);
  offsets_ = spec_.bias;
  offsets_.resize(all, 0);
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(weights.bytes().data());
  if (spec_.is_depthwise && spec_.strides[1] == 1 && filters_ < kByteColumns && kByteColumns % filters_ == 0)
    repeats_ = kByteColumns / filters_;
  if (spec_.is_depthwise)
    pack_taps(bytes, weights.dtype());
  else
    pack_panels(bytes, weights.dtype());
}

/// Weights become signed, inputs unsigned: both zero points move with them.
void ByteConvolution::pack_panels(const std::uint8_t* weights, DType type) {
  const std::int64_t taps = height_ * width_;
  depth_ = taps * channels_;
  quads_ = up_to(depth_, 4) / 4;
  panels_ = up_to(filters_, kByteColumns) / kByteColumns;
  const auto size = static_cast<std::size_t>(panels_ * quads_ * kByteColumns * 4);
  packed_ = take_pages(size);
  std::memset(packed_.get(), 0, size);
  auto* to = reinterpret_cast<std::int8_t*>(packed_.get());
  const std::uint8_t turn = type == DType::u8 ? 0x80 : 0;
  const std::int64_t filter_step = spec_.is_matrix ? 1 : depth_, channel_step = spec_.is_matrix ? filters_ : taps;
  zeros_.resize(offsets_.size(), 0);
  bool has_zeros = false;
  for (std::int64_t first = 0; first < filters_; first += kByteColumns) {
    const std::int64_t some = std::min(kByteColumns, filters_ - first);
    std::int8_t* panel = to + first * quads_ * 4;
    std::int32_t sums[kByteColumns] = {};
    for (std::int64_t c = 0; c < channels_; ++c)
      for (std::int64_t tap = 0; tap < taps; ++tap) {
        const std::uint8_t* from = weights + first * filter_step + c * channel_step + tap;
        const std::int64_t k = tap * channels_ + c;
        for (std::int64_t f = 0; f < some; ++f) {
          const auto w = static_cast<std::int8_t>(from[f * filter_step] ^ turn);
          panel[(k / 4 * kByteColumns + f) * 4 + k % 4] = w;
          sums[f] += w;
        }
      }
    for (std::int64_t f = 0; f < some; ++f) {
      const auto at = static_cast<std::size_t>(first + f);
      zeros_[at] = spec_.weight_zeros[spec_.weight_zeros.size() == 1 ? 0 : at] - (turn ? 128 : 0);
      has_zeros |= zeros_[at] != 0;
      offsets_[at] += unsigned_zero() * (static_cast<std::int32_t>(depth_) * zeros_[at] - sums[f]);
    }
  }
  if (!has_zeros) zeros_.clear();
}

void ByteConvolution::pack_taps(const std::uint8_t* weights, DType type) {
  const std::int64_t taps = height_ * width_, pairs = (taps + 1) / 2;
  taps_.resize(offsets_.size() * static_cast<std::size_t>(2 * pairs), 0);
  for (std::int64_t c = 0; c < filters_ * repeats_; ++c) {
    const std::int64_t filter = c % filters_;
    const auto at = static_cast<std::size_t>(c), from = static_cast<std::size_t>(filter);
    const std::int32_t zero = spec_.weight_zeros[spec_.weight_zeros.size() == 1 ? 0 : from];
    factors_[at] = spec_.factors[from];
    offsets_[at] = spec_.bias.empty() ? 0 : spec_.bias[from];
    std::int32_t sum = 0;
    for (std::int64_t tap = 0; tap < taps; ++tap) {
      const std::uint8_t byte = weights[filter * taps + tap];
      const std::int32_t w = (type == DType::i8 ? static_cast<std::int8_t>(byte) : byte) - zero;
      const std::int64_t pair = c / kByteColumns * pairs + tap / 2;
      taps_[static_cast<std::size_t>((pair * kByteColumns + c % kByteColumns) * 2 + tap % 2)] =
          static_cast<std::int16_t>(w);
      sum += w;
    }
    offsets_[at] -= unsigned_zero() * sum;
  }
}

Dims ByteConvolution::output_dims(const Dims& x) const {
  if (x.size() != 4 || x[3] != channels_)
    throw Error(Code::bad_shape, "the input does not have the channels of the weights");
  Dims out = {x[0], 0, 0, filters_};
  for (std::size_t i = 0; i < 2; ++i) {
    const std::int64_t reach = spec_.dilations[i] * ((i ? width_ : height_) - 1) + 1;
    const std::int64_t left = x[i + 1] + spec_.pads_begin[i] + spec_.pads_end[i] - reach;
    if (left < 0) throw Error(Code::bad_shape, "the kernel is larger than the padded input");
    out[i + 1] = left / spec_.strides[i] + 1;
  }
  return out;
}

/// Rows are there as they are needed.
bool ByteConvolution::is_read_in_place() const {
  const Dims none = {0, 0};
  return !spec_.is_depthwise && height_ * width_ == 1 && channels_ % 4 == 0 && zeros_.empty() &&
         spec_.strides == Dims{1, 1} && spec_.pads_begin == none && spec_.pads_end == none;
}

std::int64_t ByteConvolution::room_size(const Dims& x) const {
  if (is_read_in_place() && !flip()) return 0;
  const std::int64_t height = x[1] + spec_.pads_begin[0] + spec_.pads_end[0];
  const std::int64_t width = x[2] + spec_.pads_begin[1] + spec_.pads_end[1];
  return x[0] * height * width * channels_ + kByteSlack;
}

/// Padding is the zero point.
void ByteConvolution::pad(const std::byte* x, const Dims& dims, std::uint8_t* to, ThreadPool& pool) const {
  const std::int64_t top = spec_.pads_begin[0], height = top + dims[1] + spec_.pads_end[0], line = dims[2] * channels_;
  const std::int64_t left = spec_.pads_begin[1] * channels_, right = spec_.pads_end[1] * channels_;
  const std::int64_t wide = left + line + right;
  const auto fill = [&](std::uint8_t* from, std::int64_t n) {
    std::memset(from, unsigned_zero(), static_cast<std::size_t>(n));
  };
  fill(to + dims[0] * height * wide, kByteSlack);
  constexpr std::int64_t kGrain = 1 << 16;
  pool.parallel_for(dims[0] * height, std::max<std::int64_t>(1, kGrain / std::max<std::int64_t>(1, wide)),
                    [&](std::int64_t begin, std::int64_t end) {
                      for (std::int64_t i = begin; i < end; ++i) {
                        const std::int64_t y = i % height - top;
                        std::uint8_t* row = to + i * wide;
                        if (y < 0 || y >= dims[1]) {
                          fill(row, wide);
                          continue;
                        }
                        fill(row, left);
                        copy_flipped(x + (i / height * dims[1] + y) * line, line, flip(), row + left);
                        fill(row + left + line, right);
                      }
                    });
}

void ByteConvolution::run(const std::byte* x, const Dims& dims, std::byte* y, std::byte* room, ThreadPool& pool,
                          const Budget& budget) const {
  const Dims out = output_dims(dims);
  Image image{reinterpret_cast<const std::uint8_t*>(x), y, dims[0], 0, 0, out[1], out[2]};
  image.height = dims[1] + spec_.pads_begin[0] + spec_.pads_end[0];
  image.width = dims[2] + spec_.pads_begin[1] + spec_.pads_end[1];
  if (room_size(dims) > 0) {
    auto* padded = reinterpret_cast<std::uint8_t*>(room);
    pad(x, dims, padded, pool);
    image.x = padded;
  }
  if (!spec_.is_depthwise) return run_dense(image, pool, budget);
  const std::int64_t rows = out[0] * out[1];
  const std::int64_t work = std::max<std::int64_t>(1, out[2] * channels_ * height_ * width_);
  pool.parallel_for(rows, std::max<std::int64_t>(1, (1 << 18) / work), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t row = begin; row < end; ++row) {
      budget.poll();
      slide_row(image, row);
    }
  });
}

ByteScaling ByteConvolution::scaling() const {
  return {offsets_.data(), factors_.data(), zeros_.empty() ? nullptr : zeros_.data(), spec_.y_zero, spec_.low,
          spec_.high,      spec_.y_type};
}

void ByteConvolution::run_dense(const Image& image, ThreadPool& pool, const Budget& budget) const {
  const std::int64_t plane = image.out_height * image.out_width, all = image.batch * plane;
  const std::int64_t rows = std::clamp<std::int64_t>(kRowBytes / (4 * quads_) / 12 * 12, 12, kMostRows);
  const std::int64_t across = (all + rows - 1) / rows, down = (panels_ + kPiecePanels - 1) / kPiecePanels;
  const double multiplications = static_cast<double>(all) * static_cast<double>(depth_ * filters_);
  const std::int64_t pieces = across * down;
  pool.parallel_for(pieces, multiplications < kSmall ? pieces : 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      budget.poll();
      const std::int64_t first = i / down * rows, panel = i % down * kPiecePanels;
      run_piece(image, first, std::min(rows, all - first), panel, std::min(panels_, panel + kPiecePanels));
    }
  });
}

void ByteConvolution::run_piece(const Image& image, std::int64_t first, std::int64_t count, std::int64_t panel,
                                std::int64_t panel_end) const {
  std::int32_t row_sums[kMostRows];
  const std::uint8_t* rows = image.x + first * channels_;
  if (!is_read_in_place()) {
    auto* gathered =
        reinterpret_cast<std::uint8_t*>(room<0>(static_cast<std::size_t>(count * 4 * quads_ + kByteSlack)));
    gather_piece(image, first, count, gathered, row_sums);
    rows = gathered;
  }
  auto* sums = reinterpret_cast<std::int32_t*>(
      room<1>(static_cast<std::size_t>(count * kBytePanels * kByteColumns) * sizeof(std::int32_t)));
  const std::int64_t panel_size = quads_ * kByteColumns * 4;
  const ByteScaling whole = scaling();
  for (; panel < panel_end; panel += kBytePanels) {
    const std::int64_t panels = std::min(kBytePanels, panel_end - panel), column = panel * kByteColumns;
    multiply({rows, 4 * quads_, count, reinterpret_cast<const std::int8_t*>(packed_.get()) + panel * panel_size,
              panel_size, panels, quads_, sums},
             math_);
    ByteScaling part = whole;
    part.offsets += column;
    part.factors += column;
    if (part.weight_zeros) part.weight_zeros += column;
    scale_rows(part, sums, panels * kByteColumns, row_sums, count, std::min(panels * kByteColumns, filters_ - column),
               image.y + first * filters_ + column, filters_);
  }
}

/// What the filters of `count` results from the first meet: taps in order, of each its channels.
void ByteConvolution::gather_piece(const Image& image, std::int64_t first, std::int64_t count, std::uint8_t* rows,
                                   std::int32_t* row_sums) const {
  const std::int64_t plane = image.out_height * image.out_width, line = image.width * channels_;
  const bool is_together = spec_.dilations[1] == 1;
  for (std::int64_t i = 0, some; i < count; i += some) {
    const std::int64_t n = (first + i) / plane, place = (first + i) % plane;
    const std::int64_t row = place / image.out_width, column = place % image.out_width;
    some = std::min(count - i, image.out_width - column);
    ByteGather part{};
    part.x = image.x + (n * image.height + row * spec_.strides[0]) * line + column * spec_.strides[1] * channels_;
    part.step = spec_.strides[1] * channels_;
    part.lines = height_;
    part.line_step = spec_.dilations[0] * line;
    part.runs = is_together ? 1 : width_;
    part.run_step = spec_.dilations[1] * channels_;
    part.run = is_together ? width_ * channels_ : channels_;
    part.rows = rows + i * 4 * quads_;
    part.row_stride = 4 * quads_;
    part.count = some;
    part.row_sums = zeros_.empty() ? nullptr : row_sums + i;
    gather(part);
  }
}

/// A row of results of a depthwise convolution.
void ByteConvolution::slide_row(const Image& image, std::int64_t row) const {
  const std::int64_t taps = height_ * width_, wide = up_to(channels_, kByteColumns), line = image.width * channels_;
  thread_local std::vector<std::int64_t> places;
  places.resize(static_cast<std::size_t>(taps));
  for (std::int64_t tap = 0; tap < taps; ++tap)
    places[static_cast<std::size_t>(tap)] =
        tap / width_ * spec_.dilations[0] * line + tap % width_ * spec_.dilations[1] * channels_;
  // Neighbouring results of few channels lie as one of many does.
  const std::int64_t channels = channels_ * repeats_, step = spec_.strides[1] * channels;
  const std::int64_t all = image.out_width * channels_, most = std::max<std::int64_t>(1, kSlideSums / wide);
  auto* sums = reinterpret_cast<std::int32_t*>(room<1>(static_cast<std::size_t>(most * wide) * sizeof(std::int32_t)));
  const std::int64_t top = row / image.out_height * image.height + row % image.out_height * spec_.strides[0];
  std::byte* const y = image.y + row * all;
  for (std::int64_t done = 0; done < all; done += most * channels) {
    ByteSlide part{};
    part.step = step;
    part.x = image.x + top * line + done / channels * step;
    part.taps = places.data();
    part.tap_count = taps;
    part.channels = channels;
    part.count = std::min(most, (all - done + channels - 1) / channels);
    part.weights = taps_.data();
    part.sums = sums;
    slide(part);
    const std::int64_t whole = std::min(part.count, (all - done) / channels), rest = all - done - whole * channels;
    scale_rows(scaling(), sums, wide, nullptr, whole, channels, y + done, channels);
    if (whole < part.count)
      scale_rows(scaling(), sums + whole * wide, wide, nullptr, 1, rest, y + done + whole * channels, rest);
  }
}

}  // namespace ingot::engine
