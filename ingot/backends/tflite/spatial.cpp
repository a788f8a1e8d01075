// Windows, padding, and one spatial axis as two.
#include "ingot/backends/tflite/spatial.h"

namespace ingot::backends::tflite {

using Op = BuiltinOperator;

Image image_of(NodeOut& n, std::int32_t tensor, const Shape& shape) {
  if (shape.size() != 3) return {tensor, shape};
  Shape full = shape;
  full.insert(full.begin() + 1, Dim(1));
  const std::int32_t axis = n.e.index(1), out = n.e.temporary(n.elem(), full);
  n.e.add(Op::EXPAND_DIMS, {tensor, axis}, {out});
  return {out, full};
}

Image padded(NodeOut& n, const Image& image, const Ints& before, const Ints& after, std::optional<double> value) {
  const std::size_t spatial = image.shape.size() - 2, extra = spatial - before.size();
  std::vector<std::int32_t> pads(2 * image.shape.size(), 0);
  Shape shape = image.shape;
  for (std::size_t i = 0; i < before.size(); ++i) {
    const std::size_t axis = 1 + extra + i;
    pads[2 * axis] = static_cast<std::int32_t>(before[i]);
    pads[2 * axis + 1] = static_cast<std::int32_t>(after[i]);
    shape[axis] = shape[axis] + before[i] + after[i];
  }
  const std::int32_t amounts =
      n.e.constant(Tensor::of<std::int32_t>({static_cast<std::int64_t>(shape.size()), 2}, pads));
  const std::int32_t out = n.e.temporary(n.elem(), shape);
  if (value) {
    const std::int32_t filling = n.e.scalar(*value, n.elem());
    n.e.add(Op::PADV2, {image.tensor, amounts, filling}, {out});
  } else {
    n.e.add(Op::PAD, {image.tensor, amounts}, {out});
  }
  return {out, shape};
}

ImageResult::ImageResult(NodeOut& n) : n_(n), shape_(n.out_shape()) {
  if (shape_.size() != 3) {
    tensor_ = n.out();
    return;
  }
  shape_.insert(shape_.begin() + 1, Dim(1));
  tensor_ = n.e.temporary(n.node.output(0)->type.elem, shape_);
}

void ImageResult::finish() {
  if (n_.out_shape().size() != 3) return;
  Options options(Op::SQUEEZE);
  options.set("squeeze_dims", Ints{1});
  n_.e.add(Op::SQUEEZE, {tensor_}, {n_.out()}, options);
}

}  // namespace ingot::backends::tflite
