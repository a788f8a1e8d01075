// From the sums of boosted trees to predictions.
#include <algorithm>
#include <cmath>
#include <limits>

#include "ingot/base/error.h"
#include "ingot/frontends/boosting/ensemble.h"
#include "ingot/frontends/boosting/prediction.h"

namespace ingot::frontends::boosting {
namespace {

using formats::boosting::Link;
using formats::boosting::Tree;

Value* row(GraphBuilder& g, const std::vector<double>& values, DType elem) {
  const Dims dims = {1, std::ssize(values)};
  if (elem == DType::f64) return g.constant(Tensor::of<double>(dims, values));
  return g.constant(Tensor::of<float>(dims, std::vector<float>(values.begin(), values.end())));
}

std::span<const Tree> used_trees(const formats::boosting::Model& model) {
  const std::span<const Tree> all = model.trees;
  if (model.best_rounds <= 0) return all;
  const auto rounds = static_cast<std::size_t>(model.best_rounds);
  std::size_t count = rounds * static_cast<std::size_t>(model.groups);
  if (!model.round_ends.empty()) count = rounds <= model.round_ends.size() ? model.round_ends[rounds - 1] : all.size();
  return all.first(std::min(count, all.size()));
}

/// LightGBM may take zeros for missing: they become NaN, for the features of which that holds.
Value* zeros_missing(GraphBuilder& g, Value* x, const formats::boosting::Model& model) {
  if (model.zero_is_missing.empty()) return x;
  std::vector<double> widths(static_cast<std::size_t>(model.features), -1);
  for (const std::int64_t feature : model.zero_is_missing) widths[static_cast<std::size_t>(feature)] = 1e-35f;
  Value* is_zero = g.op("LessOrEqual", {g.op("Abs", {x}), row(g, widths, x->type.elem)});
  return g.where(is_zero, g.scalar(std::numeric_limits<double>::quiet_NaN(), x->type.elem), x);
}

/// Libraries cut categories to whole numbers: by features that trees ask for members of sets.
Value* whole_categories(GraphBuilder& g, Value* x, const formats::boosting::Model& model, std::span<const Tree> trees) {
  std::vector<double> is_category(static_cast<std::size_t>(model.features));
  for (const Tree& tree : trees)
    for (const formats::boosting::TreeNode& node : tree.nodes)
      if (node.rule == formats::boosting::TreeNode::Rule::member)
        is_category[static_cast<std::size_t>(node.feature)] = 1;
  if (std::ranges::find(is_category, 1) == is_category.end()) return x;
  Value* whole = model.cuts_to_zero ? g.mul(g.op("Sign", {x}), g.op("Floor", {g.op("Abs", {x})})) : g.op("Floor", {x});
  Value* here = g.cast(row(g, is_category, x->type.elem), DType::boolean);
  return g.where(here, whole, x);
}

/// [N, trees] of the leaves that rows of x reach, where leaves are sums over the features `raw`.
Value* linear_leaves(GraphBuilder& g, Value* x, Value* raw, const formats::boosting::Model& model,
                     std::span<const Tree> trees) {
  constexpr std::size_t kMostNumbers = std::size_t{1} << 26;
  const auto features = static_cast<std::size_t>(model.features);
  std::vector<std::int64_t> starts;
  std::size_t total = 0;
  for (const Tree& tree : trees) {
    starts.push_back(static_cast<std::int64_t>(total));
    total += tree.nodes.size();
  }
  if (total * (features + 2) > kMostNumbers)
    throw Error(Code::unsupported_setting, "its linear leaves would take more than 512 MB")
        .hint("train with linear_tree=false");
  std::vector<double> slopes(total * features), uses(total * features), constants(total), plain(total);
  std::size_t start = 0;
  for (const Tree& tree : trees) {
    const std::size_t first = tree.nodes.size() - std::min(tree.nodes.size(), tree.linear_leaves.size());
    for (std::size_t i = 0; i < tree.nodes.size(); ++i)
      if (!tree.nodes[i].values.empty() && tree.nodes[i].rule == formats::boosting::TreeNode::Rule::leaf)
        constants[start + i] = plain[start + i] = tree.nodes[i].values[0];
    for (std::size_t i = 0; i < tree.linear_leaves.size(); ++i) {
      const formats::boosting::LinearLeaf& leaf = tree.linear_leaves[i];
      constants[start + first + i] = leaf.constant;
      for (std::size_t k = 0; k < leaf.features.size(); ++k) {
        const std::size_t at = (start + first + i) * features + static_cast<std::size_t>(leaf.features[k]);
        slopes[at] += leaf.slopes[k];
        uses[at] = 1;
      }
    }
    start += tree.nodes.size();
  }
  const DType elem = x->type.elem;
  Value* place = g.add(tree_leaves(g, x, trees), g.constant(Tensor::ints(starts).reshaped({1, std::ssize(starts)})));
  const auto looked_up = [&](const std::vector<double>& table, const Dims& dims) {
    Value* constant = g.constant(row(g, table, elem)->initializer->reshaped(dims));
    return g.op("Gather", {constant, place}, {{"axis", 0}});
  };
  const Dims flat = {static_cast<std::int64_t>(total)}, wide = {flat[0], model.features};
  Value* is_missing = g.op("IsNaN", {raw});
  Value* known = g.unsqueeze(g.where(is_missing, g.scalar(0, elem), raw), {1});
  const auto over_features = [&](Value* table, Value* of) {
    return g.op("ReduceSum", {g.mul(table, of), g.ints({2})}, {{"keepdims", 0}});
  };
  Value* sum = g.add(over_features(looked_up(slopes, wide), known), looked_up(constants, flat));
  Value* gaps = over_features(looked_up(uses, wide), g.unsqueeze(g.cast(is_missing, elem), {1}));
  return g.where(g.op("Greater", {gaps, g.scalar(0, elem)}), looked_up(plain, flat), sum);
}

/// Sums over the trees of each group, [N, groups], from what each tree says.
Value* group_sums(GraphBuilder& g, Value* all, std::span<const Tree> trees, std::int64_t groups) {
  std::vector<double> belongs(trees.size() * static_cast<std::size_t>(groups));
  for (std::size_t i = 0; i < trees.size(); ++i)
    belongs[i * static_cast<std::size_t>(groups) + static_cast<std::size_t>(trees[i].group)] = 1;
  const Dims dims = {std::ssize(trees), groups};
  return g.op("MatMul", {all, g.constant(row(g, belongs, all->type.elem)->initializer->reshaped(dims))});
}

Value* linear_sums(GraphBuilder& g, Value* x, const formats::boosting::Model& model) {
  const auto features = static_cast<std::size_t>(model.features * model.groups);
  const std::vector<double> weights(model.weights.begin(),
                                    model.weights.begin() + static_cast<std::ptrdiff_t>(features)),
      bias(model.weights.begin() + static_cast<std::ptrdiff_t>(features), model.weights.end());
  Value* matrix = g.constant(row(g, weights, x->type.elem)->initializer->reshaped({model.features, model.groups}));
  // XGBoost leaves missing features out.
  Value* known = g.where(g.op("IsNaN", {x}), g.scalar(0, x->type.elem), x);
  return g.add(g.op("MatMul", {known, matrix}), row(g, bias, x->type.elem));
}

Value* sums(GraphBuilder& g, Value* x, const formats::boosting::Model& model) {
  if (!model.weights.empty()) return linear_sums(g, x, model);
  const auto trees = used_trees(model);
  // A model that learnt nothing is its base score.
  if (trees.empty()) return g.mul(g.reduce_sum(g.where(g.op("IsNaN", {x}), g.scalar(0, x->type.elem), x), {1}), 0.0);
  Value* seen = whole_categories(g, zeros_missing(g, x, model), model, trees);
  const bool is_linear = std::ranges::any_of(trees, [](const Tree& tree) { return !tree.linear_leaves.empty(); });
  Value* sum = is_linear ? group_sums(g, linear_leaves(g, seen, x, model, trees), trees, model.groups)
                         : tree_sums(g, seen, trees, model.groups);
  if (model.is_average) sum = g.div(sum, static_cast<double>(trees.size()) / static_cast<double>(model.groups));
  return model.scale == 1 ? sum : g.mul(sum, model.scale);
}

Value* softplus(GraphBuilder& g, Value* x) {
  if (x->type.elem == DType::f32) return g.op("Softplus", {x});
  // ONNX Runtime has no Softplus of doubles.
  Value* power = g.op("Exp", {g.neg(g.op("Abs", {x}))});
  return g.add(g.op("Relu", {x}), g.op("Log", {g.add(power, 1.0)}));
}

/// y0 = s0, y1 = y0 + softplus(s1), ...
Value* accumulated(GraphBuilder& g, Value* scores, std::int64_t groups) {
  Value* first = g.op("Slice", {scores, g.ints({0}), g.ints({1}), g.ints({1})});
  Value* rest = g.op("Slice", {scores, g.ints({1}), g.ints({groups}), g.ints({1})});
  return g.op("CumSum", {g.concat({first, softplus(g, rest)}, 1), g.index(1)});
}

Value* linked(GraphBuilder& g, Value* scores, const formats::boosting::Model& model) {
  switch (model.link) {
    case Link::identity:
      return scores;
    case Link::sigmoid:
    case Link::sigmoids:
      return g.op("Sigmoid", {model.slope == 1 ? scores : g.mul(scores, model.slope)});
    case Link::softmax:
      return g.op("Softmax", {scores}, {{"axis", 1}});
    case Link::exponential:
      return g.op("Exp", {scores});
    case Link::square:
      return g.mul(scores, g.op("Abs", {scores}));
    case Link::log1p_exp:
      return softplus(g, scores);
    case Link::is_positive:
      return g.cast(g.op("Greater", {scores, g.scalar(0, scores->type.elem)}), scores->type.elem);
    case Link::cumulative_softplus:
      return accumulated(g, scores, model.groups);
  }
  return scores;
}

void classify(GraphBuilder& g, const formats::boosting::Model& model, Prediction& made) {
  Value* linked_scores = linked(g, made.scores, model);
  const auto is_likely = [&] { return g.op("Greater", {linked_scores, g.scalar(0.5, linked_scores->type.elem)}); };
  const bool is_each_alone = model.link == Link::sigmoid || model.link == Link::is_positive;
  if (model.groups > 1 && is_each_alone) {
    made.probabilities = linked_scores;
    made.labels = g.cast(is_likely(), DType::i64);
    return;
  }
  if (model.groups > 1) {
    made.probabilities = linked_scores;
    made.place = g.op("ArgMax", {made.probabilities}, {{"axis", 1}, {"keepdims", 0}});
    return;
  }
  made.probabilities = g.concat({g.sub(1.0, linked_scores), linked_scores}, 1);
  made.place = g.squeeze(g.cast(is_likely(), DType::i64), {1});
}

}  // namespace

Prediction predict(GraphBuilder& g, Value* x, const formats::boosting::Model& model, bool is_single) {
  const DType elem = model.is_single || is_single ? DType::f32 : DType::f64;
  if (model.rounds_features && elem == DType::f64) x = g.cast(x, DType::f32);
  x = g.cast(x, elem);
  Prediction made;
  made.scores = sums(g, x, model);
  bool has_base = false;
  for (const double base : model.base) has_base |= base != 0;
  if (has_base) made.scores = g.add(made.scores, row(g, model.base, elem));
  if (model.is_classifier)
    classify(g, model, made);
  else
    made.values = linked(g, made.scores, model);
  return made;
}

}  // namespace ingot::frontends::boosting
