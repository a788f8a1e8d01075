#pragma once
#include "ingot/ops/kernel.h"

namespace ingot::ops {

/// What a Pad makes of its input: for each axis of the result the positions its elements come from (int64, -1: none),
/// and the element that stands where there is none. No maps where the result has no elements.
struct Padding {
  Dims dims;
  std::vector<Array> maps;
  Array fill;
};
Padding read_padding(KernelContext& c);

}  // namespace ingot::ops
