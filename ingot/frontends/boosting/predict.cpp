// From the sums of boosted trees to predictions.
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
  Value* sum = tree_sums(g, zeros_missing(g, x, model), trees, model.groups);
  if (model.is_average) sum = g.div(sum, static_cast<double>(trees.size()) / static_cast<double>(model.groups));
  return model.scale == 1 ? sum : g.mul(sum, model.scale);
}

Value* softplus(GraphBuilder& g, Value* x) { return g.op("Softplus", {x}); }

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
  if (model.groups > 1) {
    made.probabilities = linked_scores;
    made.place = g.op("ArgMax", {made.probabilities}, {{"axis", 1}, {"keepdims", 0}});
    return;
  }
  made.probabilities = g.concat({g.sub(1.0, linked_scores), linked_scores}, 1);
  Value* is_second = g.op("Greater", {linked_scores, g.scalar(0.5, linked_scores->type.elem)});
  made.place = g.squeeze(g.cast(is_second, DType::i64), {1});
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
