#pragma once
#include <string>
#include <vector>

#include "ingot/driver/targets.h"

namespace ingot::driver {

using passes::Partition;
using passes::PartitionNode;
using passes::PartitionPart;

struct PartitionRequest {
  std::vector<std::string> targets;  // names or files, the first that runs a node gets it
  std::size_t least_nodes = 1;
  Budget* budget = nullptr;
};

/// Divides a model among targets: see passes/partition/partition.h.
Partition partition(const Model& model, const PartitionRequest& request);
/// One model of what partition() made of it, its parts as functions.
Model as_functions(const Model& model, const Partition& partition);

}  // namespace ingot::driver
