// Trees as scikit-learn keeps them: arrays of structures whose fields changed from version to version.
#include "ingot/frontends/sklearn/tree_reader.h"

#include <cmath>
#include <numbers>

#include "ingot/base/error.h"

namespace ingot::frontends::sklearn {
namespace {

using formats::boosting::Tree;
using formats::boosting::TreeNode;
using Rule = TreeNode::Rule;

[[noreturn]] void bad_tree(const std::string& why) { throw Error(Code::bad_source_graph, "a tree " + why); }

pickle::Array nodes_of(const Estimator& tree) {
  auto nodes = pickle::read_array(tree.document(), *tree.get("nodes"));
  if (!nodes || nodes->dtype.fields.empty()) bad_tree("has no nodes");
  return std::move(*nodes);
}

std::vector<double> field(const Estimator& tree, const pickle::Array& nodes, std::initializer_list<const char*> names) {
  for (const char* name : names)
    if (const auto array = pickle::field_of(nodes, name)) return pickle::to_doubles(tree.document(), *array);
  bad_tree("has nodes without '" + std::string(*names.begin()) + "'");
}

std::vector<double> optional_field(const Estimator& tree, const pickle::Array& nodes, const char* name) {
  const auto array = pickle::field_of(nodes, name);
  return array ? pickle::to_doubles(tree.document(), *array)
               : std::vector<double>(static_cast<std::size_t>(nodes.size()));
}

std::int32_t child(double number, std::size_t count, std::size_t at) {
  // Children stand behind their parent, so that there are no circles.
  if (!(number > static_cast<double>(at)) || number >= static_cast<double>(count))
    bad_tree("leads to a node that does not exist");
  return static_cast<std::int32_t>(number);
}

struct Grown {
  Tree tree;
  std::vector<double> samples;
};

Grown read_shape(const Estimator& tree) {
  const pickle::Array nodes = nodes_of(tree);
  const auto left = field(tree, nodes, {"left_child"}), right = field(tree, nodes, {"right_child"}),
             feature = field(tree, nodes, {"feature"}), threshold = field(tree, nodes, {"threshold"}),
             missing = optional_field(tree, nodes, "missing_go_to_left");
  if (const auto sets = pickle::field_of(nodes, "left_cat_bitset"))
    for (const double word : pickle::to_doubles(tree.document(), *sets))
      if (word != 0) throw Error(Code::unsupported_setting, "a tree splits by categories");
  Grown shape;
  shape.samples = field(tree, nodes, {"n_node_samples"});
  shape.tree.nodes.resize(left.size());
  for (std::size_t i = 0; i < left.size(); ++i) {
    TreeNode& node = shape.tree.nodes[i];
    if (left[i] < 0) continue;
    node.rule = Rule::at_most;
    node.yes = child(left[i], left.size(), i);
    node.no = child(right[i], left.size(), i);
    if (!(feature[i] >= 0) || feature[i] > 1e9) bad_tree("asks for a feature that does not exist");
    node.feature = static_cast<std::int32_t>(feature[i]);
    node.threshold = threshold[i];
    node.missing_goes_yes = missing[i] != 0;
  }
  if (shape.tree.nodes.empty()) bad_tree("has no nodes");
  return shape;
}

}  // namespace

Tree read_tree(const Estimator& tree) {
  Tree made = read_shape(tree).tree;
  const auto values = tree.vector("values");
  const std::size_t width = values.size() / made.nodes.size();
  if (width == 0 || width * made.nodes.size() != values.size()) bad_tree("does not have values for each node");
  for (std::size_t i = 0; i < made.nodes.size(); ++i)
    if (made.nodes[i].rule == Rule::leaf)
      made.nodes[i].values.assign(values.begin() + static_cast<std::ptrdiff_t>(i * width),
                                  values.begin() + static_cast<std::ptrdiff_t>((i + 1) * width));
  return made;
}

double mean_path_length(double n) {
  if (n <= 1) return 0;
  if (n == 2) return 1;
  return 2 * (std::log(n - 1) + std::numbers::egamma) - 2 * (n - 1) / n;
}

Tree read_isolation_tree(const Estimator& tree) {
  Grown shape = read_shape(tree);
  std::vector<double> depth(shape.tree.nodes.size());
  for (std::size_t i = 0; i < depth.size(); ++i) {
    TreeNode& node = shape.tree.nodes[i];
    if (node.rule == Rule::leaf) {
      node.values = {depth[i] + mean_path_length(shape.samples[i])};
      continue;
    }
    depth[static_cast<std::size_t>(node.yes)] = depth[static_cast<std::size_t>(node.no)] = depth[i] + 1;
  }
  return std::move(shape.tree);
}

std::vector<double> read_importances(const Estimator& tree, std::size_t features) {
  const Grown shape = read_shape(tree);
  const pickle::Array nodes = nodes_of(tree);
  const auto impurity = field(tree, nodes, {"impurity"}), weight = field(tree, nodes, {"weighted_n_node_samples"});
  std::vector<double> sums(features);
  double total = 0;
  for (std::size_t i = 0; i < shape.tree.nodes.size(); ++i) {
    const TreeNode& node = shape.tree.nodes[i];
    if (node.rule == Rule::leaf || std::cmp_greater_equal(node.feature, features)) continue;
    const auto yes = static_cast<std::size_t>(node.yes), no = static_cast<std::size_t>(node.no);
    const double gain = weight[i] * impurity[i] - weight[yes] * impurity[yes] - weight[no] * impurity[no];
    sums[static_cast<std::size_t>(node.feature)] += gain;
    total += gain;
  }
  for (double& s : sums)
    if (total > 0) s /= total;
  return sums;
}

Tree read_histogram_tree(const Estimator& predictor) {
  const pickle::Array nodes = nodes_of(predictor);
  const auto value = field(predictor, nodes, {"value"}), feature = field(predictor, nodes, {"feature_idx"}),
             threshold = field(predictor, nodes, {"num_threshold", "threshold"}),
             left = field(predictor, nodes, {"left"}), right = field(predictor, nodes, {"right"}),
             is_leaf = field(predictor, nodes, {"is_leaf"}),
             missing = optional_field(predictor, nodes, "missing_go_to_left"),
             is_category = optional_field(predictor, nodes, "is_categorical"),
             set = optional_field(predictor, nodes, "bitset_idx");
  const Matrix sets = predictor.has("raw_left_cat_bitsets") ? predictor.matrix("raw_left_cat_bitsets") : Matrix();
  Tree tree;
  tree.nodes.resize(value.size());
  for (std::size_t i = 0; i < value.size(); ++i) {
    TreeNode& node = tree.nodes[i];
    if (is_leaf[i] != 0) {
      node.values = {value[i]};
      continue;
    }
    node.rule = is_category[i] != 0 ? Rule::member : Rule::at_most;
    node.yes = child(left[i], value.size(), i);
    node.no = child(right[i], value.size(), i);
    node.feature = static_cast<std::int32_t>(feature[i]);
    node.threshold = threshold[i];
    node.missing_goes_yes = missing[i] != 0;
    if (node.rule != Rule::member) continue;
    node.threshold = 0;
    if (!(set[i] >= 0) || set[i] >= static_cast<double>(sets.rows))
      bad_tree("has a set of categories that does not exist");
    for (std::int64_t word = 0; word < sets.columns; ++word)
      for (int bit = 0; bit < 32; ++bit)
        if (static_cast<std::uint32_t>(sets.at(static_cast<std::int64_t>(set[i]), word)) >> bit & 1)
          node.values.push_back(static_cast<double>(word * 32 + bit));
  }
  if (tree.nodes.empty()) bad_tree("has no nodes");
  return tree;
}

}  // namespace ingot::frontends::sklearn
