// XGBoost's models: JSON and UBJSON of all versions, as files and as snapshots inside of pickles.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ingot/base/error.h"
#include "ingot/formats/boosting/json.h"
#include "ingot/formats/boosting/model.h"
#include "ingot/formats/boosting/xgboost_objective.h"

namespace ingot::formats::boosting {
namespace {

constexpr std::int32_t kNoChild = -1;

/// "5E-1" or, since 3.1, "[a,b,c]".
std::vector<double> base_scores(const Json& score) {
  if (!score.is(Json::Kind::text)) return {score.as_number()};
  std::string text = score.text;
  std::erase_if(text, [](char c) { return c == '[' || c == ']' || c == ' '; });
  std::vector<double> values;
  for (std::size_t begin = 0; begin <= text.size() && !text.empty();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    values.push_back(Json{.kind = Json::Kind::text, .text = text.substr(begin, end - begin)}.as_number());
    begin = end + 1;
  }
  return values;
}

/// Text says a float in as few digits as tell it from others; read as a double it is another number.
std::vector<double> floats_of(const Json& json) {
  auto values = json.as_numbers();
  for (double& v : values) v = static_cast<float>(v);
  return values;
}

/// The sets of categories by node.
std::vector<std::vector<double>> category_sets(const Json& tree, std::size_t nodes) {
  std::vector<std::vector<double>> sets(nodes);
  const Json* of_nodes = tree.find("categories_nodes");
  if (!of_nodes || of_nodes->size() == 0) return sets;
  const auto ids = of_nodes->as_integers(), all = tree.at("categories").as_integers(),
             starts = tree.at("categories_segments").as_integers(), sizes = tree.at("categories_sizes").as_integers();
  if (starts.size() < ids.size() || sizes.size() < ids.size())
    throw Error(Code::bad_reference, "the sets of categories do not fit their nodes");
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const std::int64_t begin = starts[i], count = sizes[i];
    if (ids[i] < 0 || std::cmp_greater_equal(ids[i], nodes) || begin < 0 || count < 0 || begin > std::ssize(all) ||
        count > std::ssize(all) - begin)
      throw Error(Code::bad_reference, "a set of categories lies outside of the list");
    sets[static_cast<std::size_t>(ids[i])].assign(all.begin() + begin, all.begin() + begin + count);
  }
  return sets;
}

std::vector<double> leaf_vector(const Json& tree, std::size_t node, std::size_t leaf, std::size_t width) {
  const Json* leaves = tree.find("leaf_weights");
  const bool is_by_leaf = leaves && leaves->size() > 0;
  const auto values = floats_of(is_by_leaf ? *leaves : tree.at("base_weights"));
  const std::size_t at = (is_by_leaf ? leaf : node) * width;
  if (values.size() < at + width) throw Error(Code::bad_reference, "a leaf's values lie outside of the list");
  return {values.begin() + static_cast<std::ptrdiff_t>(at), values.begin() + static_cast<std::ptrdiff_t>(at + width)};
}

Tree read_tree(const Json& json) {
  const auto left = json.at("left_children").as_integers(), right = json.at("right_children").as_integers(),
             features = json.at("split_indices").as_integers();
  const auto splits = floats_of(json.at("split_conditions")), defaults = json.at("default_left").as_numbers();
  const std::size_t count = left.size();
  for (const std::size_t size : {right.size(), features.size(), splits.size(), defaults.size()})
    if (size != count) throw Error(Code::bad_reference, "the lists of a tree differ in length");
  const Json* types = json.find("split_type");
  const auto split_types = types ? types->as_integers() : std::vector<std::int64_t>();
  const auto sets = category_sets(json, count);
  const Json* param = json.find("tree_param");
  const Json* vector_size = param ? param->find("size_leaf_vector") : nullptr;
  const auto width =
      vector_size ? static_cast<std::size_t>(std::clamp<std::int64_t>(vector_size->as_integer(), 1, 100000)) : 1;

  Tree tree;
  tree.nodes.resize(count);
  std::size_t leaves = 0;
  for (std::size_t i = 0; i < count; ++i) {
    TreeNode& node = tree.nodes[i];
    if (left[i] == kNoChild) {
      node.values = width > 1 ? leaf_vector(json, i, leaves, width) : std::vector<double>{splits[i]};
      ++leaves;
      continue;
    }
    node.feature = static_cast<std::int32_t>(features[i]);
    const auto to_left = static_cast<std::int32_t>(left[i]), to_right = static_cast<std::int32_t>(right[i]);
    const bool is_category = i < split_types.size() && split_types[i] == 1;
    node.rule = is_category ? TreeNode::Rule::member : TreeNode::Rule::less;
    // What is in the set goes to the right.
    node.yes = is_category ? to_right : to_left;
    node.no = is_category ? to_left : to_right;
    node.missing_goes_yes = (defaults[i] != 0) != is_category;
    node.threshold = is_category ? 0 : splits[i];
    node.values = sets[i];
  }
  return tree;
}

void read_trees(const Json& gbtree, Model& model) {
  const Json& of_model = gbtree.at("model");
  for (const Json& tree : of_model.at("trees").items) model.trees.push_back(read_tree(tree));
  const auto groups = of_model.at("tree_info").as_integers();
  if (groups.size() != model.trees.size()) throw Error(Code::bad_reference, "the trees have no groups");
  for (std::size_t i = 0; i < groups.size(); ++i) model.trees[i].group = static_cast<std::int32_t>(groups[i]);
  if (const Json* ends = of_model.find("iteration_indptr"))
    for (const std::int64_t end : ends->as_integers())
      if (end > 0) model.round_ends.push_back(static_cast<std::size_t>(end));
  if (const Json* param = of_model.find("gbtree_model_param"))
    if (const Json* parallel = param->find("num_parallel_tree"); parallel && model.round_ends.empty()) {
      const std::int64_t each = std::max<std::int64_t>(1, parallel->as_integer()) * model.groups;
      for (std::int64_t end = each; end <= std::ssize(model.trees); end += each)
        model.round_ends.push_back(static_cast<std::size_t>(end));
    }
  // Features without a dictionary have empty segments.
  if (const Json* cats = of_model.find("cats"))
    if (const Json* segments = cats->find("feature_segments"))
      for (const double end : segments->as_numbers())
        if (end > 0) model.has_dictionary = true;
}

void weigh(Model& model, const Json* weights) {
  if (!weights) return;
  const auto values = floats_of(*weights);
  for (std::size_t i = 0; i < std::min(values.size(), model.trees.size()); ++i) model.trees[i].weight = values[i];
}

void read_booster(const Json& booster, Model& model) {
  const Json* name = booster.find("name");
  if (name && name->text == "gblinear") {
    model.weights = floats_of(booster.at("model").at("weights"));
    return;
  }
  if (const Json* inner = booster.find("gbtree")) {  // dart up to 3.3
    read_trees(*inner, model);
    weigh(model, booster.find("weight_drop"));
    return;
  }
  read_trees(booster, model);
  weigh(model, booster.at("model").find("weight_drop"));
}

}  // namespace

Model read_xgboost(const Json& json) {
  if (const Json* inner = json.find("Model")) return read_xgboost(*inner);  // a snapshot, with its configuration
  const Json& learner = json.at("learner");
  const Json& param = learner.at("learner_model_param");
  Model model;
  model.is_single = true;
  model.producer = "XGBoost";
  if (const Json* version = json.find("version"))
    for (const std::int64_t part : version->as_integers())
      model.producer += (model.producer.size() > 7 ? "." : " ") + std::to_string(part);
  model.features = param.at("num_feature").as_integer();
  const Json* classes = param.find("num_class");
  const Json* targets = param.find("num_target");
  model.groups = std::max<std::int64_t>({1, classes ? classes->as_integer() : 0, targets ? targets->as_integer() : 0});
  model.objective = learner.at("objective").at("name").text;
  read_booster(learner.at("gradient_booster"), model);
  set_xgboost_objective(model, base_scores(param.at("base_score")));
  if (const Json* names = learner.find("feature_names"))
    for (const Json& name : names->items) model.feature_names.push_back(name.text);
  model.rounds = std::ssize(model.round_ends);
  if (const Json* attributes = learner.find("attributes"))
    if (const Json* best = attributes->find("best_iteration"); best) model.best_rounds = best->as_integer() + 1;
  check(model);
  return model;
}

Model read_xgboost(const Bytes& file, Budget* budget) {
  const std::string_view text = file.text();
  if (looks_like_ubjson(text)) return read_xgboost(parse_ubjson(text, budget));
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first != std::string_view::npos && text[first] == '{') return read_xgboost(parse_json(text, budget));
  return read_xgboost_binary(file);
}

}  // namespace ingot::formats::boosting
