#pragma once
#include <vector>

#include "ingot/engine/kernels/byte_tiles.h"
#include "ingot/engine/pages.h"
#include "ingot/ir/array.h"
#include "ingot/ir/tensor.h"

namespace ingot {
class Budget;
class ThreadPool;
}  // namespace ingot

namespace ingot::engine {

/// A convolution of bytes as QLinearConv does it: sums in int32, then scaled, rounded and limited.
struct ByteSpec {
  Dims strides, dilations, pads_begin, pads_end;  // of height and width
  bool is_depthwise = false;                      // one filter per channel, else one group
  bool is_matrix = false;                         // the weights: [channels, filters]
  DType x_type = DType::u8, y_type = DType::u8;
  std::int32_t x_zero = 0;
  std::vector<std::int32_t> weight_zeros;  // one, or one per filter
  std::vector<std::int32_t> bias;          // one per filter, or none
  std::vector<float> factors;              // one per filter
  float y_zero = 0, low = 0, high = 255;   // the limits in integers of the result
};

/// On channels last: [N, H, W, C]. The bits do not depend on the threads, nor on the way of multiplying.
class ByteConvolution {
 public:
  /// `weights`: [filters, channels, height, width], or a matrix, of i8 or u8.
  ByteConvolution(ByteSpec spec, const Tensor& weights, ByteMath math);
  Dims output_dims(const Dims& x) const;
  std::int64_t channels() const { return channels_; }
  std::int64_t filters() const { return filters_; }
  /// Bytes that a run on an input of these sizes needs for itself.
  std::int64_t room_size(const Dims& x) const;
  void run(const std::byte* x, const Dims& dims, std::byte* y, std::byte* room, ThreadPool& pool,
           const Budget& budget) const;

 private:
  struct Image;
  void pack_panels(const std::uint8_t* weights, DType type);
  void pack_taps(const std::uint8_t* weights, DType type);
  bool is_read_in_place() const;
  void pad(const std::byte* x, const Dims& dims, std::uint8_t* to, ThreadPool& pool) const;
  void run_dense(const Image& image, ThreadPool& pool, const Budget& budget) const;
  void run_piece(const Image& image, std::int64_t first, std::int64_t count, std::int64_t panel,
                 std::int64_t panel_end) const;
  void gather_piece(const Image& image, std::int64_t first, std::int64_t count, std::uint8_t* rows,
                    std::int32_t* row_sums) const;
  void slide_row(const Image& image, std::int64_t row) const;
  ByteScaling scaling() const;
  /// What makes the input's bytes unsigned.
  std::uint8_t flip() const { return spec_.x_type == DType::i8 ? 0x80 : 0; }
  std::int32_t unsigned_zero() const { return spec_.x_zero + (flip() ? 128 : 0); }

  ByteSpec spec_;
  ByteMath math_;
  std::int64_t filters_, channels_, height_, width_;
  std::int64_t depth_ = 0, quads_ = 0, panels_ = 0;
  std::int64_t repeats_ = 1;  // of few channels in a group of columns
  std::shared_ptr<std::byte> packed_;
  std::vector<std::int16_t> taps_;  // depthwise
  std::vector<std::int32_t> offsets_, zeros_;
  std::vector<float> factors_;
};

}  // namespace ingot::engine
