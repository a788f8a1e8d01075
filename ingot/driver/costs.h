#pragma once
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "ingot/driver/options.h"
#include "ingot/ir/opaque_model.h"

namespace ingot::driver {

/// What one node costs, from shapes alone; nothing: a shape is not known.
struct NodeCost {
  std::string node, op, output;              // output: its type
  std::optional<double> operations;          // arithmetic: a multiplication and an addition are two
  std::uint64_t weights = 0;                 // bytes of constants that it alone reads, or reads first
  std::optional<std::uint64_t> activations;  // bytes of its outputs
  std::size_t place = 0;           // of the model's node that it is, or that calls the function which it is from
  std::vector<NodeCost> bodies{};  // nodes of its graphs, in their order: of one run of each
};

struct Costs {
  std::vector<NodeCost> nodes;  // in the order in which they run
  double operations = 0;
  std::uint64_t weights = 0, activations = 0;
  /// The most bytes of values that are alive at one time, inputs included and weights not.
  std::uint64_t peak = 0;
  std::string peak_node;
  std::size_t unknown = 0;  // nodes of which a shape is not known, or that hold graphs
};

/// Products and convolutions are counted exactly, reductions and pools by what they read, other arithmetic by the
/// elements that it makes; what only moves elements counts nothing. Functions are counted node by node. What graphs
/// inside of nodes cost is told of their nodes and not part of the sums: nobody knows how often they run.
Costs costs_of(const Model& model, const InputShapes& shapes = {});

/// NodeCost::place of the nodes of the model's graph and of those inside.
std::unordered_map<const Node*, std::size_t> places_of(const Model& model);

}  // namespace ingot::driver
