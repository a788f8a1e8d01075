// Gradient boosting, by trees and by histograms, and models of the boosting libraries.
#include <algorithm>
#include <cmath>
#include <limits>

#include "ingot/base/error.h"
#include "ingot/formats/boosting/json.h"
#include "ingot/formats/boosting/model.h"
#include "ingot/formats/pickle/numpy.h"
#include "ingot/frontends/boosting/ensemble.h"
#include "ingot/frontends/boosting/prediction.h"
#include "ingot/frontends/sklearn/estimators.h"
#include "ingot/frontends/sklearn/tree_reader.h"

namespace ingot::frontends::sklearn {
namespace {

using formats::boosting::Tree;
using formats::boosting::TreeNode;
using Rule = TreeNode::Rule;

constexpr std::string_view kCatboostModel = "__model";  // the bytes of a .cbm file

/// What boosting starts from: a constant [1, groups], or what another estimator says.
Value* initial(Context& c, const Estimator& e, const Columns& x, std::size_t groups, bool is_exponential) {
  const Estimator init = e.child("init_");
  if (!init.is_instance() || init.name() == "ZeroEstimator") return nullptr;
  const bool is_classifier = e.name() == "GradientBoostingClassifier";
  if (!is_classifier) {
    if (init.name() == "DummyRegressor") return c.row(init.vector("constant_"));
    if (init.has("quantile")) return c.row(init.vector("quantile"));
    if (init.has("mean")) return c.row(init.vector("mean"));
    return c.predict(init, x).values;
  }
  constexpr double kLeast = std::numeric_limits<float>::epsilon();
  if (init.name() == "DummyClassifier") {
    auto priors = init.vector("class_prior_");
    if (groups == 1) {
      const double p = std::clamp(priors.at(1), kLeast, 1 - kLeast), logit = std::log(p / (1 - p));
      return c.row({is_exponential ? logit / 2 : logit});
    }
    for (double& p : priors) p = std::log(std::max(p, kLeast));
    if (e.version() >= 104) {
      double mean = 0;
      for (const double p : priors) mean += p / static_cast<double>(priors.size());
      for (double& p : priors) p -= mean;
    }
    return c.row(priors);
  }
  if (init.has("prior")) return c.row(init.vector("prior"));  // before 0.21
  if (init.has("priors")) {
    auto priors = init.vector("priors");
    for (double& p : priors) p = std::log(p);
    return c.row(priors);
  }
  Value* p = c.predict(init, x).probabilities;
  if (!p) refuse("its init has no probabilities");
  p = c.g.op("Clip", {p, c.number(kLeast), c.number(1 - kLeast)});
  Value* log = c.g.op("Log", {p});
  if (groups > 1) return log;
  Value* logit = c.g.sub(c.column(log, 1), c.g.op("Log", {c.g.sub(1.0, c.column(p, 1))}));
  return is_exponential ? c.g.mul(logit, 0.5) : logit;
}

Value* boosted_sums(Context& c, const Estimator& e, const Columns& x, std::size_t groups, bool is_exponential) {
  const double rate = e.number("learning_rate");
  std::vector<Estimator> trees;
  for (const Estimator& one : e.list("estimators_")) trees.push_back(one.child("tree_"));
  boosting::TreeSums sums(c.elem);
  reserve(sums, trees);
  for (std::size_t i = 0; i < trees.size(); ++i) {
    Tree tree = read_tree(trees[i]);
    tree.group = static_cast<std::int32_t>(i % groups);
    tree.weight = rate;
    sums.add(tree);
  }
  Value* seen = c.g.cast(c.g.cast(c.numbers(x), DType::f32), c.elem);
  Value* sum = sums.finish(c.g, seen, static_cast<std::int64_t>(groups));
  Value* start = initial(c, e, x, groups, is_exponential);
  return start ? c.g.add(sum, start) : sum;
}

Result from_sums(Context& c, Value* scores, Labels classes, double slope) {
  Result result = from_scores(c, scores, std::move(classes));
  if (result.classes.size() > 2)
    result.probabilities = c.softmax(scores);
  else
    result.probabilities = two_columns(c, c.sigmoid(slope == 1 ? scores : c.g.mul(scores, slope)));
  return result;
}

/// Categories that the fit did not see count as missing.
Value* unknown_missing(Context& c, const Estimator& e, Value* x) {
  if (!e.has("is_categorical_") || !e.has("_bin_mapper")) return x;
  const auto is_category = e.vector("is_categorical_");
  const auto bins = e.child("_bin_mapper").list("bin_thresholds_");
  Values columns;
  bool is_changed = false;
  for (std::size_t f = 0; f < is_category.size(); ++f) {
    Value* column = c.column(x, static_cast<std::int64_t>(f));
    if (is_category[f] != 0 && f < bins.size()) {
      is_changed = true;
      Value* known = c.g.op("Equal", {column, c.row(e.doubles(bins[f].value()))});
      Value* is_known = c.g.op("ReduceMax", {c.g.cast(known, c.elem), c.g.ints({1})}, {{"keepdims", 1}});
      column = c.g.where(c.g.op("Greater", {is_known, c.number(0.5)}), column,
                         c.number(std::numeric_limits<double>::quiet_NaN()));
    }
    columns.push_back(column);
  }
  return is_changed ? c.g.concat(columns, 1) : x;
}

Value* histogram_sums(Context& c, const Estimator& e, const Columns& x, std::size_t groups) {
  const bool is_prepared = e.has("_preprocessor") && e.child("_preprocessor").is_instance();
  Value* numbers = c.numbers(is_prepared ? c.transform(e.child("_preprocessor"), x) : x);
  numbers = unknown_missing(c, e, numbers);
  std::vector<Tree> trees;
  for (const Estimator& round : e.list("_predictors")) {
    const auto of_round = round.items(round.value());
    if (of_round.size() != groups) throw Error(Code::bad_source_graph, "a round does not have a tree per output");
    for (std::size_t k = 0; k < groups; ++k) {
      Tree tree = read_histogram_tree(of_round[k]);
      tree.group = static_cast<std::int32_t>(k);
      trees.push_back(std::move(tree));
    }
  }
  auto base = e.vector("_baseline_prediction");
  base.resize(groups, base.empty() ? 0 : base[0]);
  if (trees.empty()) return c.g.add(c.g.mul(c.column(numbers, 0), 0.0), c.row(base));
  return c.g.add(boosting::tree_sums(c.g, numbers, trees, static_cast<std::int64_t>(groups)), c.row(base));
}

}  // namespace

Result boosting_classifier(Context& c, const Estimator& e, const Columns& x) {
  Labels classes = e.labels("classes_");
  const std::size_t groups = classes.size() == 2 ? 1 : classes.size();
  const bool is_exponential = e.text("loss") == "exponential";
  return from_sums(c, boosted_sums(c, e, x, groups, is_exponential), std::move(classes), is_exponential ? 2 : 1);
}

Result boosting_regressor(Context& c, const Estimator& e, const Columns& x) {
  return {.values = boosted_sums(c, e, x, 1, false)};
}

Result histogram_classifier(Context& c, const Estimator& e, const Columns& x) {
  Labels classes = e.labels("classes_");
  const std::size_t groups = classes.size() == 2 ? 1 : classes.size();
  return from_sums(c, histogram_sums(c, e, x, groups), std::move(classes), 1);
}

Result histogram_regressor(Context& c, const Estimator& e, const Columns& x) {
  Value* sum = histogram_sums(c, e, x, 1);
  const std::string loss = e.text("loss");
  return {.values = loss == "poisson" || loss == "gamma" ? c.g.op("Exp", {sum}) : sum};
}

namespace {

/// The classes of a wrapper, or the numbers from 0 on.
Labels wrapper_classes(const Estimator& e, std::int64_t groups) {
  for (const char* name : {"_le", "le_"})
    if (e.has(name) && e.child(name).has("classes_")) return e.child(name).labels("classes_");
  for (const char* name : {"classes_", "_classes"})
    if (e.has(name)) return e.labels(name);
  Labels classes;
  for (std::int64_t i = 0; i < std::max<std::int64_t>(groups, 2); ++i)
    classes.numbers.push_back(static_cast<double>(i));
  return classes;
}

/// What a regressor says whose objective is a classifier's.
Value* probable_value(Context& c, const formats::boosting::Model& model, const Result& classified) {
  if (model.objective == "multi:softmax")
    return c.g.unsqueeze(c.g.cast(classified.place, classified.probabilities->type.elem), {1});
  return model.groups == 1 ? c.column(classified.probabilities, 1) : classified.probabilities;
}

Result from_library(Context& c, const Estimator& e, const Columns& x, const formats::boosting::Model& model) {
  const boosting::Prediction made = boosting::predict(c.g, c.numbers(x), model, c.elem == DType::f32);
  Result result;
  result.values = made.values;
  result.scores = made.scores;
  result.decides_by_scores = false;
  result.probabilities = made.probabilities;
  result.place = made.place;
  result.label = made.labels;
  if (made.place) result.classes = wrapper_classes(e, model.groups);
  if (e.name().ends_with("Regressor") && made.probabilities) return {.values = probable_value(c, model, result)};
  if (e.name().ends_with("Classifier") && made.values && model.groups == 1) {
    // Whatever the objective, more than a half is the second class.
    result.probabilities = two_columns(c, made.values);
    result.classes = wrapper_classes(e, 2);
    Value* is_second = c.g.op("Greater", {made.values, c.g.scalar(0.5, made.values->type.elem)});
    result.place = c.g.squeeze(c.g.cast(is_second, DType::i64), {1});
    result.values = nullptr;
  }
  return result;
}

Bytes raw_bytes(const Estimator& e, pickle::Ref value) {
  if (value->is_text()) return e.document().arena->bytes_of(value->text);
  if (value->is(pickle::Kind::object)) return pickle::raw_bytes(e.document(), *value);  // bytearray(b"...")
  throw Error(Code::bad_source_graph, "the booster has no model inside");
}

}  // namespace

std::vector<std::string> booster_columns(const Estimator& e) {
  if (!e.has("_Booster") || !e.module().starts_with("xgboost")) return {};
  const Estimator booster = e.child("_Booster");
  return formats::boosting::read_xgboost(raw_bytes(booster, booster.get("handle"))).feature_names;
}

std::int64_t booster_features(const Estimator& e) {
  if (e.has(kCatboostModel))
    return formats::boosting::read_catboost_binary(raw_bytes(e, e.get(kCatboostModel))).features;
  const Estimator booster = e.has("_Booster") ? e.child("_Booster") : e;
  if (!e.module().starts_with("lightgbm"))
    return formats::boosting::read_xgboost(raw_bytes(booster, booster.get("handle"))).features;
  return formats::boosting::read_lightgbm(booster.get_any({"handle", "_handle", "model_str"})->text).features;
}

Result xgboost_model(Context& c, const Estimator& e, const Columns& x) {
  if (e.module().starts_with("lightgbm")) return lightgbm_model(c, e, x);  // both call their class Booster
  const bool is_wrapper = e.has("_Booster");
  const Estimator booster = is_wrapper ? e.child("_Booster") : e;
  formats::boosting::Model model = formats::boosting::read_xgboost(raw_bytes(booster, booster.get("handle")));
  if (!is_wrapper || e.text("booster") == "gblinear") model.best_rounds = 0;
  if (is_wrapper && e.has("best_ntree_limit") && model.best_rounds == 0)
    model.best_rounds = e.integer("best_ntree_limit") / std::max<std::int64_t>(1, e.integer("num_parallel_tree", 1));
  const auto asks_for_member = [](const formats::boosting::Tree& tree) {
    return std::ranges::any_of(tree.nodes, [](const TreeNode& node) { return node.rule == Rule::member; });
  };
  if (is_wrapper && std::ranges::any_of(model.trees, asks_for_member))
    c.notes.add("columns of XGBoost that pandas kept as categories are read as their codes");
  const double missing = is_wrapper ? e.number("missing", NAN) : NAN;
  if (std::isnan(missing)) return from_library(c, e, x, model);
  Value* numbers = c.numbers(x);
  Value* is_missing = c.g.op("Equal", {numbers, c.number(missing)});
  numbers = c.g.where(is_missing, c.number(std::numeric_limits<double>::quiet_NaN()), numbers);
  return from_library(c, e, c.columns_of(numbers), model);
}

Result lightgbm_model(Context& c, const Estimator& e, const Columns& x) {
  const Estimator booster = e.has("_Booster") ? e.child("_Booster") : e;
  const pickle::Ref text = booster.get_any({"handle", "_handle", "model_str"});
  if (!text->is_text()) throw Error(Code::bad_source_graph, "the booster has no model inside");
  formats::boosting::Model model = formats::boosting::read_lightgbm(text->text);
  model.best_rounds = std::max<std::int64_t>(0, booster.integer("best_iteration", -1));
  if (const pickle::Ref pandas = booster.find("pandas_categorical"); pandas && !pickle::items_of(*pandas).empty())
    c.notes.add("columns of LightGBM that pandas kept as categories are read as their codes");
  return from_library(c, e, x, model);
}

Result catboost_model(Context& c, const Estimator& e, const Columns& x) {
  const formats::boosting::Model model = formats::boosting::read_catboost_binary(raw_bytes(e, e.get(kCatboostModel)));
  Result result = from_library(c, e, x, model);
  if (!model.class_names.empty()) result.classes = {.texts = model.class_names, .kind = 'U'};
  if (!model.class_numbers.empty()) result.classes = {.numbers = model.class_numbers};
  return result;
}

}  // namespace ingot::frontends::sklearn
