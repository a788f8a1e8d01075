#pragma once
#include <atomic>
#include <cstddef>
#include <string>
#include <unordered_set>

namespace ingot::engine {

/// A value that an output replaces from run to run, such as a weight in a training step.
struct Update {
  std::string input, output;
  bool must_be_finite = false;
};

/// Leave to write the results of a session's updates over what they replace, for one run, and what became of it.
struct InPlace {
  std::unordered_set<const std::byte*> memory;  // where arrays begin that may be written over
  bool was_refused = false;  // what the updates read was not finite: nothing was written, their outputs are absent
  std::atomic<bool> is_finite = true;  // the results that must be
};

}  // namespace ingot::engine
