#pragma once
#include <string>
#include <vector>

#include "ingot/base/json.h"
#include "ingot/driver/trace.h"

namespace ingot::cli {

/// Writes a trace for chrome://tracing.
void write_trace(const engine::Profile& profile, const std::string& path);

/// Shows the slowest nodes and operators: times are those of one run, the mean of `runs`.
void print_profile(const std::vector<driver::NodeTime>& nodes, std::size_t runs);
Json profile_json(const std::vector<driver::NodeTime>& nodes, std::size_t runs);

}  // namespace ingot::cli
