#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace ingot {

/// Of the words known, the one that was probably meant, whatever the case of its letters; empty: none is near.
std::string similar_word(std::string_view word, const std::vector<std::string>& known);

}  // namespace ingot
