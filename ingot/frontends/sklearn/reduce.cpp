// Decompositions, projections, kernel maps, and the choice of features.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>

#include "ingot/base/error.h"
#include "ingot/frontends/sklearn/estimators.h"

namespace ingot::frontends::sklearn {
namespace {

/// Solves a x = b for symmetric positive a; b has a column per right side.
Matrix solved(Matrix a, Matrix b) {
  const std::int64_t n = a.rows;
  const auto at = [](Matrix& m, std::int64_t r, std::int64_t k) -> double& {
    return m.values[static_cast<std::size_t>(r * m.columns + k)];
  };
  for (std::int64_t i = 0; i < n; ++i) {
    const double pivot = at(a, i, i);
    if (pivot == 0) throw Error(Code::bad_source_graph, "its components are not independent");
    for (std::int64_t r = 0; r < n; ++r) {
      if (r == i) continue;
      const double factor = at(a, r, i) / pivot;
      for (std::int64_t k = i; k < n; ++k) at(a, r, k) -= factor * at(a, i, k);
      for (std::int64_t k = 0; k < b.columns; ++k) at(b, r, k) -= factor * at(b, i, k);
    }
  }
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t k = 0; k < b.columns; ++k) at(b, i, k) /= at(a, i, i);
  return b;
}

Value* centred(Context& c, const Estimator& e, const Columns& x) {
  Value* v = c.numbers(x);
  return e.has("mean_") ? c.g.sub(v, c.row(e.vector("mean_"))) : v;
}

Columns picked(Context& c, const Columns& x, const std::vector<bool>& mask) {
  std::vector<std::int64_t> kept;
  for (std::size_t i = 0; i < mask.size(); ++i)
    if (mask[i]) kept.push_back(static_cast<std::int64_t>(i));
  if (std::cmp_not_equal(mask.size(), width_of(x)))
    throw Error(Code::bad_source_graph, "it was fitted on other columns");
  return c.select(x, kept);
}

}  // namespace

Columns principal_components(Context& c, const Estimator& e, const Columns& x) {
  Value* v = c.linear(centred(c, e, x), e.matrix("components_"), {});
  if (e.flag("whiten")) {
    auto scale = e.vector("explained_variance_");
    for (double& s : scale) s = std::max(std::sqrt(s), std::numeric_limits<double>::epsilon());
    v = c.g.div(v, c.row(scale));
  }
  return c.columns_of(v);
}

/// x C^T: TruncatedSVD, random projections, neighbourhood components.
Columns projection(Context& c, const Estimator& e, const Columns& x) {
  return c.columns_of(c.linear(c.numbers(x), e.matrix("components_"), {}));
}

Columns independent_components(Context& c, const Estimator& e, const Columns& x) {
  return c.columns_of(c.linear(centred(c, e, x), e.matrix("components_"), {}));
}

Columns factor_analysis(Context& c, const Estimator& e, const Columns& x) {
  const Matrix w = e.matrix("components_");
  const auto noise = e.vector("noise_variance_");
  // (I + W psi^-1 W^T)^-1 W psi^-1
  Matrix scaled = w, inner{w.rows, w.rows, std::vector<double>(static_cast<std::size_t>(w.rows * w.rows))};
  for (std::int64_t r = 0; r < w.rows; ++r)
    for (std::int64_t k = 0; k < w.columns; ++k)
      scaled.values[static_cast<std::size_t>(r * w.columns + k)] /= noise.at(static_cast<std::size_t>(k));
  for (std::int64_t r = 0; r < w.rows; ++r)
    for (std::int64_t k = 0; k < w.rows; ++k) {
      double sum = r == k ? 1 : 0;
      for (std::int64_t f = 0; f < w.columns; ++f) sum += scaled.at(r, f) * w.at(k, f);
      inner.values[static_cast<std::size_t>(r * w.rows + k)] = sum;
    }
  return c.columns_of(c.linear(centred(c, e, x), solved(inner, scaled), {}));
}

/// Ridge regression on sparse components.
Columns sparse_components(Context& c, const Estimator& e, const Columns& x) {
  const Matrix w = e.matrix("components_");
  Matrix inner{w.rows, w.rows, std::vector<double>(static_cast<std::size_t>(w.rows * w.rows))};
  for (std::int64_t r = 0; r < w.rows; ++r)
    for (std::int64_t k = 0; k < w.rows; ++k) {
      double sum = r == k ? e.number("ridge_alpha", 0.01) : 0;
      for (std::int64_t f = 0; f < w.columns; ++f) sum += w.at(r, f) * w.at(k, f);
      inner.values[static_cast<std::size_t>(r * w.rows + k)] = sum;
    }
  return c.columns_of(c.linear(centred(c, e, x), solved(inner, w), {}));
}

Value* named_kernel(Context& c, const Estimator& e, Value* x, const Matrix& points) {
  const std::string kernel = e.text("kernel", "linear");
  const double gamma = e.has("gamma_")  ? e.number("gamma_")
                       : e.has("gamma") ? e.number("gamma")
                                        : 1.0 / static_cast<double>(points.columns);
  const double shift = e.number("coef0", 1), degree = e.number("degree", 3);
  if (kernel == "rbf") return c.g.op("Exp", {c.g.mul(c.square_distances(x, points), -gamma)});
  if (kernel == "laplacian") {
    Value* size = c.g.op("Abs", {c.g.sub(c.g.unsqueeze(x, {1}), c.g.unsqueeze(c.matrix(points), {0}))});
    return c.g.op("Exp", {c.g.mul(c.g.op("ReduceSum", {size, c.g.ints({2})}, {{"keepdims", 0}}), -gamma)});
  }
  if (kernel == "linear") return c.linear(x, points, {});
  // Not MatMul times gamma: ONNX Runtime joins the two, and keeps the number as a float.
  Matrix scaled = points;
  for (double& v : scaled.values.own()) v *= gamma;
  if (kernel == "poly" || kernel == "polynomial")
    return c.g.op("Pow", {c.g.add(c.linear(x, scaled, {}), shift), c.number(degree)});
  if (kernel == "sigmoid") return c.g.op("Tanh", {c.g.add(c.linear(x, scaled, {}), shift)});
  if (kernel == "cosine") {
    Matrix norms{1, points.rows, {}};
    for (std::int64_t r = 0; r < points.rows; ++r) {
      double sum = 0;
      for (std::int64_t k = 0; k < points.columns; ++k) sum += points.at(r, k) * points.at(r, k);
      norms.values.own().push_back(sum > 0 ? std::sqrt(sum) : 1);
    }
    return c.g.div(c.linear(row_normalised(c, x, "l2"), points, {}), c.matrix(norms));
  }
  refuse("the kernel '" + kernel + "' is not translated", "linear, rbf, poly, sigmoid, laplacian and cosine are");
}

Columns kernel_components(Context& c, const Estimator& e, const Columns& x) {
  Value* k = named_kernel(c, e, c.numbers(x), e.matrix("X_fit_"));
  k = centred_kernel(c, e.child("_centerer"), k);
  const auto values = e.doubles(e.get_any({"eigenvalues_", "lambdas_"}));
  Matrix vectors = e.to_matrix(e.get_any({"eigenvectors_", "alphas_"}));
  for (std::int64_t r = 0; r < vectors.rows; ++r)
    for (std::int64_t i = 0; i < vectors.columns; ++i) {
      const double value = values.at(static_cast<std::size_t>(i));
      double& entry = vectors.values[static_cast<std::size_t>(r * vectors.columns + i)];
      entry = value == 0 ? 0 : entry / std::sqrt(value);
    }
  return c.columns_of(c.g.op("MatMul", {k, c.matrix(vectors)}));
}

Columns nystroem(Context& c, const Estimator& e, const Columns& x) {
  Value* k = named_kernel(c, e, c.numbers(x), e.matrix("components_"));
  return c.columns_of(c.linear(k, e.matrix("normalization_"), {}));
}

Columns fourier_features(Context& c, const Estimator& e, const Columns& x) {
  const auto shift = e.vector("random_offset_");
  Value* v = c.g.add(c.g.op("MatMul", {c.numbers(x), c.matrix(e.matrix("random_weights_"))}), c.row(shift));
  return c.columns_of(c.g.mul(c.g.op("Cos", {v}), std::sqrt(2.0 / static_cast<double>(shift.size()))));
}

Columns skewed_features(Context& c, const Estimator& e, const Columns& x) {
  const auto shift = e.vector("random_offset_");
  Value* logs = c.g.op("Log", {c.g.add(c.numbers(x), e.number("skewedness", 1))});
  Value* v = c.g.add(c.g.op("MatMul", {logs, c.matrix(e.matrix("random_weights_"))}), c.row(shift));
  return c.columns_of(c.g.mul(c.g.op("Cos", {v}), std::sqrt(2.0 / static_cast<double>(shift.size()))));
}

Columns boltzmann_machine(Context& c, const Estimator& e, const Columns& x) {
  return c.columns_of(c.sigmoid(c.linear(c.numbers(x), e.matrix("components_"), e.vector("intercept_hidden_"))));
}

namespace {

std::vector<bool> best_by_score(const std::vector<double>& raw, std::size_t k) {
  std::vector<double> scores = raw;
  for (double& s : scores)
    if (std::isnan(s)) s = -std::numeric_limits<double>::max();
  std::vector<std::size_t> order(scores.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return scores[i]; });
  std::vector<bool> mask(scores.size());
  for (std::size_t i = scores.size() - std::min(k, scores.size()); i < scores.size(); ++i) mask[order[i]] = true;
  return mask;
}

/// numpy.percentile, by linear interpolation.
double percentile(std::vector<double> values, double percent) {
  std::ranges::sort(values);
  const double at = percent / 100 * static_cast<double>(values.size() - 1);
  const auto below = static_cast<std::size_t>(at);
  const std::size_t above = std::min(below + 1, values.size() - 1);
  return values[below] + (at - static_cast<double>(below)) * (values[above] - values[below]);
}

std::vector<bool> best_percent(const std::vector<double>& raw, double percent) {
  std::vector<bool> mask(raw.size(), percent >= 100);
  if (percent >= 100 || percent <= 0) return mask;
  std::vector<double> scores = raw;
  for (double& s : scores)
    if (std::isnan(s)) s = -std::numeric_limits<double>::max();
  const double threshold = percentile(scores, 100 - percent);
  std::size_t count = 0;
  for (std::size_t i = 0; i < scores.size(); ++i) {
    mask[i] = scores[i] > threshold;
    count += mask[i] ? 1 : 0;
  }
  const auto most = static_cast<std::size_t>(static_cast<double>(scores.size()) * percent / 100);
  for (std::size_t i = 0; i < scores.size() && count < most; ++i)
    if (scores[i] == threshold) {
      mask[i] = true;
      ++count;
    }
  return mask;
}

std::vector<bool> by_p_value(const std::vector<double>& p, double limit) {
  std::vector<bool> mask;
  for (const double v : p) mask.push_back(v < limit);
  return mask;
}

std::vector<bool> by_false_discovery(const std::vector<double>& p, double alpha) {
  std::vector<double> sorted = p;
  std::ranges::sort(sorted);
  double limit = -1;
  for (std::size_t i = 0; i < sorted.size(); ++i)
    if (sorted[i] <= alpha / static_cast<double>(sorted.size()) * static_cast<double>(i + 1)) limit = sorted[i];
  std::vector<bool> mask;
  for (const double v : p) mask.push_back(v <= limit);
  return mask;
}

std::vector<bool> univariate_mask(const Estimator& e, std::string mode, double param, bool is_all) {
  if (mode == "k_best") {
    const auto scores = e.vector("scores_");
    return best_by_score(scores, is_all ? scores.size() : static_cast<std::size_t>(param));
  }
  if (mode == "percentile") return best_percent(e.vector("scores_"), param);
  const auto p = e.vector("pvalues_");
  if (mode == "fpr") return by_p_value(p, param);
  if (mode == "fwe") return by_p_value(p, param / static_cast<double>(p.size()));
  if (mode == "fdr") return by_false_discovery(p, param);
  refuse("the mode '" + mode + "' is not known");
}

std::vector<bool> mask_of(const std::vector<double>& flags) {
  std::vector<bool> mask;
  for (const double v : flags) mask.push_back(v != 0);
  return mask;
}

/// Importances as scikit-learn computes them from a fitted estimator: absolute coefficients, or stored importances.
std::vector<double> importances(const Estimator& e) {
  if (e.has("coef_")) {
    const Matrix m = e.matrix("coef_");
    std::vector<double> sums(static_cast<std::size_t>(m.columns));
    for (std::int64_t r = 0; r < m.rows; ++r)
      for (std::int64_t k = 0; k < m.columns; ++k) sums[static_cast<std::size_t>(k)] += std::abs(m.at(r, k));
    return sums;
  }
  if (e.has("feature_importances_")) return e.vector("feature_importances_");
  if (const auto own = tree_importances(e); !own.empty()) return own;
  refuse("the importances of " + std::string(e.name()) + " are not stored");
}

double importance_threshold(const Estimator& e, const std::vector<double>& values) {
  std::string word = e.text("threshold", "mean");
  if (const auto number = e.has("threshold") ? e.number_in(e.find("threshold")) : std::nullopt) return *number;
  const Estimator model = e.child("estimator_");
  const bool is_sparse =
      model.name().starts_with("Lasso") || model.name().starts_with("ElasticNet") || model.text("penalty") == "l1";
  if (!e.has("threshold") && is_sparse) return 1e-5;
  double scale = 1;
  if (const std::size_t star = word.find('*'); star != std::string::npos) {
    scale = std::strtod(word.c_str(), nullptr);
    word = word.substr(word.find_first_not_of(' ', star + 1));
  }
  if (word == "median") return scale * percentile(values, 50);
  double sum = 0;
  for (const double v : values) sum += v;
  return scale * sum / static_cast<double>(values.size());
}

}  // namespace

Columns univariate_selection(Context& c, const Estimator& e, const Columns& x) {
  const std::string_view name = e.name();
  const auto mask = [&] {
    if (name == "SelectKBest") return univariate_mask(e, "k_best", e.number("k", 10), e.text("k") == "all");
    if (name == "SelectPercentile") return univariate_mask(e, "percentile", e.number("percentile", 10), false);
    if (name == "SelectFpr") return univariate_mask(e, "fpr", e.number("alpha", 0.05), false);
    if (name == "SelectFwe") return univariate_mask(e, "fwe", e.number("alpha", 0.05), false);
    if (name == "SelectFdr") return univariate_mask(e, "fdr", e.number("alpha", 0.05), false);
    return univariate_mask(e, e.text("mode", "percentile"), e.number("param", 1e-5), e.text("param") == "all");
  };
  return picked(c, x, mask());
}

Columns variance_selection(Context& c, const Estimator& e, const Columns& x) {
  std::vector<bool> mask;
  for (const double v : e.vector("variances_")) mask.push_back(v > e.number("threshold", 0));
  return picked(c, x, mask);
}

Columns supported_selection(Context& c, const Estimator& e, const Columns& x) {
  return picked(c, x, mask_of(e.vector("support_")));
}

Columns model_selection(Context& c, const Estimator& e, const Columns& x) {
  const auto values = importances(e.child("estimator_"));
  const double threshold = importance_threshold(e, values);
  std::vector<bool> mask(values.size(), true);
  if (e.has("max_features")) {
    const auto most = e.number_in(e.find("max_features"));
    if (!most) refuse("its max_features is a function of Python's");
    mask = best_by_score(values, static_cast<std::size_t>(*most));
  }
  for (std::size_t i = 0; i < values.size(); ++i) mask[i] = mask[i] && values[i] >= threshold;
  return picked(c, x, mask);
}

Result supported_predictor(Context& c, const Estimator& e, const Columns& x) {
  return c.predict(e.child("estimator_"), supported_selection(c, e, x));
}

}  // namespace ingot::frontends::sklearn
