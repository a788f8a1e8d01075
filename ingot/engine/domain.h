#pragma once
#include <string_view>

namespace ingot::engine {

/// Operators that only the plan of a session has.
inline constexpr std::string_view kEngineDomain = "ingot.engine";

}  // namespace ingot::engine
