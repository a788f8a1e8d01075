#pragma once
#include "ingot/engine/dnnl/trained_convolution.h"

namespace ingot::engine {

/// Convolutions of plain images with plain weights, and their gradients, as products of matrices of which the one that
/// holds the windows is never whole in memory: without reordering, and, since parts are chosen by the sizes alone, with
/// the same bits for any number of threads.
class ImageProduct {
 public:
  enum class Pass { forward, to_input, to_weights };
  /// Whether it can do a pass (two spatial axes, one group, no negative padding), and faster than oneDNN's own layouts:
  /// for these the weights are reordered in every run, which small images do not repay, and the weights' gradients of
  /// several parts are added.
  static bool is_for(const ConvolutionShape& shape, Pass pass);

  using Host = TrainedConvolution::Host;
  /// `bias` may be null; results are kept within the limits.
  static void forward(const ConvolutionShape& shape, const float* x, const float* w, const float* bias, float* y,
                      const Host& host);
  /// d loss / d x from d loss / d y.
  static void to_input(const ConvolutionShape& shape, const float* dy, const float* w, float* dx, const Host& host);
  /// d loss / d w from x and d loss / d y.
  static void to_weights(const ConvolutionShape& shape, const float* x, const float* dy, float* dw, const Host& host);
};

}  // namespace ingot::engine
