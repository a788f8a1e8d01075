#pragma once
#include "ingot/backends/tensorflow/operators.h"
#include "ingot/ops/nn/static_window.h"

namespace ingot::backends::tensorflow {

/// How a window slides over the spatial axes of data with channels last, all sizes as numbers where they are known.
struct Sliding : ops::StaticWindow {
  Ints before, after;       // explicit padding; of no use with same_upper over sizes that are not known
  bool same_upper = false;  // asked for by that name

  /// The padding is what TensorFlow calls SAME.
  bool is_same(const Shape& x) const;
  bool is_valid() const;
};
Sliding sliding(const Node& node, const Ints& kernel);

/// One number per axis of the data, batch and channels too; one spatial axis counts as two.
Ints with_ends(const Ints& spatial, std::int64_t filler = 1);

/// Data of one spatial axis as of two, and back.
Ref image_of(NodeOut& n, Ref tensor, std::size_t rank);
Ref from_image(NodeOut& n, Ref tensor, std::size_t rank);
/// With this around it: zeros, or where a value is given, that.
Ref padded(NodeOut& n, Ref image, const Ints& before, const Ints& after, std::optional<double> value);

}  // namespace ingot::backends::tensorflow
