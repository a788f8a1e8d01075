// TreeEnsemble: sums, means or extremes of the leaves that an example reaches in many trees.
#include <algorithm>
#include <cmath>

#include "ingot/base/error.h"
#include "ingot/ops/catalog.h"
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

using Ints = std::vector<std::int64_t>;

/// The attributes as they are: branches may be shared between trees, and may ask whether a number is in a set.
struct Branches {
  static constexpr std::int64_t kMember = 6;

  std::vector<double> splits, weights;
  Ints modes, features, yes, no, yes_leafs, no_leafs, missing, targets, roots;
  std::vector<std::vector<double>> sets;  // of the branches of mode kMember, sorted
  std::vector<std::size_t> set_of;        // by branch

  explicit Branches(const KernelContext& c) {
    const auto numbers = [&](const char* name) {
      const auto* tensor = c.node.attributes.get<Tensor>(name);
      if (!tensor) c.fail("attribute '" + std::string(name) + "' is missing");
      return tensor;
    };
    splits = numbers("nodes_splits")->to_doubles();
    weights = numbers("leaf_weights")->to_doubles();
    modes = numbers("nodes_modes")->to_ints();
    targets = c.attr_ints("leaf_targetids");
    roots = c.attr_ints("tree_roots");
    missing = c.attr_ints("nodes_missing_value_tracks_true");
    if (missing.empty()) missing.assign(splits.size(), 0);
    for (const auto& [list, name] : {std::pair(&features, "nodes_featureids"), std::pair(&yes, "nodes_truenodeids"),
                                     std::pair(&no, "nodes_falsenodeids"), std::pair(&yes_leafs, "nodes_trueleafs"),
                                     std::pair(&no_leafs, "nodes_falseleafs")})
      *list = c.attr_ints(name);
    for (const Ints* list : {&modes, &features, &yes, &no, &yes_leafs, &no_leafs, &missing})
      if (list->size() != splits.size()) c.fail("the attributes of the nodes differ in length");
    if (targets.size() != weights.size()) c.fail("the attributes of the leaves differ in length");
    read_sets(c);
  }

  /// Each branch of mode kMember has a set of its own, in their order; NaN ends a set.
  void read_sets(const KernelContext& c) {
    const auto* tensor = c.node.attributes.get<Tensor>("membership_values");
    const auto members = tensor ? tensor->to_doubles() : std::vector<double>();
    std::size_t next = 0;
    set_of.resize(modes.size());
    for (std::size_t i = 0; i < modes.size(); ++i) {
      if (modes[i] < 0 || modes[i] > kMember) c.fail("attribute 'nodes_modes' is out of range");
      if (modes[i] != kMember) continue;
      std::vector<double> set;
      for (; next < members.size() && !std::isnan(members[next]); ++next) set.push_back(members[next]);
      ++next;
      std::ranges::sort(set);
      set_of[i] = sets.size();
      sets.push_back(std::move(set));
    }
  }

  bool is_true(const KernelContext& c, std::size_t i, std::span<const double> row) const {
    if (features[i] < 0 || features[i] >= std::ssize(row)) c.fail("a branch asks for a feature that does not exist");
    const double x = row[static_cast<std::size_t>(features[i])];
    if (modes[i] != kMember) return goes_true(static_cast<std::size_t>(modes[i]), x, splits[i], missing[i] != 0);
    return std::isnan(x) ? missing[i] != 0 : std::ranges::binary_search(sets[set_of[i]], x);
  }

  /// The leaf that an example reaches from a root.
  std::size_t leaf(const KernelContext& c, std::int64_t root, std::span<const double> row) const {
    std::int64_t at = root;
    // A way longer than all branches goes round in circles.
    for (std::size_t step = 0; step < splits.size(); ++step) {
      if (at < 0 || at >= std::ssize(splits)) c.fail("a branch leads to a node that does not exist");
      const auto i = static_cast<std::size_t>(at);
      const bool is_yes = is_true(c, i, row);
      at = is_yes ? yes[i] : no[i];
      if ((is_yes ? yes_leafs[i] : no_leafs[i]) == 0) continue;
      if (at < 0 || at >= std::ssize(targets)) c.fail("a branch leads to a leaf that does not exist");
      return static_cast<std::size_t>(at);
    }
    c.fail("the nodes form no trees");
  }
};

void run(KernelContext& c) {
  if (c.in(0).rank() != 2) c.fail("the input must have shape [N, C]");
  const Examples x = Examples::of(c);
  const Branches trees(c);
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
      const std::size_t leaf = trees.leaf(c, root, x.row(n));
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
