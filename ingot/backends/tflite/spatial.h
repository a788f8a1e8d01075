#pragma once
#include "ingot/backends/channels_last.h"
#include "ingot/backends/tflite/operators.h"

namespace ingot::backends::tflite {

/// A tensor that a 2-D operator can take: one spatial axis becomes two.
struct Image {
  std::int32_t tensor;
  Shape shape;  // N, H, W, C or N, D, H, W, C
};
Image image_of(NodeOut& n, std::int32_t tensor, const Shape& shape);
/// With this around it (constant 0 or, for maxima, the lowest number).
Image padded(NodeOut& n, const Image& image, const Ints& before, const Ints& after, std::optional<double> value);

/// The result of a 2-D operator goes to the node's output: straight, or through a reshape if it had one spatial axis.
class ImageResult {
 public:
  explicit ImageResult(NodeOut& n);
  std::int32_t tensor() const { return tensor_; }
  const Shape& shape() const { return shape_; }
  void finish();

 private:
  NodeOut& n_;
  std::int32_t tensor_;
  Shape shape_;
};

}  // namespace ingot::backends::tflite
