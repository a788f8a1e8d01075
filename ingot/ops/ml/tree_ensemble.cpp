// TreeEnsemble: sums, means or extremes of the leaves that an example reaches in many trees.
#include <algorithm>
#include <cmath>

#include "ingot/base/error.h"
#include "ingot/ops/catalog.h"
#include "ingot/ops/ml/branches.h"
#include "ingot/ops/ml/forest.h"
#include "ingot/ops/ml/rows.h"
#include "ingot/ops/ml/votes.h"
#include "ingot/ops/pace.h"
#include "ingot/ops/steps.h"

namespace ingot::ops {
namespace {

constexpr const char* kAggregates[] = {"AVERAGE", "SUM", "MIN", "MAX"};
constexpr const char* kTransforms[] = {"NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT"};

void infer(InferContext& c) {
  const Attributes& a = c.node().attributes;
  const auto in_range = [&](const char* name, std::int64_t fallback, std::int64_t end) {
    const std::int64_t value = c.attr(name, fallback);
    if (value < 0 || value >= end) c.fail("attribute '" + std::string(name) + "' is out of range");
  };
  in_range("aggregate_function", 1, 4);
  in_range("post_transform", 0, 5);
  for (const char* name : {"nodes_splits", "leaf_weights", "membership_values"})
    if (const auto* tensor = a.get<Tensor>(name))
      if (c.elem(0) != DType::undefined && tensor->dtype() != c.elem(0))
        c.fail("attribute '" + std::string(name) + "' and the input differ in type");
  if (const auto* splits = a.get<Tensor>("nodes_splits"))
    for (const char* name :
         {"nodes_featureids", "nodes_truenodeids", "nodes_falsenodeids", "nodes_trueleafs", "nodes_falseleafs"})
      if (const auto* list = c.attr_ints(name))
        if (static_cast<std::int64_t>(list->size()) != splits->size())
          c.fail("attribute '" + std::string(name) + "' does not have the length of 'nodes_splits'");
  if (const auto* rank = c.shape(0)) c.require(rank->size() == 2, "the input must have shape [N, C]");
  const auto* targets = a.get<std::int64_t>("n_targets");
  if (targets) c.require(*targets >= 1, "attribute 'n_targets' must be positive");
  c.out_shape(0, {c.dim(0, 0), targets ? Dim(*targets) : Dim()});
}

/// The operator of versions 1 to 4, whose output is always float.
Values decompose(DecomposeContext& c) {
  const DType elem = c.elem(0);
  const auto* targets = c.node.attributes.get<std::int64_t>("n_targets");
  const std::int64_t aggregate = c.attr("aggregate_function", std::int64_t{1});
  const std::int64_t transform = c.attr("post_transform", std::int64_t{0});
  if ((elem != DType::f32 && elem != DType::f16) || !targets) return {};
  if (aggregate < 0 || aggregate > 3 || transform < 0 || transform > 4) return {};
  const auto forest = read_ensemble(c.node.attributes);
  if (!forest) return {};
  Attrs attrs = forest_attributes(*forest, "target");
  attrs.push_back({"n_targets", *targets});
  attrs.push_back({"aggregate_function", kAggregates[aggregate]});
  attrs.push_back({"post_transform", kTransforms[transform]});
  Value* y = c.g.op("TreeEnsembleRegressor", {c.g.cast(c.in(0), DType::f32)}, attrs);
  return {c.g.cast(y, elem)};
}

bool is_true(const KernelContext& c, const Branches& trees, std::size_t i, std::span<const double> row) {
  const std::int64_t feature = trees.features[i];
  if (feature < 0 || feature >= std::ssize(row)) c.fail("a branch asks for a feature that does not exist");
  const double x = row[static_cast<std::size_t>(feature)];
  const bool missing = trees.missing[i] != 0;
  if (trees.modes[i] != Branches::kMember)
    return goes_true(static_cast<std::size_t>(trees.modes[i]), x, trees.splits[i], missing);
  return std::isnan(x) ? missing : std::ranges::binary_search(trees.sets[trees.set_of[i]], x);
}

/// The leaf that an example reaches from a root.
std::size_t leaf_of(const KernelContext& c, const Branches& trees, std::int64_t root, std::span<const double> row) {
  std::int64_t at = root;
  // A way longer than all branches goes round in circles.
  for (std::size_t step = 0; step < trees.splits.size(); ++step) {
    if (at < 0 || at >= std::ssize(trees.splits)) c.fail("a branch leads to a node that does not exist");
    const auto i = static_cast<std::size_t>(at);
    const bool is_yes = is_true(c, trees, i, row);
    at = is_yes ? trees.yes[i] : trees.no[i];
    if ((is_yes ? trees.yes_leafs[i] : trees.no_leafs[i]) == 0) continue;
    if (at < 0 || at >= std::ssize(trees.targets)) c.fail("a branch leads to a leaf that does not exist");
    return static_cast<std::size_t>(at);
  }
  c.fail("the nodes form no trees");
}

void run(KernelContext& c) {
  if (c.in(0).rank() != 2) c.fail("the input must have shape [N, C]");
  const Examples x = Examples::of(c);
  const Branches trees(c.node.attributes);
  const std::int64_t targets = c.attr("n_targets", std::int64_t{0});
  const std::int64_t aggregate = c.attr("aggregate_function", std::int64_t{1});
  const std::int64_t transform = c.attr("post_transform", std::int64_t{0});
  if (targets < 1 || aggregate < 0 || aggregate > 3 || transform < 0 || transform > 4)
    c.fail("attribute 'n_targets', 'aggregate_function' or 'post_transform' is out of range");
  Array y = scratch(c, DType::f64, {x.count, targets});
  Ballot ballot(static_cast<std::size_t>(targets), static_cast<Aggregate>(aggregate));
  Pace pace(c.host().budget());
  for (std::int64_t n = 0; n < x.count; ++n) {
    ballot.clear();
    for (const std::int64_t root : trees.roots) {
      const std::size_t leaf = leaf_of(c, trees, root, x.row(n));
      ballot.add(c, trees.targets[leaf], trees.weights[leaf]);
    }
    const auto scores =
        y.mutable_data<double>().subspan(static_cast<std::size_t>(n * targets), static_cast<std::size_t>(targets));
    ballot.finish(scores, trees.roots.size());
    transform_targets(scores, static_cast<PostTransform>(transform));
    pace.step(std::ssize(trees.roots) * 16 + targets);
  }
  put(c, 0, y, c.in(0).dtype());
}

}  // namespace

constinit const OpDef defs::TreeEnsemble = {
    .name = "TreeEnsemble",
    .domain = "ai.onnx.ml",
    .infer = infer,
    .decompose = decompose,
    .kernel = run,
};

}  // namespace ingot::ops
