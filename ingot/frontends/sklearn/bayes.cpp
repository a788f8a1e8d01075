// Naive Bayes.
#include <cmath>
#include <numbers>

#include "ingot/frontends/sklearn/estimators.h"

namespace ingot::frontends::sklearn {
namespace {

/// Joint logarithms [N, K] to a result; their maximum is the class.
Result from_logarithms(Context& c, const Estimator& e, Value* joint) {
  Result result;
  result.classes = e.labels("classes_");
  result.scores = joint;
  result.decides_by_scores = false;
  result.probabilities = c.softmax(joint);
  result.place = c.arg_max(joint);
  return result;
}

/// x C^T + b, where what was not counted adds nothing even to an infinite logarithm, as it does in sparse rows.
Value* counted(Context& c, Value* x, Matrix logs, const std::vector<double>& shift) {
  const std::size_t count = logs.values.size();
  bool has_never = false;
  for (const double log : logs.values) has_never |= log == -HUGE_VAL;
  if (!has_never) return c.linear(x, logs, shift);
  Matrix never{logs.rows, logs.columns, std::vector<double>(count)};
  for (std::size_t i = 0; i < count; ++i) {
    if (logs.values[i] != -HUGE_VAL) continue;
    logs.values[i] = 0;
    never.values[i] = 1;
  }
  Value* sum = c.linear(x, logs, shift);
  Value* is_there = c.g.cast(c.g.op("Not", {c.g.op("Equal", {x, c.number(0)})}), c.elem);
  Value* hits = c.linear(is_there, never, {});
  return c.g.where(c.g.op("Greater", {hits, c.number(0)}), c.number(-HUGE_VAL), sum);
}

}  // namespace

Result gaussian_bayes(Context& c, const Estimator& e, const Columns& x) {
  const Matrix mean = e.matrix("theta_"), variance = e.to_matrix(e.get_any({"var_", "sigma_"}));
  const auto priors = e.vector("class_prior_");
  Values joint;
  Value* numbers = c.numbers(x);
  for (std::int64_t k = 0; k < mean.rows; ++k) {
    const std::vector<double> m = mean.rows_of(k, 1).values, v = variance.rows_of(k, 1).values;
    double constant = std::log(priors.at(static_cast<std::size_t>(k)));
    for (const double one : v) constant -= 0.5 * std::log(2 * std::numbers::pi * one);
    Value* difference = c.g.sub(numbers, c.row(m));
    Value* sum = c.sum_rows(c.g.div(c.g.mul(difference, difference), c.row(v)));
    joint.push_back(c.g.add(c.g.mul(sum, -0.5), constant));
  }
  return from_logarithms(c, e, c.g.concat(joint, 1));
}

Result multinomial_bayes(Context& c, const Estimator& e, const Columns& x) {
  const Matrix logs = e.matrix("feature_log_prob_");
  const auto priors = e.vector("class_log_prior_");
  return from_logarithms(c, e, counted(c, c.numbers(x), logs, priors));
}

/// Weights of the complement: the prior counts only where there is one class.
Result complement_bayes(Context& c, const Estimator& e, const Columns& x) {
  const Matrix logs = e.matrix("feature_log_prob_");
  const auto priors = logs.rows == 1 ? e.vector("class_log_prior_") : std::vector<double>{};
  return from_logarithms(c, e, c.linear(c.numbers(x), logs, priors));
}

Result bernoulli_bayes(Context& c, const Estimator& e, const Columns& x) {
  Matrix logs = e.matrix("feature_log_prob_");
  std::vector<double> shift = e.vector("class_log_prior_");
  for (std::int64_t k = 0; k < logs.rows; ++k)
    for (std::int64_t f = 0; f < logs.columns; ++f) {
      double& log = logs.values[static_cast<std::size_t>(k * logs.columns + f)];
      const double negative = std::log(1 - std::exp(log));
      shift.at(static_cast<std::size_t>(k)) += negative;
      log -= negative;
    }
  Value* numbers = c.numbers(x);
  if (e.has("binarize")) numbers = c.g.cast(c.g.op("Greater", {numbers, c.number(e.number("binarize"))}), c.elem);
  return from_logarithms(c, e, counted(c, numbers, logs, shift));
}

Result categorical_bayes(Context& c, const Estimator& e, const Columns& x) {
  const auto tables = e.list("feature_log_prob_");
  Value* places = c.g.cast(c.numbers(x), DType::i64);
  Value* joint = c.row(e.vector("class_log_prior_"));
  for (std::size_t f = 0; f < tables.size(); ++f) {
    const Matrix by_category = e.to_matrix(tables[f].value()).turned();
    Value* place =
        c.g.squeeze(c.g.op("Gather", {places, c.g.ints({static_cast<std::int64_t>(f)})}, {{"axis", 1}}), {1});
    joint = c.g.add(c.g.op("Gather", {c.matrix(by_category), place}, {{"axis", 0}}), joint);
  }
  return from_logarithms(c, e, joint);
}

}  // namespace ingot::frontends::sklearn
