// Dividing models without the passes' own headers.
#include "ingot/api/partition.h"

#include "ingot/driver/partition.h"

namespace ingot {

DividedModel partition(const Model& model, const PartitionOptions& options) {
  driver::Partition divided = driver::partition(model, {options.targets, options.least_nodes, options.budget});
  DividedModel result;
  if (options.wants_functions) result.functions = driver::as_functions(model, divided);
  result.crossing_bytes = divided.crossing;
  result.crossing_values = divided.crossings;
  for (const auto& node : divided.nodes)
    for (const auto& [target, why] : node.refusals)
      result.fallbacks.push_back(
          {node.node, node.op, target, divided.parts[node.part].name, why.code, why.reason, why.remedy});
  for (auto& part : divided.parts) result.parts.push_back({part.name, part.target, part.nodes, std::move(part.model)});
  return result;
}

std::vector<std::string> known_targets() { return driver::known_targets(); }

}  // namespace ingot
