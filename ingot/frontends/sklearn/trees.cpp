// Trees, forests and their sums.
#include "ingot/base/error.h"
#include "ingot/formats/boosting/model.h"
#include "ingot/frontends/boosting/ensemble.h"
#include "ingot/frontends/sklearn/estimators.h"
#include "ingot/frontends/sklearn/tree_reader.h"

namespace ingot::frontends::sklearn {
namespace {

using formats::boosting::Tree;
using formats::boosting::TreeNode;
using Rule = TreeNode::Rule;

/// Rows of probabilities from counts.
void normalise(Tree& tree, std::size_t outputs) {
  for (TreeNode& node : tree.nodes) {
    if (node.rule != Rule::leaf) continue;
    const std::size_t classes = node.values.size() / outputs;
    for (std::size_t o = 0; o < outputs; ++o) {
      double sum = 0;
      for (std::size_t k = 0; k < classes; ++k) sum += node.values[o * classes + k];
      for (std::size_t k = 0; k < classes && sum != 0; ++k) node.values[o * classes + k] /= sum;
    }
  }
}

/// Trees see floats, and then compare with doubles.
Value* as_trees_see(Context& c, const Columns& x) { return c.g.cast(c.g.cast(c.numbers(x), DType::f32), c.elem); }

/// A tree's own, or those of a forest.
std::vector<Estimator> grown_trees(const Estimator& e) {
  if (e.has("tree_")) return {e.child("tree_")};
  std::vector<Estimator> trees;
  for (const Estimator& one : e.list("estimators_")) trees.push_back(one.child("tree_"));
  return trees;
}

std::vector<Tree> trees_of(const Estimator& e) {
  std::vector<Tree> trees;
  for (const Estimator& tree : grown_trees(e)) trees.push_back(read_tree(tree));
  return trees;
}

struct Mean {
  Value* value;
  std::size_t width;
};

/// Of the leaves that rows reach, which are counts of classes where there are outputs to tell apart.
Mean mean_of_trees(Context& c, const Columns& x, const Estimator& e, std::optional<std::size_t> outputs) {
  boosting::TreeSums sums(c.elem);
  const auto grown = grown_trees(e);
  reserve(sums, grown);
  for (const Estimator& one : grown) {
    Tree tree = read_tree(one);
    if (outputs) normalise(tree, *outputs);
    sums.add(tree);
  }
  const auto width = static_cast<std::int64_t>(sums.width());
  Value* sum = sums.finish(c.g, as_trees_see(c, x), width);
  return {sums.count() == 1 ? sum : c.g.div(sum, static_cast<double>(sums.count())), sums.width()};
}

/// Which nodes lie on the way to each leaf, a digit each.
void add_paths(const Tree& tree, std::vector<std::string>& paths) {
  struct Open {
    std::size_t node;
    std::string path;
  };
  const std::size_t first = paths.size();
  paths.resize(first + tree.nodes.size());
  std::vector<Open> open = {{0, std::string(tree.nodes.size(), '0')}};
  while (!open.empty()) {
    Open at = std::move(open.back());
    open.pop_back();
    at.path[at.node] = '1';
    const TreeNode& node = tree.nodes[at.node];
    if (node.rule == Rule::leaf) {
      paths[first + at.node] = std::move(at.path);
      continue;
    }
    open.push_back({static_cast<std::size_t>(node.yes), at.path});
    open.push_back({static_cast<std::size_t>(node.no), std::move(at.path)});
  }
}

/// The path of each row in each tree; null where it is not asked for.
Value* decision_paths(Context& c, const Columns& x, const Estimator& e) {
  if (!c.wants_paths) return nullptr;
  const std::vector<Tree> trees = trees_of(e);
  constexpr std::size_t kMostDigits = std::size_t{1} << 28;
  std::size_t digits = 0;
  for (const Tree& tree : trees) digits += tree.nodes.size() * tree.nodes.size();
  if (digits > kMostDigits) refuse("its paths would take more than 256 MB", "leave --decision-path out");
  std::vector<std::string> paths;
  std::vector<std::int64_t> starts;
  for (const Tree& tree : trees) {
    starts.push_back(std::ssize(paths));
    add_paths(tree, paths);
  }
  Value* leaves = boosting::tree_leaves(c.g, as_trees_see(c, x), trees);
  Value* places = c.g.add(leaves, c.g.constant(Tensor::ints(starts).reshaped({1, std::ssize(starts)})));
  const Dims dims = {std::ssize(paths)};
  return c.g.op("Gather", {c.g.constant(Tensor::of_strings(dims, std::move(paths))), places}, {{"axis", 0}});
}

/// Classes of one output, or of several.
}  // namespace

std::vector<Labels> classes_by_output(const Estimator& e, std::size_t outputs) {
  if (outputs == 1) return {e.labels("classes_")};
  std::vector<Labels> all;
  for (const Estimator& one : e.list("classes_")) all.push_back(e.to_labels(one.value()));
  if (all.size() != outputs) throw Error(Code::bad_source_graph, "the outputs do not have classes each");
  return all;
}

Result tree_regressor(Context& c, const Estimator& e, const Columns& x) {
  return {.values = mean_of_trees(c, x, e, std::nullopt).value, .paths = decision_paths(c, x, e)};
}

Result tree_classifier(Context& c, const Estimator& e, const Columns& x) {
  const auto outputs = static_cast<std::size_t>(e.integer("n_outputs_", 1));
  if (outputs < 1 || outputs > 10'000) refuse("it has no outputs");
  const Mean mean = mean_of_trees(c, x, e, outputs);
  Value* all = mean.value;
  const std::size_t width = mean.width / outputs;
  const auto classes = classes_by_output(e, outputs);
  Result result = outputs == 1 ? from_probabilities(c, all, classes[0]) : several_outputs(c, all, classes, width);
  result.paths = decision_paths(c, x, e);
  return result;
}

std::vector<double> tree_importances(const Estimator& e) {
  std::vector<Estimator> trees;
  if (e.has("tree_"))
    trees = {e};
  else if (e.name().starts_with("RandomForest") || e.name().starts_with("ExtraTrees"))
    trees = e.list("estimators_");
  std::vector<double> mean;
  for (const Estimator& one : trees) {
    const auto own = read_importances(one.child("tree_"), static_cast<std::size_t>(e.feature_count().value_or(0)));
    mean.resize(own.size());
    for (std::size_t i = 0; i < own.size(); ++i) mean[i] += own[i] / static_cast<double>(trees.size());
  }
  return mean;
}

Result several_outputs(Context& c, Value* all, const std::vector<Labels>& classes, std::size_t width) {
  Result result;
  Values labels;
  for (std::size_t o = 0; o < classes.size(); ++o) {
    const auto begin = static_cast<std::int64_t>(o * width), count = static_cast<std::int64_t>(classes[o].size());
    Value* p = c.g.op("Slice", {all, c.g.ints({begin}), c.g.ints({begin + count}), c.g.ints({1})});
    const Result one = from_probabilities(c, p, classes[o]);
    labels.push_back(c.g.unsqueeze(c.label_of(one), {1}));
    if (o == 0)
      result.probabilities = p;
    else
      result.more_probabilities.push_back(p);
  }
  result.label = c.g.concat(labels, 1);
  return result;
}

Columns leaf_embedding(Context& c, const Estimator& e, const Columns& x) {
  const auto trees = trees_of(e);
  Value* leaves = boosting::tree_leaves(c.g, as_trees_see(c, x), trees);
  return one_hot_columns(c, e.child("one_hot_encoder_"), c.columns_of(c.g.cast(leaves, c.elem)));
}

/// The mean depth at which rows are alone, and what it means for as many samples.
Result isolation_forest(Context& c, const Estimator& e, const Columns& x) {
  const auto estimators = e.list("estimators_");
  std::vector<Tree> trees;
  const auto chosen = e.has("estimators_features_") ? e.list("estimators_features_") : std::vector<Estimator>();
  for (std::size_t i = 0; i < estimators.size(); ++i) {
    Tree tree = read_isolation_tree(estimators[i].child("tree_"));
    const auto features = i < chosen.size() ? e.doubles(chosen[i].value()) : std::vector<double>();
    for (TreeNode& node : tree.nodes)
      if (node.rule != Rule::leaf && !features.empty())
        node.feature = static_cast<std::int32_t>(features.at(static_cast<std::size_t>(node.feature)));
    trees.push_back(std::move(tree));
  }
  Value* depth = boosting::tree_sums(c.g, as_trees_see(c, x), trees, 1);
  const double samples = *e.number_in(e.get_any({"_max_samples", "max_samples_"}));
  const double whole = static_cast<double>(trees.size()) * mean_path_length(samples);
  Value* power = whole != 0 ? c.g.div(depth, -whole) : c.g.mul(depth, 0.0);
  Value* scores = c.g.neg(c.g.op("Pow", {c.number(2), power}));
  return outlier_result(c, c.g.sub(scores, e.number("offset_", -0.5)));
}

Result outlier_result(Context& c, Value* decision) {
  Result result;
  result.scores = decision;
  Value* is_inlier = c.g.op("GreaterOrEqual", {decision, c.g.scalar(0, decision->type.elem)});
  Value* sign = c.g.where(is_inlier, c.g.index(1), c.g.index(-1));
  result.label = c.g.squeeze(sign, {1});
  return result;
}

}  // namespace ingot::frontends::sklearn
