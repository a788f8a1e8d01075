#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ingot/ir/opaque_model.h"

namespace ingot {

class Budget;

struct PartitionOptions {
  std::vector<std::string> targets{};  // names or files (docs/partition.md): the first that runs a node gets it
  std::size_t least_nodes = 1;         // parts of fewer nodes go to the next target that runs all of them
  bool wants_functions = false;        // DividedModel::functions too
  Budget* budget = nullptr;
};

struct ModelPart {
  std::string name, target;
  std::size_t nodes = 0;
  Model model;
};
/// A node that a target before its own does not run, and why.
struct NodeFallback {
  std::string node, op, target, part, code, reason, remedy;
};
struct DividedModel {
  std::vector<ModelPart> parts;         // in running order
  std::vector<NodeFallback> fallbacks;  // in running order
  std::uint64_t crossing_bytes = 0;     // what passes from part to part
  std::size_t crossing_values = 0;
  std::optional<Model> functions{};  // the whole model, a function per part; where it was asked for
};

/// Divides a model among targets. Refuses nodes that none of them runs.
DividedModel partition(const Model& model, const PartitionOptions& options);

/// The targets that have a name.
std::vector<std::string> known_targets();

}  // namespace ingot
