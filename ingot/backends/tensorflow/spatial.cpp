// Windows, padding, and one spatial axis as two.
#include "ingot/backends/tensorflow/spatial.h"

#include <algorithm>

namespace ingot::backends::tensorflow {

Sliding sliding(const Node& node, const Ints& kernel) {
  Sliding s;
  s.kernel = kernel;
  s.strides = node.attributes.ints_or("strides", Ints(s.rank(), 1));
  s.dilations = node.attributes.ints_or("dilations", Ints(s.rank(), 1));
  const Ints pads = node.attributes.ints_or("pads", Ints(2 * s.rank(), 0));
  s.before.assign(pads.begin(), pads.begin() + static_cast<std::ptrdiff_t>(s.rank()));
  s.after.assign(pads.begin() + static_cast<std::ptrdiff_t>(s.rank()), pads.end());
  const std::string auto_pad = node.attributes.string_or("auto_pad", "NOTSET");
  const Shape &x = *node.input(0)->type.shape, &y = *node.output(0)->type.shape;
  if (auto_pad == "VALID") s.before = s.after = Ints(s.rank(), 0);
  s.same_upper = auto_pad == "SAME_UPPER";
  const bool is_same = auto_pad.starts_with("SAME"), ceils = node.attributes.int_or("ceil_mode", 0) != 0;
  for (std::size_t i = 0; i < s.rank() && (is_same || ceils); ++i) {
    const Dim &in = x[i + 1], &out = y[i + 1];
    if (!in.is_known() || !out.is_known()) continue;
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
