// Trees as scikit-learn keeps them: arrays of structures whose fields changed from version to version.
#include "ingot/frontends/sklearn/tree_reader.h"

#include <cmath>
#include <numbers>

#include "ingot/base/error.h"
#include "ingot/base/mapped_file.h"

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

pickle::FieldNumbers field(const pickle::Array& nodes, std::initializer_list<const char*> names) {
  for (const char* name : names)
    if (const auto numbers = pickle::field_of(nodes, name)) return *numbers;
  bad_tree("has nodes without '" + std::string(*names.begin()) + "'");
}

bool is_set(const std::optional<pickle::FieldNumbers>& flags, std::size_t i) { return flags && flags->at(i) != 0; }

std::int32_t child(double number, std::size_t count, std::size_t at) {
  // Children stand behind their parent, so that there are no circles.
  if (!(number > static_cast<double>(at)) || number >= static_cast<double>(count))
    bad_tree("leads to a node that does not exist");
  return static_cast<std::int32_t>(number);
}

void refuse_categories(const pickle::Array& nodes) {
  const auto sets = pickle::field_of(nodes, "left_cat_bitset");
  for (std::size_t i = 0; sets && i < sets->size(); ++i)
    for (std::size_t k = 0; k < sets->width(); ++k)
      if (sets->at(i, k) != 0) throw Error(Code::unsupported_setting, "a tree splits by categories");
}

Tree read_shape(const pickle::Array& nodes) {
  const auto left = field(nodes, {"left_child"}), right = field(nodes, {"right_child"}),
             feature = field(nodes, {"feature"}), threshold = field(nodes, {"threshold"});
  const auto missing = pickle::field_of(nodes, "missing_go_to_left");
  refuse_categories(nodes);
  Tree tree;
  tree.nodes.resize(left.size());
  for (std::size_t i = 0; i < left.size(); ++i) {
    TreeNode& node = tree.nodes[i];
    if (left.at(i) < 0) continue;
    node.rule = Rule::at_most;
    node.yes = child(left.at(i), left.size(), i);
    node.no = child(right.at(i), left.size(), i);
    if (!(feature.at(i) >= 0) || feature.at(i) > 1e9) bad_tree("asks for a feature that does not exist");
    node.feature = static_cast<std::int32_t>(feature.at(i));
    node.threshold = threshold.at(i);
    node.missing_goes_yes = is_set(missing, i);
  }
  if (tree.nodes.empty()) bad_tree("has no nodes");
  return tree;
}

pickle::Array values_of(const Estimator& tree) {
  auto values = pickle::read_array(tree.document(), *tree.get("values"));
  if (!values || !values->is_number()) bad_tree("has no values");
  if (values->is_fortran) {
    values->data = pickle::to_bytes(*values);
    values->is_fortran = values->dtype.is_big_endian = false;
  }
  return std::move(*values);
}

/// How many values each of the nodes has.
std::size_t width_of(const pickle::Array& values, std::size_t nodes) {
  const auto count = static_cast<std::size_t>(values.size());
  if (nodes == 0 || count < nodes || count % nodes != 0) bad_tree("does not have values for each node");
  return count / nodes;
}

}  // namespace

void reserve(boosting::TreeSums& sums, const std::vector<Estimator>& trees) {
  constexpr std::uint64_t kLeast = 32;  // bytes of a node and its values
  if (trees.empty()) return;
  // The arrays of files before protocol 3 are texts, which are costly to look at.
  double nodes = 0;
  for (const Estimator& tree : trees) nodes += std::max(0.0, tree.number("node_count", 0)) / 2 + 1;
  const Estimator& first = trees.front();
  const auto width = width_of(values_of(first), static_cast<std::size_t>(nodes_of(first).size()));
  const auto most = static_cast<double>(first.document().arena->source_size() / kLeast + trees.size());
  const auto count = static_cast<std::size_t>(std::min(nodes, most)) * width;
  sums.reserve(count, count);
}

Tree read_tree(const Estimator& tree) {
  const pickle::Array nodes = nodes_of(tree), values = values_of(tree);
  Tree made = read_shape(nodes);
  const std::size_t width = width_of(values, made.nodes.size());
  for (std::size_t i = 0; i < made.nodes.size(); ++i) {
    if (made.nodes[i].rule != Rule::leaf) continue;
    made.nodes[i].values.resize(width);
    for (std::size_t k = 0; k < width; ++k) made.nodes[i].values[k] = pickle::number_at(values, i * width + k);
  }
  // A forest may be most of a file of hundreds of megabytes: what was read of it is not kept in memory.
  drop_pages(nodes.data);
  drop_pages(values.data);
  return made;
}

double mean_path_length(double n) {
  if (n <= 1) return 0;
  if (n == 2) return 1;
  return 2 * (std::log(n - 1) + std::numbers::egamma) - 2 * (n - 1) / n;
}

Tree read_isolation_tree(const Estimator& tree) {
  const pickle::Array nodes = nodes_of(tree);
  const auto samples = field(nodes, {"n_node_samples"});
  Tree made = read_shape(nodes);
  std::vector<double> depth(made.nodes.size());
  for (std::size_t i = 0; i < depth.size(); ++i) {
    TreeNode& node = made.nodes[i];
    if (node.rule == Rule::leaf) {
      node.values = {depth[i] + mean_path_length(samples.at(i))};
      continue;
    }
    depth[static_cast<std::size_t>(node.yes)] = depth[static_cast<std::size_t>(node.no)] = depth[i] + 1;
  }
  drop_pages(nodes.data);
  return made;
}

std::vector<double> read_importances(const Estimator& tree, std::size_t features) {
  const pickle::Array nodes = nodes_of(tree);
  const Tree shape = read_shape(nodes);
  const auto impurity = field(nodes, {"impurity"}), weight = field(nodes, {"weighted_n_node_samples"});
  const auto weighted = [&](std::int32_t i) {
    return weight.at(static_cast<std::size_t>(i)) * impurity.at(static_cast<std::size_t>(i));
  };
  std::vector<double> sums(features);
  double total = 0;
  for (std::int32_t i = 0; i < std::ssize(shape.nodes); ++i) {
    const TreeNode& node = shape.nodes[static_cast<std::size_t>(i)];
    if (node.rule == Rule::leaf || std::cmp_greater_equal(node.feature, features)) continue;
    const double gain = weighted(i) - weighted(node.yes) - weighted(node.no);
    sums[static_cast<std::size_t>(node.feature)] += gain;
    total += gain;
  }
  for (double& s : sums)
    if (total > 0) s /= total;
  return sums;
}

Tree read_histogram_tree(const Estimator& predictor) {
  const pickle::Array nodes = nodes_of(predictor);
  const auto value = field(nodes, {"value"}), feature = field(nodes, {"feature_idx"}),
             threshold = field(nodes, {"num_threshold", "threshold"}), left = field(nodes, {"left"}),
             right = field(nodes, {"right"}), is_leaf = field(nodes, {"is_leaf"});
  const auto missing = pickle::field_of(nodes, "missing_go_to_left"),
             is_category = pickle::field_of(nodes, "is_categorical"), set = pickle::field_of(nodes, "bitset_idx");
  const Matrix sets = predictor.has("raw_left_cat_bitsets") ? predictor.matrix("raw_left_cat_bitsets") : Matrix();
  Tree tree;
  tree.nodes.resize(value.size());
  for (std::size_t i = 0; i < value.size(); ++i) {
    TreeNode& node = tree.nodes[i];
    if (is_leaf.at(i) != 0) {
      node.values = {value.at(i)};
      continue;
    }
    node.rule = is_set(is_category, i) ? Rule::member : Rule::at_most;
    node.yes = child(left.at(i), value.size(), i);
    node.no = child(right.at(i), value.size(), i);
    node.feature = static_cast<std::int32_t>(feature.at(i));
    node.threshold = threshold.at(i);
    node.missing_goes_yes = is_set(missing, i);
    if (node.rule != Rule::member) continue;
    node.threshold = 0;
    const double own = set ? set->at(i) : -1;
    if (!(own >= 0) || own >= static_cast<double>(sets.rows))
      bad_tree("has a set of categories that does not exist");
    for (std::int64_t word = 0; word < sets.columns; ++word)
      for (int bit = 0; bit < 32; ++bit)
        if (static_cast<std::uint32_t>(sets.at(static_cast<std::int64_t>(own), word)) >> bit & 1)
          node.values.push_back(static_cast<double>(word * 32 + bit));
  }
  if (tree.nodes.empty()) bad_tree("has no nodes");
  return tree;
}

}  // namespace ingot::frontends::sklearn
