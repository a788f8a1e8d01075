// What TreeEnsembleRegressor and TreeEnsembleClassifier share on the way to TreeEnsemble.
#include "ingot/ops/ml/old_trees.h"

namespace ingot::ops {

DType working_type(const StepContext& c, const Forest& forest) {
  return c.type(0).elem == DType::f64 || forest.elem == DType::f64 ? DType::f64 : DType::f32;
}

std::vector<double> base_values(StepContext& c, std::int64_t targets) {
  std::vector<double> values;
  if (const auto* tensor = c.node.attributes.get<Tensor>("base_values_as_tensor"))
    values = tensor->to_doubles();
  else if (const auto* floats = c.node.attributes.get<std::vector<float>>("base_values"))
    values.assign(floats->begin(), floats->end());
  if (!values.empty() && static_cast<std::int64_t>(values.size()) != targets)
    c.cannot("there are " + std::to_string(values.size()) + " base values for " + std::to_string(targets) + " scores");
  return values;
}

Transform transform_of(StepContext& c) {
  const std::string text = c.node.attributes.string_or("post_transform", "NONE");
  if (text == "NONE") return {};
  if (text == "SOFTMAX") return {.is_softmax = true};
  if (text == "LOGISTIC") return {.is_logistic = true};
  if (text == "SOFTMAX_ZERO") return {.number = 3};
  if (text == "PROBIT") return {.number = 4};
  c.cannot("attribute 'post_transform' is '" + text + "'");
}

Value* transformed(GraphBuilder& g, Value* scores, const Transform& transform) {
  if (transform.is_softmax) return g.op("Softmax", {scores}, {{"axis", 1}});
  return transform.is_logistic ? g.op("Sigmoid", {scores}) : scores;
}

void add_constant_trees(Forest& forest, const std::vector<double>& values) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    Forest::Item leaf;
    leaf.is_leaf = true;
    leaf.votes = {{static_cast<std::int64_t>(i), values[i]}};
    forest.roots.push_back(forest.items.size());
    forest.items.push_back(std::move(leaf));
  }
}

Value* ensemble(StepContext& c, const Forest& forest, std::int64_t targets, std::int64_t aggregate,
                std::int64_t transform) {
  for (const Forest::Item& item : forest.items)
    for (const Forest::Vote& vote : item.votes)
      if (vote.target >= targets) c.cannot("a weight belongs to a target that does not exist");
  const DType elem = working_type(c, forest);
  if (c.type(0).elem == DType::undefined) c.cannot("the type of the input is needed but not known");
  Value* x = c.g.cast(c.node.input(0), elem);
  if (c.rank(0) == 1) x = c.g.op("Reshape", {x, c.g.ints({1, -1})});
  Attrs attrs = ensemble_attributes(forest, elem);
  attrs.push_back({"n_targets", targets});
  attrs.push_back({"aggregate_function", aggregate});
  attrs.push_back({"post_transform", transform});
  return c.g.op("TreeEnsemble", {x}, attrs);
}

Value* row(GraphBuilder& g, const std::vector<double>& values, DType elem) {
  const Dims dims = {1, static_cast<std::int64_t>(values.size())};
  if (elem == DType::f64) return g.constant(Tensor::of<double>(dims, values));
  return g.constant(Tensor::of<float>(dims, std::vector<float>(values.begin(), values.end())));
}

}  // namespace ingot::ops
