#pragma once
#include <cstdint>

namespace ingot {

/// The most bytes of memory that this program has held at once.
std::uint64_t peak_memory();

}  // namespace ingot
