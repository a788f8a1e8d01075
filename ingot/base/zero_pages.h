#pragma once
#include "ingot/base/bytes.h"

namespace ingot {

/// So many zeros, which take no memory unless they are read.
Bytes zero_pages(std::size_t size);

}  // namespace ingot
