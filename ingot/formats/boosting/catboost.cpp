// CatBoost's models, saved as JSON.
#include <fmt/format.h>

#include <bit>

#include "ingot/base/error.h"
#include "ingot/formats/boosting/catboost_trees.h"

namespace ingot::formats::boosting {
namespace {

/// What a split asks of features that are floats.
struct FloatFeatures {
  std::vector<std::int32_t> places;  // in the flat list of all features
  std::vector<bool> missing_is_greater;
};

FloatFeatures read_features(const Json& info, Model& model) {
  FloatFeatures features;
  if (const Json* categories = info.find("categorical_features"); categories && categories->size() > 0)
    throw Error(Code::unsupported_setting, "the model has categorical features, which CatBoost hashes")
        .hint("encode them in a pipeline in front");
  for (const Json& feature : info.at("float_features").items) {
    const std::int64_t place = feature.at("flat_feature_index").as_integer();
    if (place < 0 || place > 100'000'000) throw Error(Code::bad_reference, "a feature has a place that is none");
    features.places.push_back(static_cast<std::int32_t>(place));
    model.features = std::max(model.features, place + 1);
    const Json* treatment = feature.find("nan_value_treatment");
    features.missing_is_greater.push_back(treatment && treatment->text == "AsTrue");
    const Json* name = feature.find("feature_id") ? feature.find("feature_id") : feature.find("feature_name");
    if (name && name->is(Json::Kind::text)) model.feature_names.push_back(name->text);
  }
  return features;
}

void set_split(TreeNode& node, const Json& split, const FloatFeatures& features) {
  const Json* type = split.find("split_type");
  if (type && type->text != "FloatFeature")
    throw Error(Code::unsupported_setting, "a split of type '" + type->text + "' is not translated");
  const std::int64_t index = split.at("float_feature_index").as_integer();
  if (index < 0 || index >= std::ssize(features.places))
    throw Error(Code::bad_reference, "a split asks for a feature that does not exist");
  node.rule = TreeNode::Rule::greater;
  node.feature = features.places[static_cast<std::size_t>(index)];
  node.threshold = static_cast<float>(split.at("border").as_number());  // whatever its digits say
  node.missing_goes_yes = features.missing_is_greater[static_cast<std::size_t>(index)];
}

Tree read_oblivious(const Json& json, const FloatFeatures& features, std::size_t width) {
  std::vector<TreeNode> levels;
  for (const Json& split : json.at("splits").items) set_split(levels.emplace_back(), split, features);
  return oblivious_tree(levels, json.at("leaf_values").as_numbers(), width);
}

void add_node(const Json& json, const FloatFeatures& features, Tree& tree, int depth) {
  if (depth > 500) throw Error(Code::depth_limit, "a tree is too deep");
  const std::size_t at = tree.nodes.size();
  tree.nodes.emplace_back();
  const Json* split = json.find("split");
  if (!split) {
    const Json& value = json.at("value");
    tree.nodes[at].values = value.is(Json::Kind::number) ? std::vector<double>{value.number} : value.as_numbers();
    return;
  }
  TreeNode node;
  set_split(node, *split, features);
  node.no = static_cast<std::int32_t>(tree.nodes.size());
  add_node(json.at("left"), features, tree, depth + 1);
  node.yes = static_cast<std::int32_t>(tree.nodes.size());
  add_node(json.at("right"), features, tree, depth + 1);
  tree.nodes[at] = std::move(node);
}

}  // namespace

Tree oblivious_tree(const std::vector<TreeNode>& levels, const std::vector<double>& values, std::size_t width) {
  const std::size_t depth = levels.size(), leaves = std::size_t{1} << std::min(depth, kMostObliviousSplits);
  if (depth > kMostObliviousSplits || values.size() != leaves * width)
    throw Error(Code::bad_source_graph, "a tree does not have one leaf for each outcome of its splits");
  Tree tree;
  tree.nodes.resize(2 * leaves - 1);
  for (std::size_t at = 0; at + 1 < leaves; ++at) {
    TreeNode& node = tree.nodes[at];
    node = levels[static_cast<std::size_t>(std::bit_width(at + 1) - 1)];
    node.no = static_cast<std::int32_t>(2 * at + 1);
    node.yes = static_cast<std::int32_t>(2 * at + 2);
  }
  for (std::size_t i = 0; i < leaves; ++i) {
    std::size_t at = 0;
    for (std::size_t level = 0; level < depth; ++level) at = 2 * at + (i >> level & 1 ? 2 : 1);
    tree.nodes[at].values.assign(values.begin() + static_cast<std::ptrdiff_t>(i * width),
                                 values.begin() + static_cast<std::ptrdiff_t>((i + 1) * width));
  }
  return tree;
}

void read_catboost_classes(const Json& params, Model& model) {
  const Json* names = params.find("class_names");
  if (!names) return;
  if (names->is(Json::Kind::numbers)) model.class_numbers = names->numbers;
  for (const Json& name : names->items) model.class_names.push_back(name.text);
}

std::string catboost_loss(const Json& params) {
  const Json* loss = params.find("loss_function");
  if (loss && loss->is(Json::Kind::text)) return loss->text;
  const Json* type = loss ? loss->find("type") : nullptr;
  return type ? type->text : "";
}

void finish_catboost(Model& model) {
  const std::string loss = model.objective.substr(0, model.objective.find(':'));
  if (loss == "Logloss" || loss == "CrossEntropy") model.link = Link::sigmoid;
  if (loss == "MultiClass") model.link = Link::softmax;
  if (loss == "MultiClassOneVsAll") model.link = Link::sigmoids;
  if (loss == "Poisson" || loss == "Tweedie") model.link = Link::exponential;
  model.is_classifier = loss == "Logloss" || loss == "CrossEntropy" || loss.starts_with("MultiClass");
  model.rounds = std::ssize(model.trees);
  check(model);
}

Model read_catboost(const Json& json) {
  Model model;
  model.producer = "CatBoost";
  model.rounds_features = true;
  const FloatFeatures features = read_features(json.at("features_info"), model);
  if (const Json* info = json.find("model_info")) {
    const Json *params = info->find("params"), *classes = info->find("class_params");
    model.objective = catboost_loss(params ? *params : *info);
    if (classes) read_catboost_classes(*classes, model);
  }
  std::vector<double> bias;
  if (const Json* both = json.find("scale_and_bias"); both && both->size() == 2) {
    const bool is_flat = both->is(Json::Kind::numbers);
    model.scale = is_flat ? both->numbers[0] : both->items[0].as_number();
    bias = is_flat ? std::vector<double>{both->numbers[1]} : both->items[1].as_numbers();
  }
  if (const Json* trees = json.find("oblivious_trees")) {
    std::size_t width = std::max<std::size_t>(1, bias.size());
    if (!trees->items.empty()) {  // the width follows from the first tree
      const std::size_t leaves = std::size_t{1} << std::min(trees->items[0].at("splits").size(), kMostObliviousSplits);
      width = std::max<std::size_t>(1, trees->items[0].at("leaf_values").size() / leaves);
    }
    model.groups = static_cast<std::int64_t>(width);
    for (const Json& tree : trees->items) model.trees.push_back(read_oblivious(tree, features, width));
  } else {
    for (const Json& tree : json.at("trees").items) {
      model.trees.emplace_back();
      add_node(tree, features, model.trees.back(), 0);
      for (const TreeNode& node : model.trees.back().nodes)
        if (node.rule == TreeNode::Rule::leaf)
          model.groups = std::max<std::int64_t>(model.groups, std::ssize(node.values));
    }
  }
  bias.resize(static_cast<std::size_t>(model.groups), bias.empty() ? 0 : bias.back());
  model.base = bias;
  finish_catboost(model);
  return model;
}

}  // namespace ingot::formats::boosting
