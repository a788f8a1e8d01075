#pragma once
#include <memory>
#include <vector>

#include "ingot/engine/dnnl/convolution.h"
#include "ingot/engine/kernels/winograd.h"

namespace ingot::engine {

/// A convolution of each channel for itself, along one axis or two, on floats in blocks.
class Depthwise {
 public:
  /// Whether the layer is of that kind, and faster here than in the library. That has kernels for filters of two axes,
  /// but functions of the results, such as a Swish, are applied when these have left the cache.
  static bool is_for(const ConvolutionSpec& spec, const Dims& weights);

  /// `weights` as ONNX has them, [channels, 1, kernel...]; of the specification it takes what says where filters lie.
  Depthwise(const ConvolutionSpec& spec, const Tensor& weights);

  /// `dims` and `out` are [N, C, spatial...].
  void run(const float* x, const Dims& dims, float* y, const Dims& out, const BlockedEpilogue& epilogue,
           const std::vector<ElementStep>& functions, ThreadPool& pool, const Budget& budget) const;

 private:
  /// One axis: how a filter lies along it.
  struct Axis {
    std::int64_t kernel = 1, stride = 1, dilation = 1, pad = 0;
  };
  Axis down_, across_;
  std::vector<float> weights_;  // [channels / 8, kernel..., 8]
};

}  // namespace ingot::engine
