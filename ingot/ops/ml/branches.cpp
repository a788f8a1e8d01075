// What the attributes of TreeEnsemble say.
#include "ingot/ops/ml/branches.h"

#include <algorithm>
#include <cmath>

#include "ingot/base/error.h"

namespace ingot::ops {
namespace {

[[noreturn]] void refuse(std::string message) { throw Error(Code::bad_attribute, std::move(message)); }

const Tensor& numbers(const Attributes& attributes, const char* name) {
  const auto* tensor = attributes.get<Tensor>(name);
  if (!tensor) refuse("attribute '" + std::string(name) + "' is missing");
  return *tensor;
}

}  // namespace

Branches::Branches(const Attributes& attributes) {
  splits = numbers(attributes, "nodes_splits").to_doubles();
  weights = numbers(attributes, "leaf_weights").to_doubles();
  modes = numbers(attributes, "nodes_modes").to_ints();
  targets = attributes.ints_or("leaf_targetids", {});
  roots = attributes.ints_or("tree_roots", {});
  missing = attributes.ints_or("nodes_missing_value_tracks_true", {});
  if (missing.empty()) missing.assign(splits.size(), 0);
  features = attributes.ints_or("nodes_featureids", {});
  yes = attributes.ints_or("nodes_truenodeids", {});
  no = attributes.ints_or("nodes_falsenodeids", {});
  yes_leafs = attributes.ints_or("nodes_trueleafs", {});
  no_leafs = attributes.ints_or("nodes_falseleafs", {});
  for (const Ints* list : {&modes, &features, &yes, &no, &yes_leafs, &no_leafs, &missing})
    if (list->size() != splits.size()) refuse("the attributes of the nodes differ in length");
  if (targets.size() != weights.size()) refuse("the attributes of the leaves differ in length");
  read_sets(attributes);
}

/// Each branch of mode kMember has a set of its own, in their order; NaN ends a set.
void Branches::read_sets(const Attributes& attributes) {
  const auto* tensor = attributes.get<Tensor>("membership_values");
  const auto members = tensor ? tensor->to_doubles() : std::vector<double>();
  std::size_t next = 0;
  set_of.resize(modes.size());
  for (std::size_t i = 0; i < modes.size(); ++i) {
    if (modes[i] < 0 || modes[i] > kMember) refuse("attribute 'nodes_modes' is out of range");
    if (modes[i] != kMember) continue;
    std::vector<double> set;
    for (; next < members.size() && !std::isnan(members[next]); ++next) set.push_back(members[next]);
    ++next;
    std::ranges::sort(set);
    set_of[i] = sets.size();
    sets.push_back(std::move(set));
  }
}

}  // namespace ingot::ops
