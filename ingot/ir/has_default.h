#pragma once
#include "ingot/ir/graph.h"

namespace ingot {

/// A value is stored under its name: an initializer, or, of an input, what is taken where nothing is given.
inline bool has_default(const Value& value) { return value.initializer || value.sparse_initializer; }

}  // namespace ingot
