// Estimators made of estimators.
#include <algorithm>
#include <cmath>

#include "ingot/base/error.h"
#include "ingot/frontends/sklearn/estimators.h"

namespace ingot::frontends::sklearn {
namespace {

std::vector<double> weights_or_ones(const Estimator& e, std::string_view attribute, std::size_t count) {
  if (!e.has(attribute)) return std::vector<double>(count, 1);
  auto all = e.vector(attribute);
  if (all.size() < count) throw Error(Code::bad_source_graph, "there are fewer weights than estimators");
  all.resize(count);
  return all;
}

double total(const std::vector<double>& values) {
  double sum = 0;
  for (const double v : values) sum += v;
  return sum;
}

Value* probabilities_of(const Result& result, std::string_view name) {
  if (!result.probabilities) refuse(std::string(name) + " has no probabilities");
  return result.probabilities;
}

Value* added(Context& c, Value* sum, Value* term) { return sum ? c.g.add(sum, term) : term; }

/// [N, K] of ones where the class is; `result.place` counts in the estimator's own classes.
Value* votes(Context& c, const Result& result, std::size_t classes) {
  if (!result.place) refuse("an estimator inside gives no class");
  return c.one_hot(result.place, static_cast<std::int64_t>(classes));
}

/// The columns that one of many estimators was fitted on.
Columns own_features(Context& c, const Estimator& e, const Columns& x, std::size_t i) {
  if (!e.has("estimators_features_")) return x;
  std::vector<std::int64_t> places;
  for (const double f : e.doubles(e.list("estimators_features_").at(i).value()))
    places.push_back(static_cast<std::int64_t>(f));
  bool is_all = std::ssize(places) == width_of(x);
  for (std::size_t k = 0; k < places.size() && is_all; ++k) is_all = places[k] == static_cast<std::int64_t>(k);
  return is_all ? x : c.select(x, places);
}

}  // namespace

Result voting_classifier(Context& c, const Estimator& e, const Columns& x) {
  const auto estimators = e.list("estimators_");
  Labels classes = classes_of(e);
  auto weights = weights_or_ones(e, "weights", estimators.size());
  const bool is_soft = e.text("voting", "hard") == "soft";
  Value* sum = nullptr;
  for (std::size_t i = 0; i < estimators.size(); ++i) {
    const Result one = c.predict(estimators[i], x);
    Value* says = is_soft ? probabilities_of(one, estimators[i].name()) : votes(c, one, classes.size());
    sum = added(c, sum, c.g.mul(c.g.cast(says, c.elem), weights[i]));
  }
  if (!sum) refuse("it has no estimators");
  if (is_soft) return from_probabilities(c, c.g.div(sum, total(weights)), std::move(classes));
  Result result;
  result.classes = std::move(classes);
  result.place = c.arg_max(sum);
  return result;
}

Result voting_regressor(Context& c, const Estimator& e, const Columns& x) {
  const auto estimators = e.list("estimators_");
  const auto weights = weights_or_ones(e, "weights", estimators.size());
  Value* sum = nullptr;
  for (std::size_t i = 0; i < estimators.size(); ++i)
    sum = added(c, sum, c.g.mul(c.g.cast(value_of(c.predict(estimators[i], x)), c.elem), weights[i]));
  if (!sum) refuse("it has no estimators");
  return {.values = c.g.div(sum, total(weights))};
}

Value* value_of(const Result& result) {
  if (!result.values) refuse("an estimator inside is no regressor");
  return result.values;
}

Columns stacked_columns(Context& c, const Estimator& e, const Columns& x) {
  const auto estimators = e.list("estimators_");
  std::vector<std::string> methods;
  for (const Estimator& m : e.list("stack_method_")) methods.push_back(e.text_in(m.value()).value_or("predict"));
  Columns all;
  std::size_t i = 0;
  for (const Estimator& one : estimators) {
    const Result r = c.predict(one, x);
    const std::string method = i < methods.size() ? methods[i] : "predict";
    ++i;
    Value* out = method == "predict_proba"       ? probabilities_of(r, one.name())
                 : method == "decision_function" ? r.scores
                 : r.values                      ? r.values
                                                 : c.g.unsqueeze(c.label_of(r), {1});
    if (!out) refuse("an estimator inside does not say what is stacked");
    Columns part = c.columns_of(c.g.cast(out, c.elem));
    if (method == "predict_proba" && width_of(part) == 2) part = c.columns_of(c.column(c.numbers(part), 1));
    all.insert(all.end(), part.begin(), part.end());
  }
  if (e.flag("passthrough")) all.insert(all.end(), x.begin(), x.end());
  return all;
}

Result stacking(Context& c, const Estimator& e, const Columns& x) {
  Result result = c.predict(e.child("final_estimator_"), stacked_columns(c, e, x));
  if (e.name() == "StackingClassifier") result.classes = classes_of(e);
  return result;
}

Result bagging_classifier(Context& c, const Estimator& e, const Columns& x) {
  const auto estimators = e.list("estimators_");
  Labels classes = e.labels("classes_");
  Value* sum = nullptr;
  for (std::size_t i = 0; i < estimators.size(); ++i) {
    const Result one = c.predict(estimators[i], own_features(c, e, x, i));
    // Estimators inside count classes from 0 on; one without probabilities votes.
    Value* p = one.probabilities ? one.probabilities : votes(c, one, classes.size());
    if (one.classes.size() != classes.size()) refuse("an estimator inside did not see all classes");
    sum = added(c, sum, p);
  }
  if (!sum) refuse("it has no estimators");
  return from_probabilities(c, c.g.div(sum, static_cast<double>(estimators.size())), std::move(classes));
}

Result bagging_regressor(Context& c, const Estimator& e, const Columns& x) {
  const auto estimators = e.list("estimators_");
  Value* sum = nullptr;
  for (std::size_t i = 0; i < estimators.size(); ++i)
    sum = added(c, sum, value_of(c.predict(estimators[i], own_features(c, e, x, i))));
  if (!sum) refuse("it has no estimators");
  return {.values = c.g.div(sum, static_cast<double>(estimators.size()))};
}

/// SAMME.R adds logarithms of probabilities, SAMME votes.
Result ada_boost_classifier(Context& c, const Estimator& e, const Columns& x) {
  const auto estimators = e.list("estimators_");
  Labels classes = e.labels("classes_");
  const auto k = static_cast<double>(classes.size());
  const auto weights = weights_or_ones(e, "estimator_weights_", estimators.size());
  const bool is_real = e.text("algorithm", e.version() >= 106 ? "SAMME" : "SAMME.R") == "SAMME.R";
  const bool is_centred = e.version() >= 104;
  Value* sum = nullptr;
  for (std::size_t i = 0; i < estimators.size(); ++i) {
    const Result one = c.predict(estimators[i], x);
    if (is_real) {
      Value* p = c.g.op("Max", {probabilities_of(one, estimators[i].name()), c.number(2.2204460492503131e-16)});
      Value* logs = c.g.op("Log", {p});
      Value* mean = c.g.div(c.sum_rows(logs), k);
      sum = added(c, sum, c.g.mul(c.g.sub(logs, mean), k - 1));
    } else {
      Value* vote = votes(c, one, classes.size());
      Value* says = is_centred ? c.g.sub(c.g.mul(vote, weights[i] * k / (k - 1)), weights[i] / (k - 1))
                               : c.g.mul(vote, weights[i]);
      sum = added(c, sum, says);
    }
  }
  if (!sum) refuse("it has no estimators");
  Value* decision = c.g.div(sum, total(weights));
  Result result;
  result.classes = std::move(classes);
  if (k == 2) {
    result.scores = c.g.sub(c.column(decision, 1), c.column(decision, 0));
    result.place = c.g.squeeze(c.g.cast(c.g.op("Greater", {result.scores, c.number(0)}), DType::i64), {1});
    Value* half = c.g.div(result.scores, 2.0);
    result.probabilities = c.softmax(c.g.concat({c.g.neg(half), half}, 1));
  } else {
    result.scores = decision;
    result.place = c.arg_max(decision);
    result.probabilities = c.softmax(c.g.div(decision, k - 1));
  }
  return result;
}

/// The weighted median of what the estimators say.
Result ada_boost_regressor(Context& c, const Estimator& e, const Columns& x) {
  const auto estimators = e.list("estimators_");
  const auto weights = weights_or_ones(e, "estimator_weights_", estimators.size());
  Values all;
  for (const Estimator& one : estimators) all.push_back(value_of(c.predict(one, x)));
  if (all.empty()) refuse("it has no estimators");
  Value* said = c.g.concat(all, 1);
  const auto count = static_cast<std::int64_t>(all.size());
  const Values sorted = c.g.op("TopK", {said, c.g.ints({count})}, {{"axis", 1}, {"largest", 0}, {"sorted", 1}}, 2);
  Value* ordered = c.g.op("Gather", {c.g.squeeze(c.row(weights), {0}), sorted[1]}, {{"axis", 0}});
  Value* sums = c.g.op("CumSum", {ordered, c.g.index(1)});
  Value* half = c.g.mul(c.column(sums, count - 1), 0.5);
  Value* is_behind = c.g.cast(c.g.op("GreaterOrEqual", {sums, half}), c.elem);
  Value* first = c.g.unsqueeze(c.arg_max(is_behind), {1});
  return {.values = c.g.op("GatherElements", {sorted[0], first}, {{"axis", 1}})};
}

namespace {

/// A calibrator on one column of scores.
Value* calibrated(Context& c, const Estimator& calibrator, Value* score) {
  if (calibrator.name() == "_SigmoidCalibration") {
    const double a = calibrator.number("a_"), b = calibrator.number("b_");
    return c.sigmoid(c.g.neg(c.g.add(c.g.mul(score, a), b)));
  }
  return isotonic_values(c, calibrator, score);
}

}  // namespace

Value* isotonic_values(Context& c, const Estimator& e, Value* score) {
  const auto knots = e.has("X_thresholds_") ? e.vector("X_thresholds_") : e.vector("_necessary_X_");
  const auto values = e.has("y_thresholds_") ? e.vector("y_thresholds_") : e.vector("_necessary_y_");
  return interpolated(c, score, knots, values);
}

Result isotonic_regressor(Context& c, const Estimator& e, const Columns& x) {
  Value* score = c.numbers(x);
  Value* y = isotonic_values(c, e, score);
  if (e.text("out_of_bounds", "nan") != "clip") {
    Value* outside = c.g.op("Or", {c.g.op("Less", {score, c.number(e.number("X_min_"))}),
                                   c.g.op("Greater", {score, c.number(e.number("X_max_"))})});
    y = c.g.where(outside, c.number(NAN), y);
  }
  return {.values = y};
}

namespace {

/// What an estimator around another asks for: its decision function, or else its probabilities.
Value* decision_of(const Result& said) {
  return said.scores && (said.decides_by_scores || !said.probabilities) ? said.scores : said.probabilities;
}

}  // namespace

Result calibrated_classifier(Context& c, const Estimator& e, const Columns& x) {
  Labels classes = e.labels("classes_");
  Value* sum = nullptr;
  const auto all = e.list("calibrated_classifiers_");
  for (const Estimator& one : all) {
    const Estimator inner = one.child(one.has("estimator") ? "estimator" : "base_estimator");
    const auto calibrators = one.items(one.get_any({"calibrators", "calibrators_"}));
    const Result said = c.predict(inner, x);
    Value* scores = decision_of(said);
    if (!scores) refuse(std::string(inner.name()) + " gives nothing to calibrate");
    if (classes.size() == 2 && width_of(c.columns_of(scores)) == 2) scores = c.column(scores, 1);
    Value* p = nullptr;
    if (classes.size() == 2) {
      p = two_columns(c, calibrated(c, calibrators.at(0), scores));
    } else {
      Values columns;
      for (std::size_t k = 0; k < classes.size(); ++k)
        columns.push_back(calibrated(c, calibrators.at(k), c.column(scores, static_cast<std::int64_t>(k))));
      p = c.normalised(c.g.concat(columns, 1));
    }
    sum = added(c, sum, p);
  }
  if (!sum) refuse("it has no classifiers");
  return from_probabilities(c, c.g.div(sum, static_cast<double>(all.size())), std::move(classes));
}

namespace {

/// The score of the second of two classes, and the probability of it.
struct Second {
  Value *score, *probability;
};
Second second_of(Context& c, const Result& r) {
  Second s{r.decides_by_scores ? r.scores : nullptr, nullptr};
  if (r.probabilities) s.probability = c.column(r.probabilities, 1);
  if (!s.score) s.score = s.probability;
  if (!s.score) s.score = r.values;
  if (!s.score) refuse("an estimator inside gives no scores");
  return s;
}

}  // namespace

Result one_against_rest_classifier(Context& c, const Estimator& e, const Columns& x) {
  const auto estimators = e.list("estimators_");
  Labels classes = classes_of(e);
  Values scores, probabilities;
  for (const Estimator& one : estimators) {
    if (one.name() == "_ConstantPredictor") refuse("a class was always or never there in the fit");
    const Second s = second_of(c, c.predict(one, x));
    scores.push_back(s.score);
    if (s.probability) probabilities.push_back(s.probability);
  }
  if (scores.empty()) refuse("it has no estimators");
  Value* all = c.g.concat(scores, 1);
  const bool has_probabilities = probabilities.size() == scores.size();
  const Estimator binarizer = e.child("label_binarizer_");
  if (binarizer.text("y_type_") == "multilabel-indicator") {
    Result result;
    Value* p = has_probabilities ? c.g.concat(probabilities, 1) : nullptr;
    result.probabilities = p;
    const bool by_decision = !has_probabilities || scores[0] != probabilities[0];
    result.label = c.g.cast(c.g.op("Greater", {all, c.number(by_decision ? 0 : 0.5)}), DType::i64);
    return result;
  }
  Result result;
  if (scores.size() == 1) {
    result = from_scores(c, all, std::move(classes));
    if (has_probabilities) result.probabilities = two_columns(c, probabilities[0]);
    if (has_probabilities && probabilities[0] == scores[0]) result.place = c.arg_max(result.probabilities);
    return result;
  }
  result.scores = all;
  result.classes = std::move(classes);
  // Of equals the last counts.
  result.place = c.g.op("ArgMax", {all}, {{"axis", 1}, {"keepdims", 0}, {"select_last_index", 1}});
  if (has_probabilities) result.probabilities = c.normalised(c.g.concat(probabilities, 1));
  return result;
}

Result one_against_one_classifier(Context& c, const Estimator& e, const Columns& x) {
  const auto estimators = e.list("estimators_");
  Labels classes = e.labels("classes_");
  const auto k = static_cast<std::int64_t>(classes.size());
  if (std::ssize(estimators) != k * (k - 1) / 2)
    throw Error(Code::bad_source_graph, "it has no estimator per pair of classes");
  std::vector<Value*> votes_of(static_cast<std::size_t>(k)), sums(static_cast<std::size_t>(k));
  std::size_t pair = 0;
  for (std::int64_t i = 0; i < k; ++i)
    for (std::int64_t j = i + 1; j < k; ++j, ++pair) {
      const Result r = c.predict(estimators[pair], x);
      const Second s = second_of(c, r);
      Value* wins = c.g.cast(c.g.unsqueeze(r.place, {1}), c.elem);
      const auto a = static_cast<std::size_t>(i), b = static_cast<std::size_t>(j);
      votes_of[a] = added(c, votes_of[a], c.g.sub(1.0, wins));
      votes_of[b] = added(c, votes_of[b], wins);
      sums[a] = added(c, sums[a], c.g.neg(s.score));
      sums[b] = added(c, sums[b], s.score);
    }
  Value *all = c.g.concat(Values(votes_of.begin(), votes_of.end()), 1),
        *sum = c.g.concat(Values(sums.begin(), sums.end()), 1);
  Value* decision = c.g.add(all, c.g.div(sum, c.g.mul(c.g.add(c.g.op("Abs", {sum}), 1.0), 3.0)));
  Result result;
  result.classes = std::move(classes);
  result.scores = k == 2 ? c.column(decision, 1) : decision;
  result.place = c.arg_max(decision);
  return result;
}

/// The class whose code is nearest to what the estimators say.
Result output_code_classifier(Context& c, const Estimator& e, const Columns& x) {
  Values said;
  for (const Estimator& one : e.list("estimators_")) said.push_back(second_of(c, c.predict(one, x)).score);
  Result result;
  result.classes = e.labels("classes_");
  result.place = c.arg_max(c.g.neg(c.square_distances(c.g.concat(said, 1), e.matrix("code_book_"))));
  return result;
}

Result multi_output(Context& c, const Estimator& e, const Columns& x) {
  Result result;
  Values labels, values;
  for (const Estimator& one : e.list("estimators_")) {
    const Result r = c.predict(one, x);
    if (r.values) {
      values.push_back(r.values);
      continue;
    }
    labels.push_back(c.g.unsqueeze(c.label_of(r), {1}));
    if (!result.probabilities)
      result.probabilities = r.probabilities;
    else if (r.probabilities)
      result.more_probabilities.push_back(r.probabilities);
  }
  if (!values.empty()) result.values = c.g.concat(values, 1);
  if (!labels.empty()) result.label = c.g.concat(labels, 1);
  return result;
}

/// Each estimator also sees what those before it said.
Result estimator_chain(Context& c, const Estimator& e, const Columns& x) {
  const auto estimators = e.list("estimators_");
  const auto order = e.doubles(e.get("order_"));
  Columns seen = x;
  std::vector<Value*> said(estimators.size()), probabilities(estimators.size());
  const bool is_classifier = e.name() == "ClassifierChain";
  for (std::size_t i = 0; i < estimators.size(); ++i) {
    const Result r = c.predict(estimators[i], seen);
    Value* out = is_classifier ? c.g.unsqueeze(c.label_of(r), {1}) : value_of(r);
    const auto at = static_cast<std::size_t>(order.at(i));
    said.at(at) = out;
    if (r.probabilities) probabilities.at(at) = c.column(r.probabilities, 1);
    const Columns part = c.columns_of(c.g.cast(out, c.elem));
    seen.insert(seen.end(), part.begin(), part.end());
  }
  Result result;
  Value* all = c.g.concat(Values(said.begin(), said.end()), 1);
  (is_classifier ? result.label : result.values) = all;
  if (is_classifier && std::ranges::all_of(probabilities, [](Value* p) { return p != nullptr; }))
    result.probabilities = c.g.concat(Values(probabilities.begin(), probabilities.end()), 1);
  return result;
}

Result transformed_target(Context& c, const Estimator& e, const Columns& x) {
  Value* y = value_of(c.predict(e.child("regressor_"), x));
  return {.values = inverse_transformed(c, e.child("transformer_"), y)};
}

namespace {

Value* inverse_power(Context& c, const Estimator& t, Value* y) {
  const auto lambdas = t.vector("lambdas_");
  if (t.flag("standardize", true)) y = inverse_transformed(c, t.child("_scaler"), y);
  const bool is_box_cox = t.text("method", "yeo-johnson") == "box-cox";
  const auto power = [&](Value* base, double by) { return c.g.op("Pow", {base, c.number(by)}); };
  Values columns;
  for (std::size_t i = 0; i < lambdas.size(); ++i) {
    const double lambda = lambdas[i], mirrored = 2 - lambda;
    Value* v = c.column(y, static_cast<std::int64_t>(i));
    Value* grown = lambda == 0 ? c.g.op("Exp", {v}) : power(c.g.add(c.g.mul(v, lambda), 1.0), 1 / lambda);
    if (is_box_cox) {
      columns.push_back(grown);
      continue;
    }
    Value* shrunk =
        mirrored == 0 ? c.g.op("Exp", {c.g.neg(v)}) : power(c.g.sub(1.0, c.g.mul(v, mirrored)), 1 / mirrored);
    Value* is_negative = c.g.op("Less", {v, c.number(0)});
    columns.push_back(c.g.where(is_negative, c.g.sub(1.0, shrunk), c.g.sub(grown, 1.0)));
  }
  return columns.size() == 1 ? columns[0] : c.g.concat(columns, 1);
}

}  // namespace

Value* inverse_transformed(Context& c, const Estimator& t, Value* y) {
  const std::string_view name = t.name();
  if (name == "StandardScaler" || name == "RobustScaler") {
    if (t.has("scale_")) y = c.g.mul(y, c.row(t.vector("scale_")));
    const char* shift = name == "StandardScaler" ? "mean_" : "center_";
    return t.has(shift) ? c.g.add(y, c.row(t.vector(shift))) : y;
  }
  if (name == "MinMaxScaler") return c.g.div(c.g.sub(y, c.row(t.vector("min_"))), c.row(t.vector("scale_")));
  if (name == "MaxAbsScaler") return c.g.mul(y, c.row(t.vector("scale_")));
  if (name == "FunctionTransformer") {
    const pickle::Ref f = t.find("inverse_func");
    if (!f || f->is_none()) return y;
    const std::string function = t.numpy_function(f);
    if (function == "exp") return c.g.op("Exp", {y});
    if (function == "expm1") return c.g.sub(c.g.op("Exp", {y}), 1.0);
    if (function == "log") return c.g.op("Log", {y});
    if (function == "log1p") return c.g.op("Log", {c.g.add(y, 1.0)});
    if (function == "square") return c.g.mul(y, y);
    if (function == "sqrt") return c.g.op("Sqrt", {y});
    throw Error(Code::code_refused, "its inverse function is not known, and is not executed");
  }
  if (name == "PowerTransformer") return inverse_power(c, t, y);
  refuse("the inverse of " + std::string(name) + " is not translated");
}

Result dummy_classifier(Context& c, const Estimator& e, const Columns& x) {
  const std::string strategy = e.text("strategy", "prior");
  if (strategy == "stratified" || strategy == "uniform") refuse("it draws its answers at random");
  Labels classes = e.labels("classes_");
  const auto priors = e.vector("class_prior_");
  std::vector<double> row = priors;
  std::size_t best = static_cast<std::size_t>(std::ranges::max_element(priors) - priors.begin());
  if (strategy == "constant") {
    const auto text = e.text_in(e.get("constant"));
    const auto number = e.number_in(e.get("constant"));
    for (std::size_t i = 0; i < classes.size(); ++i)
      if (classes.is_text() ? text && classes.texts[i] == *text : number && classes.numbers[i] == *number) best = i;
  }
  if (strategy != "prior")
    for (std::size_t i = 0; i < row.size(); ++i) row[i] = i == best ? 1 : 0;
  Value* zero = c.g.mul(c.g.cast(c.is_nan(c.column(c.numbers(x), 0)), c.elem), 0.0);
  Result result = from_probabilities(c, c.g.add(zero, c.row(row)), std::move(classes));
  return result;
}

/// What stands for a classifier of one class within others.
Result constant_predictor(Context& c, const Estimator& e, const Columns& x) {
  Value* zero = c.g.mul(c.g.cast(c.is_nan(c.column(c.numbers(x), 0)), c.elem), 0.0);
  const double y = e.vector("y_").at(0);
  Result result = from_probabilities(c, c.g.add(zero, c.row({1 - y, y})), {.numbers = {0, 1}});
  result.scores = c.g.add(zero, y);
  return result;
}

Result dummy_regressor(Context& c, const Estimator& e, const Columns& x) {
  Value* zero = c.g.mul(c.g.cast(c.is_nan(c.column(c.numbers(x), 0)), c.elem), 0.0);
  return {.values = c.g.add(zero, c.row(e.vector("constant_")))};
}

}  // namespace ingot::frontends::sklearn
