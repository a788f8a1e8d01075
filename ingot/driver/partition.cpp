// A model among targets that are named.
#include "ingot/driver/partition.h"

#include "ingot/ir/model.h"
#include "ingot/passes/fit_ir_version.h"
#include "ingot/passes/infer.h"

namespace ingot::driver {

Partition partition(const Model& model, const PartitionRequest& request) {
  Model typed = model.clone();
  passes::take_defaults_for_constants(typed);
  passes::InferOptions tolerant;
  tolerant.tolerate_errors = true;
  tolerant.budget = request.budget;
  passes::infer(typed, tolerant);
  passes::PartitionOptions options;
  options.least_nodes = request.least_nodes;
  for (const std::string& name : request.targets) options.targets.push_back(find_target(name, typed, request.budget));
  return passes::partition(typed, options);
}

}  // namespace ingot::driver
