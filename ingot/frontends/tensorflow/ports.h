#pragma once
#include <vector>

#include "ingot/frontends/notes.h"
#include "ingot/frontends/tensorflow/body.h"
#include "ingot/frontends/tensorflow/import.h"

namespace ingot::frontends::tensorflow {

/// Where a graph begins and ends.
struct Ports {
  std::vector<Port> inputs, outputs;
  bool are_found = false;  // the outputs: nobody named them
};

/// As the user or a signature says; else the graph's sinks and whatever they depend on that is fed.
Ports find_ports(const Body& main, const ImportOptions& options, Notes& notes);

/// Nodes whose value nobody reads, apart from those that save, log, initialise or train.
std::vector<Port> find_sinks(const Body& main);

/// The nodes between the inputs and the outputs.
std::vector<std::int32_t> reachable(const Body& main, const Ports& ports);

}  // namespace ingot::frontends::tensorflow
