#pragma once
#include <chrono>
#include <string>
#include <vector>

namespace ingot::engine {

/// What one node did in a run, in the order in which nodes ended.
struct NodeEvent {
  std::string node, op;
  std::string kernel;   // "reference", or the name of a faster one
  std::string outputs;  // their types
  double start = 0;     // microseconds since the profile began
  double duration = 0;  // microseconds; of a node with subgraphs, theirs too
  int depth = 0;        // of nesting in subgraphs
};

/// Filled by one run at a time.
struct Profile {
  std::chrono::steady_clock::time_point begin = std::chrono::steady_clock::now();
  std::vector<NodeEvent> events;
};

}  // namespace ingot::engine
