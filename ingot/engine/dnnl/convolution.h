#pragma once
#include <memory>

#include "ingot/engine/element_step.h"
#include "ingot/ir/array.h"

namespace ingot {
class Budget;
class ThreadPool;
}  // namespace ingot

namespace ingot::engine {

/// Channels stand in blocks of this many innermost: [N, C / 8, spatial..., 8].
inline constexpr std::int64_t kBlock = 8;

/// How many sizes of inputs one primitive is kept ready for.
inline constexpr std::size_t kMostSizes = 64;

/// Whether a window is one that people use: for huge ones the library has loops that nothing can interrupt.
inline bool has_usual_window(const Dims& weights) {
  constexpr std::int64_t kMostTaps = 1 << 14;
  return tensor_size(Dims(weights.begin() + 2, weights.end())) <= kMostTaps;
}

struct ConvolutionSpec {
  Dims strides, dilations, pads_begin, pads_end;  // per spatial axis
  std::int64_t groups = 1;
  std::vector<float> factor;  // of the weights of each output channel; empty: 1
  std::vector<float> bias;    // empty: none
  bool has_residual = false;  // added before the limits
  bool has_limits = false;    // the result is clamped to [low, high]
  float low = 0, high = 0;
  std::vector<ElementStep> functions;  // applied to the result
  bool input_is_blocked = false, output_is_blocked = false;
  bool has_gaps = false;  // zeros among the weights stand for nothing: what meets them need not be multiplied
};

/// A convolution of floats with constant weights, for inputs of any size. The weights are packed by the first run; then
/// the pages of the file that holds them are given back. Channels that do not fill blocks are counted with the zeros
/// that fill them.
class Convolution {
 public:
  /// `weights` as ONNX has them: [out, in / groups, kernel...].
  Convolution(ConvolutionSpec spec, Tensor weights);
  ~Convolution();

  /// Lets the weights go: from now on it only tells dimensions.
  void forget_weights();

  /// The input's dimensions without blocks: [N, C, spatial...].
  Dims output_dims(const Dims& input) const;
  void run(const float* x, const Dims& dims, const float* residual, float* y, ThreadPool& pool,
           const Budget& budget) const;

 private:
  struct Ready;
  struct State;
  std::shared_ptr<const Ready> ready_for(const Dims& image, ThreadPool& pool) const;
  std::unique_ptr<State> state_;
};

enum class Pooling { max, average, average_with_padding };

struct PoolingSpec {
  Pooling kind = Pooling::max;
  Dims kernel, strides, dilations, pads_begin, pads_end;
};

/// Pools of blocked floats.
class PoolingWindow {
 public:
  explicit PoolingWindow(PoolingSpec spec);
  ~PoolingWindow();
  Dims output_dims(const Dims& input) const;
  void run(const float* x, const Dims& dims, float* y, ThreadPool& pool, const Budget& budget) const;

 private:
  struct Ready;
  struct State;
  std::shared_ptr<const Ready> ready_for(const Dims& image) const;
  std::unique_ptr<State> state_;
};

}  // namespace ingot::engine
