// Linear models.
#include <cmath>
#include <numbers>

#include "ingot/frontends/sklearn/estimators.h"

namespace ingot::frontends::sklearn {
namespace {

/// One intercept per row of coefficients.
std::vector<double> intercepts_of(const Estimator& e, std::int64_t rows) {
  std::vector<double> values = e.has("intercept_") ? e.vector("intercept_") : std::vector<double>{0};
  if (values.size() == 1) values.resize(static_cast<std::size_t>(rows), values[0]);
  return values;
}

Value* predictor(Context& c, const Estimator& e, const Columns& x) {
  const Matrix coefficients = e.matrix("coef_");
  return c.linear(c.numbers(x), coefficients, intercepts_of(e, coefficients.rows));
}

Value* one_against_rest(Context& c, Value* scores, std::size_t classes) {
  if (classes == 2) return two_columns(c, c.sigmoid(scores));
  // What is next to nothing still counts beside less, so it must not be 1 over infinity, which some runtimes' Sigmoid
  // has. Where all are 0 there is no number, as there is none in scikit-learn.
  const auto number = [&](double v) { return c.g.scalar(v, scores->type.elem); };
  Value* power = c.g.op("Exp", {c.g.neg(c.g.op("Abs", {scores}))});
  Value* is_low = c.g.op("Less", {scores, number(0)});
  Value* p = c.g.div(c.g.where(is_low, power, number(1)), c.g.add(power, number(1)));
  return c.g.div(p, c.sum_rows(p));
}

bool is_multinomial(const Estimator& e, std::size_t classes) {
  const std::string mode = e.text("multi_class", "auto");
  if (mode == "multinomial") return true;
  if (mode == "ovr" || mode == "warn") return false;
  return classes > 2 && e.text("solver") != "liblinear";
}

}  // namespace

Value* two_columns(Context& c, Value* second) { return c.g.concat({c.g.sub(1.0, second), second}, 1); }

Labels classes_of(const Estimator& e) {
  if (e.has("classes_")) return e.labels("classes_");
  for (const char* name : {"_label_binarizer", "label_binarizer_", "_le", "le_", "_label_encoder"})
    if (e.has(name)) return e.child(name).labels("classes_");
  return e.labels("classes_");
}

Result from_scores(Context& c, Value* scores, Labels classes) {
  Result result;
  result.scores = scores;
  result.classes = std::move(classes);
  if (result.classes.size() == 2)
    result.place =
        c.g.squeeze(c.g.cast(c.g.op("Greater", {scores, c.g.scalar(0, scores->type.elem)}), DType::i64), {1});
  else
    result.place = c.arg_max(scores);
  return result;
}

Result from_probabilities(Context& c, Value* probabilities, Labels classes) {
  Result result;
  result.probabilities = probabilities;
  result.classes = std::move(classes);
  result.place = c.arg_max(probabilities);
  return result;
}

Result linear_regressor(Context& c, const Estimator& e, const Columns& x) { return {.values = predictor(c, e, x)}; }

/// Generalised linear models: the link is a logarithm, but for a Tweedie distribution of power 0 or less.
Result log_linear_regressor(Context& c, const Estimator& e, const Columns& x) {
  Value* sum = predictor(c, e, x);
  const std::string link = e.text("link", "auto");
  const bool is_identity =
      e.name() == "TweedieRegressor" && (link == "identity" || (link == "auto" && e.number("power", 0) <= 0));
  return {.values = is_identity ? sum : c.g.op("Exp", {sum})};
}

Result linear_classifier(Context& c, const Estimator& e, const Columns& x) {
  Value* scores = predictor(c, e, x);
  const bool has_binarizer = e.has("_label_binarizer") && e.child("_label_binarizer").is_instance();
  if (!has_binarizer || !e.child("_label_binarizer").text("y_type_").starts_with("multilabel"))
    return from_scores(c, scores, classes_of(e));
  Result result;  // a label of its own for each column
  result.scores = scores;
  result.label = c.g.cast(c.g.op("Greater", {scores, c.number(0)}), DType::i64);
  return result;
}

Result logistic_regression(Context& c, const Estimator& e, const Columns& x) {
  Result result = linear_classifier(c, e, x);
  const std::size_t classes = result.classes.size();
  if (!is_multinomial(e, classes))
    result.probabilities = one_against_rest(c, result.scores, classes);
  else if (classes == 2)
    result.probabilities = c.softmax(c.g.concat({c.g.neg(result.scores), result.scores}, 1));
  else
    result.probabilities = c.softmax(result.scores);
  return result;
}

Result sgd_classifier(Context& c, const Estimator& e, const Columns& x) {
  Result result = linear_classifier(c, e, x);
  const std::string loss = e.text("loss");
  const std::size_t classes = result.classes.size();
  if (loss == "log" || loss == "log_loss") result.probabilities = one_against_rest(c, result.scores, classes);
  if (loss == "modified_huber") {
    Value* clipped = c.g.op("Clip", {result.scores, c.number(-1), c.number(1)});
    Value* p = c.g.div(c.g.add(clipped, 1.0), 2.0);
    result.probabilities = classes == 2 ? two_columns(c, p) : c.normalised(p);
  }
  return result;
}

/// PLSRegression, CCA, PLSCanonical: coef_ is [targets, features] since 1.3, turned before; x is centred (and, before
/// 1.3, scaled).
Result pls_regressor(Context& c, const Estimator& e, const Columns& x) {
  // 1.2 keeps them turned under a name of its own; since 1.5 the scale of x is in them.
  Matrix coefficients = e.has("_coef_") ? e.matrix("_coef_") : e.matrix("coef_");
  const auto mean = e.doubles(e.get_any({"_x_mean", "x_mean_"}));
  if (e.version() < 102) coefficients = coefficients.turned();
  Value* centred = c.g.sub(c.numbers(x), c.row(mean));
  if (e.version() < 105) centred = c.g.div(centred, c.row(e.doubles(e.get_any({"_x_std", "x_std_"}))));
  const auto shift = e.has("intercept_") ? e.vector("intercept_") : e.doubles(e.get_any({"_y_mean", "y_mean_"}));
  return {.values = c.linear(centred, coefficients, shift)};
}

Columns pls_transform(Context& c, const Estimator& e, const Columns& x) {
  Value* centred = c.g.sub(c.numbers(x), c.row(e.doubles(e.get_any({"_x_mean", "x_mean_"}))));
  centred = c.g.div(centred, c.row(e.doubles(e.get_any({"_x_std", "x_std_"}))));
  return c.columns_of(c.g.op("MatMul", {centred, c.matrix(e.matrix("x_rotations_"))}));
}

Result linear_discriminant(Context& c, const Estimator& e, const Columns& x) {
  Result result = linear_classifier(c, e, x);
  result.probabilities =
      result.classes.size() == 2 ? two_columns(c, c.sigmoid(result.scores)) : c.softmax(result.scores);
  return result;
}

Columns discriminant_transform(Context& c, const Estimator& e, const Columns& x) {
  Matrix scalings = e.matrix("scalings_");
  const std::int64_t wanted = std::min(e.integer("_max_components", scalings.columns), scalings.columns);
  Matrix turned = scalings.turned();
  turned = turned.rows_of(0, wanted);
  Value* centred = c.numbers(x);
  if (e.has("xbar_")) centred = c.g.sub(centred, c.row(e.vector("xbar_")));
  return c.columns_of(c.linear(centred, turned, {}));
}

Result quadratic_discriminant(Context& c, const Estimator& e, const Columns& x) {
  const Matrix means = e.matrix("means_");
  const auto rotations = e.list("rotations_"), scalings = e.list("scalings_");
  const auto priors = e.vector("priors_");
  if (std::ssize(rotations) != means.rows || scalings.size() != rotations.size() || priors.size() != rotations.size())
    refuse("its classes do not have one rotation and scaling each");
  Value* numbers = c.numbers(x);
  Values scores;
  for (std::size_t k = 0; k < rotations.size(); ++k) {
    const Matrix rotation = e.to_matrix(rotations[k].value());
    const auto scaling = e.doubles(scalings[k].value());
    double log_determinant = 0;
    std::vector<double> inverse;
    for (const double s : scaling) {
      inverse.push_back(1 / std::sqrt(s));
      log_determinant += std::log(s);
    }
    Value* centred = c.g.sub(numbers, c.row(means.rows_of(static_cast<std::int64_t>(k), 1).values));
    Value* rotated = c.g.mul(c.g.op("MatMul", {centred, c.matrix(rotation)}), c.row(inverse));
    Value* norm = c.sum_rows(c.g.mul(rotated, rotated));
    scores.push_back(c.g.add(c.g.mul(c.g.add(norm, log_determinant), -0.5), std::log(priors[k])));
  }
  Value* all = c.g.concat(scores, 1);
  Result result = from_probabilities(c, c.softmax(all), e.labels("classes_"));
  result.place = c.arg_max(all);
  result.scores = all;
  return result;
}

/// Kernel ridge regression: dual coefficients on a kernel of named metrics.
Result kernel_ridge(Context& c, const Estimator& e, const Columns& x) {
  Matrix dual = e.matrix("dual_coef_");
  if (dual.rows == 1) dual = dual.turned();
  Value* k = named_kernel(c, e, c.numbers(x), e.matrix("X_fit_"));
  return {.values = c.g.op("MatMul", {k, c.matrix(dual)})};
}

}  // namespace ingot::frontends::sklearn
