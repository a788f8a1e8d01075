// A model among targets that are named.
#include "ingot/driver/partition.h"

#include "ingot/ir/drop_unread.h"
#include "ingot/ir/model.h"
#include "ingot/passes/fit_ir_version.h"
#include "ingot/passes/infer.h"
#include "ingot/passes/store_constants.h"

namespace ingot::driver {

namespace {

Model with_types(const Model& model, Budget* budget) {
  Model typed = model.clone();
  passes::take_defaults_for_constants(typed);
  passes::store_constants(*typed.graph);
  drop_unread(typed);  // a part of such nodes alone would give nothing
  passes::InferOptions tolerant;
  tolerant.tolerate_errors = true;
  tolerant.budget = budget;
  passes::infer(typed, tolerant);
  return typed;
}

}  // namespace

Model as_functions(const Model& model, const Partition& partition) {
  return passes::as_functions(with_types(model, nullptr), partition);
}

Partition partition(const Model& model, const PartitionRequest& request) {
  const Model typed = with_types(model, request.budget);
  passes::PartitionOptions options;
  options.least_nodes = request.least_nodes;
  for (const std::string& name : request.targets) options.targets.push_back(find_target(name, typed, request.budget));
  return passes::partition(typed, options);
}

}  // namespace ingot::driver
