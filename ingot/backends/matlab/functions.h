#pragma once
#include <set>
#include <string>

namespace ingot::backends::matlab {

/// The text of local functions, with those that they call.
std::string local_functions(const std::set<std::string>& names);

}  // namespace ingot::backends::matlab
