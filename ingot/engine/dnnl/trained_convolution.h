#pragma once
#include <functional>
#include <memory>

#include "ingot/ir/array.h"

namespace ingot {
class Budget;
class ThreadPool;
}  // namespace ingot

namespace ingot::engine {

/// A convolution of plain floats: y = x * w.
struct ConvolutionShape {
  Dims x, w, y;                                   // [N, C, spatial...], [M, C / groups, kernel...], [N, M, spatial...]
  Dims strides, dilations, pads_begin, pads_end;  // per spatial axis
  std::int64_t groups = 1;
};

/// A convolution whose weights change from run to run, and its gradients. The images are shared out to the threads in
/// parts that do not depend on their number, so that neither do the results.
class TrainedConvolution {
 public:
  TrainedConvolution();
  ~TrainedConvolution();

  /// Who runs it, and where memory comes from.
  struct Host {
    ThreadPool& pool;
    const Budget& budget;
    std::function<Array(std::int64_t floats)> allocate;
  };
  /// `bias` may be null.
  void forward(const ConvolutionShape& shape, const float* x, const float* w, const float* bias, float* y,
               const Host& host) const;
  void to_input(const ConvolutionShape& shape, const float* dy, const float* w, float* dx, const Host& host) const;
  void to_weights(const ConvolutionShape& shape, const float* x, const float* dy, float* dw, const Host& host) const;

 private:
  enum class Pass : std::int64_t { forward, to_input, to_weights };
  struct Ready;
  struct State;
  std::shared_ptr<const Ready> ready_for(Pass pass, const ConvolutionShape& shape, std::int64_t images,
                                         bool has_bias) const;
  std::unique_ptr<State> state_;
};

}  // namespace ingot::engine
