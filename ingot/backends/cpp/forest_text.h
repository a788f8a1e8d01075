#pragma once
#include <string_view>

namespace ingot::backends::cpp {

/// Sums of the votes of trees. What $ stands for: matrix.h.
extern const std::string_view kForest;

}  // namespace ingot::backends::cpp
