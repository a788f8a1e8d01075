#pragma once
#include "ingot/backends/channels_last.h"
#include "ingot/backends/tensorflow/operators.h"

namespace ingot::backends::tensorflow {

/// One number per axis of the data, batch and channels too; one spatial axis counts as two.
Ints with_ends(const Ints& spatial, std::int64_t filler = 1);

/// Data of one spatial axis as of two, and back.
Ref image_of(NodeOut& n, Ref tensor, std::size_t rank);
Ref from_image(NodeOut& n, Ref tensor, std::size_t rank);
/// Whether a window's padding is SAME by that name. Over three axes TF.js takes less than nothing where strides leave
/// data behind the last window: there it is written out.
bool is_said_same(const NodeOut& n, const Sliding& s);
/// With this around it: zeros, or where a value is given, that.
Ref padded(NodeOut& n, Ref image, const Ints& before, const Ints& after, std::optional<double> value);

}  // namespace ingot::backends::tensorflow
