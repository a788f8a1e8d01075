#pragma once
#include <string>

#include "ingot/ir/model.h"

namespace ingot {

/// Whether both say the same: every name, order, link, type, attribute, weight and note. What inference knows beyond
/// the file (known_ints) does not count. On false `first_difference`, if given, names the place and both sides.
bool equal(const Model& a, const Model& b, std::string* first_difference = nullptr);
/// What graphs inside of nodes take from around them is the same if it has the same name.
bool equal(const Graph& a, const Graph& b, std::string* first_difference = nullptr);

}  // namespace ingot
