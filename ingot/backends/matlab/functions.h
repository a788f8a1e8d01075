#pragma once
#include <set>
#include <string>

namespace ingot::backends::matlab {

/// The text of local functions, with those that they call.
std::string local_functions(const std::set<std::string>& names);

/// What variables of generated code cannot be called.
std::set<std::string, std::less<>> taken_words();

}  // namespace ingot::backends::matlab
