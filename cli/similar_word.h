#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace ingot::cli {

/// Of the words known, the one that was probably meant; empty: none is near.
std::string similar_word(std::string_view word, const std::vector<std::string>& known);

}  // namespace ingot::cli
