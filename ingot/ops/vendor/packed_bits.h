#pragma once
#include "ingot/ops/builder.h"

namespace ingot::ops {

/// Bytes that hold elements of 2 or 4 bits, lowest bits first, as a byte for each element: the last axis grows.
/// 8 bits: as they are. The rank must be known.
Value* unpacked(GraphBuilder& g, Value* bytes, std::int64_t bits);

}  // namespace ingot::ops
