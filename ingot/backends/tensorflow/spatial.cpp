// Windows, padding, and one spatial axis as two.
#include "ingot/backends/tensorflow/spatial.h"

namespace ingot::backends::tensorflow {

Ints with_ends(const Ints& spatial, std::int64_t filler) {
  Ints all{filler};
  if (spatial.size() == 1) all.push_back(filler);
  all.insert(all.end(), spatial.begin(), spatial.end());
  all.push_back(filler);
  return all;
}

Ref image_of(NodeOut& n, Ref tensor, std::size_t rank) {
  return rank == 3 ? n.e.add("ExpandDims", {tensor, n.e.index(1)}) : tensor;
}

Ref from_image(NodeOut& n, Ref tensor, std::size_t rank) {
  return rank == 3 ? n.e.add("Squeeze", {tensor}, {{"squeeze_dims", Ints{1}}}) : tensor;
}

bool is_said_same(const NodeOut& n, const Sliding& s) {
  if (!s.is_same(n.shape())) return false;
  if (!n.e.is_tfjs() || s.rank() != 3) return true;
  bool leaves_data = false;
  for (std::size_t i = 0; i < s.rank(); ++i) {
    const Dim& size = n.shape()[i + 1];
    if (!size.is_known()) return true;
    leaves_data |= (size.value() - 1) / s.strides[i] * s.strides[i] + s.extent(i) < size.value();
  }
  return !leaves_data;
}

Ref padded(NodeOut& n, Ref image, const Ints& before, const Ints& after, std::optional<double> value) {
  const Ints low = with_ends(before, 0), high = with_ends(after, 0);
  std::vector<std::int32_t> pads;
  for (std::size_t i = 0; i < low.size(); ++i) {
    pads.push_back(static_cast<std::int32_t>(low[i]));
    pads.push_back(static_cast<std::int32_t>(high[i]));
  }
  const Ref amounts = n.e.constant(Tensor::of<std::int32_t>({static_cast<std::int64_t>(low.size()), 2}, pads));
  if (!value) return n.e.add("Pad", {image, amounts});
  return n.e.add("PadV2", {image, amounts, n.e.scalar(*value, n.e.elem_of(image))});
}

}  // namespace ingot::backends::tensorflow
