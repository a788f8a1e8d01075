#pragma once
#include <memory>
#include <vector>

#include "ingot/engine/element_step.h"
#include "ingot/engine/kernels/winograd.h"

namespace ingot::engine {

/// A 1 x 1 convolution of stride 1 on blocked floats: a product of matrices whose operands stay in blocks. It is shared
/// out by positions too, where channels are too few to be shared out.
class Pointwise {
 public:
  /// `weights` as ONNX has them, [out, in, 1, ...]; `factor`, if not empty, multiplies those of each output channel.
  Pointwise(Tensor weights, std::vector<float> factor);
  ~Pointwise();

  /// `images` of so many positions each. Where an epilogue's bias does not fill blocks, zeros follow it. The functions
  /// are applied to the result, one after the other.
  void run(const float* x, std::int64_t images, std::int64_t positions, float* y, const BlockedEpilogue& epilogue,
           const std::vector<ElementStep>& functions, ThreadPool& pool, const Budget& budget) const;

 private:
  struct State;
  void prepare(ThreadPool& pool, const Budget& budget) const;
  std::unique_ptr<State> state_;
};

}  // namespace ingot::engine
