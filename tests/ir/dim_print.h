#pragma once

#include <ostream>

#include "ingot/ir/dim.h"

namespace ingot {

/// GoogleTest shows dimensions as they are spelt.
inline void PrintTo(const Dim& d, std::ostream* out) { *out << (d.is_unknown() ? "unknown" : d.str()); }

}  // namespace ingot
