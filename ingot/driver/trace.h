#pragma once
#include <string>
#include <vector>

#include "ingot/engine/profile.h"

namespace ingot::driver {

/// The profile in the Trace Event Format, which chrome://tracing and Perfetto show.
std::string chrome_trace(const engine::Profile& profile);

/// Times of one node over all of a profile; its own, without those of the nodes in its subgraphs.
struct NodeTime {
  std::string node, op, kernel;
  std::string outputs;  // their types; of calls that differ, the last one's
  std::size_t calls = 0;
  double microseconds = 0;
};
/// The most expensive first.
std::vector<NodeTime> node_times(const engine::Profile& profile);

/// The same by operator and kernel.
struct OperatorTime {
  std::string op, kernel;
  std::size_t calls = 0;
  double microseconds = 0;
};
std::vector<OperatorTime> slowest_operators(const std::vector<NodeTime>& nodes);

}  // namespace ingot::driver
