#pragma once
#include <memory>
#include <vector>

#include "ingot/ir/tensor.h"

namespace ingot {
class Budget;
class ThreadPool;
}  // namespace ingot

namespace ingot::engine {

/// What happens to a convolution's result on its way to memory.
struct BlockedEpilogue {
  const float* bias = nullptr;      // one per channel
  const float* residual = nullptr;  // of the result's shape
  float low, high;
  BlockedEpilogue();
};

/// A 3 x 3 convolution of stride 1 on blocked floats by Winograd's algorithm, which makes 4 x 4 results of 6 x 6 inputs
/// with 36 multiplications instead of 144. Its rounding errors are some ten times those of the plain sum: up to about
/// 1e-5 of the largest result.
class Winograd {
 public:
  /// Whether it is faster for such layers; channels must fill blocks.
  static bool is_for(std::int64_t in_channels, std::int64_t out_channels, std::int64_t out_height,
                     std::int64_t out_width);

  /// `weights` as ONNX has them, [out, in, 3, 3]; `factor`, if not empty, multiplies those of each output channel.
  Winograd(Tensor weights, std::vector<float> factor);
  ~Winograd();

  struct Image {
    std::int64_t height, width, top, left, out_height, out_width;  // top, left: padding
  };
  /// One image; `room` holds room_size() floats.
  void run(const float* x, const Image& image, float* y, const BlockedEpilogue& epilogue, float* room, ThreadPool& pool,
           const Budget& budget) const;
  std::int64_t room_size(const Image& image) const;

 private:
  struct State;
  void prepare(ThreadPool& pool, const Budget& budget) const;
  std::unique_ptr<State> state_;
};

}  // namespace ingot::engine
