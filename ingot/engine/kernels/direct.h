#pragma once
#include <memory>

#include "ingot/engine/dnnl/convolution.h"
#include "ingot/engine/kernels/winograd.h"

namespace ingot::engine {

/// A convolution of any filter whose results are in blocks, as plain sums: some positions of 16, 32 or 64 channels in
/// registers. It is made for CPUs with 32 registers of sixteen floats, for which the library wants blocks of sixteen;
/// two blocks of eight fill such a register as well.
class DirectConvolution {
 public:
  /// Whether this CPU has such registers. Without them it is right, and slow.
  static bool has_registers();
  /// Whether the layer is of that kind: not each channel for itself, results in blocks, groups that fill blocks.
  static bool is_for(const ConvolutionSpec& spec, const Dims& weights);

  /// `weights` as ONNX has them, [out, in / groups, kernel...]; they are packed by the first run.
  DirectConvolution(ConvolutionSpec spec, Tensor weights);
  ~DirectConvolution();

  /// `dims` and `out` are [N, C, spatial...] with the channels that fill blocks. Where an epilogue's bias does not fill
  /// blocks, zeros follow it.
  void run(const float* x, const Dims& dims, float* y, const Dims& out, const BlockedEpilogue& epilogue,
           ThreadPool& pool, const Budget& budget) const;

 private:
  struct State;
  struct Layout;
  /// Where a piece of work begins. `group` counts those of all images.
  struct Piece {
    std::int64_t group, slice, row, column, reg;
  };
  void prepare(ThreadPool& pool, const Budget& budget) const;
  void run_piece(const Layout& l, const Piece& at, const float* x, float* y, const BlockedEpilogue& epilogue,
                 const Budget& budget) const;
  void apply_functions(const Layout& l, const Piece& at, std::int64_t row_end, std::int64_t blocks, float* y) const;
  std::unique_ptr<State> state_;
};

}  // namespace ingot::engine
