#pragma once
#include "ingot/ops/walk.h"

namespace ingot::ops {

/// What Slice, Expand or Tile makes of its input: elements in the order of a walk over it, whose axes are joined, from
/// an offset on.
struct Move {
  Dims dims;
  Walk walk;
  std::int64_t offset = 0;
};
Move read_slice(KernelContext& c);
Move read_expand(KernelContext& c);
Move read_tile(KernelContext& c);

/// The sizes of the parts that Split makes of an axis.
std::vector<std::int64_t> read_split(KernelContext& c, std::int64_t whole);

}  // namespace ingot::ops
