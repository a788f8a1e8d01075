#pragma once
#include <memory>

#include "ingot/engine/dnnl/convolution.h"
#include "ingot/engine/kernels/winograd.h"

namespace ingot::engine {

/// A convolution of each channel for itself, along one axis or two, on floats in blocks, for CPUs with registers of
/// sixteen floats: two neighbouring positions of a block fill one. Filters lie one or two positions apart.
class DepthwisePairs {
 public:
  /// Whether the layer is of that kind. Whether the CPU is, DirectConvolution::has_registers() tells.
  static bool is_for(const ConvolutionSpec& spec, const Dims& weights);

  /// Whether it is faster than the library for planes of any size, and for one of so many results. Where much is read
  /// for few sums, memory sets the pace, and a copy costs time.
  static bool is_always_faster(const ConvolutionSpec& spec, const Dims& weights);
  bool is_faster(std::int64_t plane) const;

  /// `weights` as ONNX has them, [channels, 1, kernel...].
  DepthwisePairs(ConvolutionSpec spec, const Tensor& weights);

  /// `dims` and `out` are [N, C, spatial...]. Where an epilogue's bias does not fill blocks, zeros follow it.
  void run(const float* x, const Dims& dims, float* y, const Dims& out, const BlockedEpilogue& epilogue,
           ThreadPool& pool, const Budget& budget) const;

 private:
  /// One axis: how a filter lies along it.
  struct Axis {
    std::int64_t kernel = 1, stride = 1, dilation = 1, pad = 0;
  };
  struct Segment;
  struct Image;
  std::vector<Segment> segments_of(std::int64_t width, std::int64_t out_width) const;
  void run_strip(const Image& image, std::int64_t plane, std::int64_t first, std::int64_t count, const float* x,
                 float* y, const BlockedEpilogue& epilogue) const;

  ConvolutionSpec spec_;
  bool is_always_faster_;
  Axis down_, across_;
  std::int64_t blocks_, columns_;       // pairs of weights in a row of a filter
  std::shared_ptr<std::byte> weights_;  // [block, row, pair, 16]
};

}  // namespace ingot::engine
