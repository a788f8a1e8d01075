#pragma once
#include <string>
#include <vector>

#include "ingot/engine/profile.h"

namespace ingot::driver {

/// The profile in the Trace Event Format, which chrome://tracing and Perfetto show.
std::string chrome_trace(const engine::Profile& profile);

/// Time by operator and kernel, the most expensive first; a node's time is without that of its subgraphs.
struct OperatorTime {
  std::string op, kernel;
  std::size_t calls = 0;
  double microseconds = 0;
};
std::vector<OperatorTime> slowest_operators(const engine::Profile& profile);

}  // namespace ingot::driver
