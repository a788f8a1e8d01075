#pragma once
#include <string>

#include "ingot/ir/array.h"

namespace ingot::verify {

/// One element as people write it: the shortest decimal that means the same number, strings in quotes.
std::string element_text(const Array& array, std::int64_t index);

/// "[1,0,3]": where an element stands.
std::string position_text(const Dims& dims, std::int64_t index);

}  // namespace ingot::verify
