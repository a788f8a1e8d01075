#pragma once
#include <string>

#include "ingot/driver/trace.h"

namespace ingot::cli {

/// Writes a trace, and unless `is_quiet` shows which operators took the most time.
void report_profile(const engine::Profile& profile, const std::string& path, bool is_quiet);

}  // namespace ingot::cli
