// Windows, padding, and one spatial axis as two.
#include "ingot/backends/tflite/spatial.h"

#include <algorithm>

namespace ingot::backends::tflite {

using Op = BuiltinOperator;

Sliding sliding(const Node& node, const Ints& kernel) {
  Sliding s;
  s.kernel = kernel;
  s.strides = node.attributes.ints_or("strides", Ints(s.rank(), 1));
  s.dilations = node.attributes.ints_or("dilations", Ints(s.rank(), 1));
  const Ints pads = node.attributes.ints_or("pads", Ints(2 * s.rank(), 0));
  s.before.assign(pads.begin(), pads.begin() + static_cast<std::ptrdiff_t>(s.rank()));
  s.after.assign(pads.begin() + static_cast<std::ptrdiff_t>(s.rank()), pads.end());
  const std::string auto_pad = node.attributes.string_or("auto_pad", "NOTSET");
  const Shape& x = *node.input(0)->type.shape;
  const Shape& y = *node.output(0)->type.shape;
  if (auto_pad == "VALID") s.before = s.after = Ints(s.rank(), 0);
  if (auto_pad == "SAME_UPPER") s.same_upper = true;
  const bool is_same = auto_pad.starts_with("SAME");
  const bool ceils = node.attributes.int_or("ceil_mode", 0) != 0;
  for (std::size_t i = 0; i < s.rank(); ++i) {
    const Dim &in = x[i + 1], &out = y[i + 1];
    if (!is_same && !ceils) continue;
    if (!in.is_known() || !out.is_known()) {
      s.is_known = s.is_known && s.same_upper && !ceils;
      continue;
    }
    const std::int64_t total = (out.value() - 1) * s.strides[i] + s.extent(i) - in.value();
    if (is_same) {
      const ops::Padding padding = ops::split_padding(total, s.same_upper);
      s.before[i] = padding.before;
      s.after[i] = padding.after;
    } else {
      // The last window may reach further.
      s.after[i] = std::max(s.after[i], std::max<std::int64_t>(total, 0) - s.before[i]);
    }
  }
  return s;
}

bool Sliding::is_valid() const {
  const auto is_zero = [](std::int64_t p) { return p == 0; };
  return !same_upper && std::ranges::all_of(before, is_zero) && std::ranges::all_of(after, is_zero);
}

bool Sliding::is_same(const Shape& x) const {
  if (same_upper) return true;
  for (std::size_t i = 0; i < rank(); ++i) {
    const Dim& size = x[i + 1];
    if (strides[i] != 1 && !size.is_known()) return false;
    const ops::Padding padding = strides[i] == 1 ? ops::split_padding(extent(i) - 1) : same(i, size.value());
    if (padding != ops::Padding{before[i], after[i]}) return false;
  }
  return true;
}

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
