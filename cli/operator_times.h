#pragma once
#include <string>
#include <vector>

#include "ingot/base/json.h"
#include "ingot/driver/trace.h"

namespace ingot::cli {

/// Writes a trace for chrome://tracing.
void write_trace(const engine::Profile& profile, const std::string& path);

/// Shows the slowest nodes and operators. Times of `runs` runs, of which the mean is shown; `what` says so.
void print_profile(const std::vector<driver::NodeTime>& nodes, std::size_t runs, const std::string& what);
Json profile_json(const std::vector<driver::NodeTime>& nodes);

}  // namespace ingot::cli
