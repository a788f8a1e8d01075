#pragma once
#include <memory>
#include <vector>

#include "ingot/engine/element_step.h"
#include "ingot/engine/kernels/winograd.h"

namespace ingot::engine {

/// How a filter lies along the only axis.
struct RowFilter {
  std::int64_t size = 1, stride = 1, dilation = 1, pad = 0;
};

/// A 1 x 1 convolution of stride 1, or one of any filter along one axis, on blocked floats: products of matrices whose
/// operands stay in blocks, the same for rows of any length. It is shared out by positions too, where channels are too
/// few to be shared out.
class Pointwise {
 public:
  /// `weights` as ONNX has them, [out, in, 1, ...] or [out, in, size]; `factor`, if not empty, multiplies those of each
  /// output channel.
  Pointwise(Tensor weights, std::vector<float> factor, const RowFilter& filter = {});
  ~Pointwise();

  /// So many images, and positions in each of them before and after.
  struct Sizes {
    std::int64_t images, in, out;
  };
  /// Where an epilogue's bias does not fill blocks, zeros follow it. The functions are applied to the result, one after
  /// the other.
  void run(const float* x, const Sizes& sizes, float* y, const BlockedEpilogue& epilogue,
           const std::vector<ElementStep>& functions, ThreadPool& pool, const Budget& budget) const;

 private:
  struct State;
  void prepare(ThreadPool& pool, const Budget& budget) const;
  std::unique_ptr<State> state_;
};

}  // namespace ingot::engine
