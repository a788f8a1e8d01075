// Clusters, mixtures and Gaussian processes.
#include <cmath>
#include <numbers>

#include "ingot/base/error.h"
#include "ingot/frontends/numeric/erf.h"
#include "ingot/frontends/sklearn/estimators.h"

namespace ingot::frontends::sklearn {

Result nearest_center(Context& c, const Estimator& e, const Columns& x) {
  Value* distance = c.square_distances(c.numbers(x), e.matrix("cluster_centers_"));
  return {.scores = c.g.neg(c.g.op("Sqrt", {distance})), .label = c.arg_max(c.g.neg(distance))};
}

Columns center_distances(Context& c, const Estimator& e, const Columns& x) {
  const char* centers = e.name() == "Birch" ? "subcluster_centers_" : "cluster_centers_";
  return c.columns_of(c.g.op("Sqrt", {c.square_distances(c.numbers(x), e.matrix(centers))}));
}

Result birch(Context& c, const Estimator& e, const Columns& x) {
  Value* distance = c.square_distances(c.numbers(x), e.matrix("subcluster_centers_"));
  Labels labels;
  labels.numbers = e.vector("subcluster_labels_");
  return {.place = c.arg_max(c.g.neg(distance)), .classes = labels};
}

namespace {

/// Down the tree of clusters, to the nearer center at each node: labels [N, 1].
Value* bisected(Context& c, Value* x, const Estimator& node, const std::vector<double>& shift, int depth) {
  if (depth > 200) throw Error(Code::depth_limit, "its clusters are nested too deeply");
  if (!node.has("left") || !node.has("right"))
    return c.g.constant(Tensor::ints({node.integer("label")}).reshaped({1, 1}));
  const Estimator sides[] = {node.child("left"), node.child("right")};
  Matrix centers{2, 0, {}};
  for (const Estimator& side : sides) {
    const auto center = side.vector("center");
    centers.columns = std::ssize(center);
    for (std::size_t i = 0; i < center.size(); ++i)
      centers.values.own().push_back(center[i] + (shift.empty() ? 0 : shift.at(i)));
  }
  if (std::cmp_not_equal(centers.values.size(), 2 * centers.columns))
    throw Error(Code::bad_source_graph, "its centers differ");
  Value* distance = c.square_distances(x, centers);
  Value* is_left = c.g.op("LessOrEqual", {c.column(distance, 0), c.column(distance, 1)});
  return c.g.where(is_left, bisected(c, x, sides[0], shift, depth + 1), bisected(c, x, sides[1], shift, depth + 1));
}

}  // namespace

Result bisecting_clusters(Context& c, const Estimator& e, const Columns& x) {
  const auto shift = e.has("_X_mean") ? e.vector("_X_mean") : std::vector<double>();
  Value* labels = bisected(c, c.numbers(x), e.child("_bisecting_tree"), shift, 0);
  return {.label = c.g.squeeze(labels, {1})};
}

/// How far a row lies from the middle, by the precision of the fit.
Result elliptic_envelope(Context& c, const Estimator& e, const Columns& x) {
  if (!e.has("precision_")) refuse("it keeps no precision", "fit it with store_precision=True");
  Value* apart = c.g.sub(c.numbers(x), c.row(e.vector("location_")));
  Value* distance = c.sum_rows(c.g.mul(c.g.op("MatMul", {apart, c.matrix(e.matrix("precision_"))}), apart));
  return outlier_result(c, c.g.sub(c.g.neg(distance), e.number("offset_")));
}

namespace {

/// log det of the Cholesky factor of a precision, and rows (x - mean) times it, squared and summed.
Value* log_gaussian(Context& c, Value* x, const Matrix& mean, const Matrix& factor, bool is_diagonal) {
  double log_determinant = 0;
  Value* y = nullptr;
  if (is_diagonal) {
    for (const double v : factor.values) log_determinant += std::log(v);
    y = c.g.mul(c.g.sub(x, c.matrix(mean)), c.matrix(factor));
  } else {
    for (std::int64_t i = 0; i < factor.rows; ++i) log_determinant += std::log(factor.at(i, i));
    y = c.g.op("MatMul", {c.g.sub(x, c.matrix(mean)), c.matrix(factor)});
  }
  Value* squares = c.sum_rows(c.g.mul(y, y));
  const double constant = log_determinant - 0.5 * static_cast<double>(mean.columns) * std::log(2 * std::numbers::pi);
  return c.g.add(c.g.mul(squares, -0.5), constant);
}

double digamma(double x) {
  double sum = 0;
  for (; x < 10; ++x) sum -= 1 / x;
  const double inverse = 1 / (x * x);
  return sum + std::log(x) - 0.5 / x -
         inverse * (1.0 / 12 - inverse * (1.0 / 120 - inverse * (1.0 / 252 - inverse / 240)));
}

/// What a Bayesian mixture says of its weights.
std::vector<double> bayesian_log_weights(const Estimator& e) {
  std::vector<double> logs;
  if (e.text("weight_concentration_prior_type", "dirichlet_process") == "dirichlet_distribution") {
    const auto a = e.vector("weight_concentration_");
    double total = 0;
    for (const double v : a) total += v;
    for (const double v : a) logs.push_back(digamma(v) - digamma(total));
    return logs;
  }
  const auto pair = e.list("weight_concentration_");
  const auto a = e.doubles(pair.at(0).value()), b = e.doubles(pair.at(1).value());
  double rest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double both = digamma(a[i] + b[i]);
    logs.push_back(digamma(a[i]) - both + rest);
    rest += digamma(b[i]) - both;
  }
  return logs;
}

}  // namespace

Result gaussian_mixture(Context& c, const Estimator& e, const Columns& x) {
  const Matrix means = e.matrix("means_");
  const std::string kind = e.text("covariance_type", "full");
  const auto whole = pickle::read_array(e.document(), *e.get("precisions_cholesky_"));
  if (!whole) throw Error(Code::bad_source_graph, "its precisions are no array");
  const auto values = pickle::to_doubles(e.document(), *whole);
  const auto k = static_cast<std::size_t>(means.rows), d = static_cast<std::size_t>(means.columns);
  const bool is_diagonal = kind == "diag" || kind == "spherical";
  if (values.size() != (kind == "full" ? k * d * d : kind == "tied" ? d * d : kind == "diag" ? k * d : k))
    throw Error(Code::bad_source_graph, "its precisions do not fit its means");
  const bool is_bayesian = e.name() == "BayesianGaussianMixture";
  std::vector<double> logs;
  if (is_bayesian)
    logs = bayesian_log_weights(e);
  else
    for (const double w : e.vector("weights_")) logs.push_back(std::log(w));
  const auto freedom = is_bayesian ? e.vector("degrees_of_freedom_") : std::vector<double>();
  const auto precision = is_bayesian ? e.vector("mean_precision_") : std::vector<double>();
  Value* numbers = c.numbers(x);
  Values scores;
  for (std::size_t i = 0; i < k; ++i) {
    Matrix factor{is_diagonal ? 1 : means.columns, means.columns, {}};
    const std::size_t size = is_diagonal ? d : d * d;
    if (kind == "spherical")
      factor.values.own().assign(d, values[i]);
    else
      factor.values.own().assign(values.begin() + static_cast<std::ptrdiff_t>(kind == "tied" ? 0 : i * size),
                           values.begin() + static_cast<std::ptrdiff_t>((kind == "tied" ? 0 : i * size) + size));
    double shift = logs.at(i);
    if (is_bayesian) {
      const double nu = freedom.at(std::min(i, freedom.size() - 1));
      double log_lambda = static_cast<double>(d) * std::numbers::ln2;
      for (std::size_t f = 0; f < d; ++f) log_lambda += digamma(0.5 * (nu - static_cast<double>(f)));
      shift +=
          -0.5 * static_cast<double>(d) * std::log(nu) + 0.5 * (log_lambda - static_cast<double>(d) / precision.at(i));
    }
    scores.push_back(
        c.g.add(log_gaussian(c, numbers, means.rows_of(static_cast<std::int64_t>(i), 1), factor, is_diagonal), shift));
  }
  Value* all = c.g.concat(scores, 1);
  return {.scores = all, .probabilities = c.softmax(all), .label = c.arg_max(all)};
}

namespace {

/// A kernel of Gaussian processes, by its tree: K(x, points) [N, rows].
Value* process_kernel(Context& c, const Estimator& k, Value* x, const Matrix& points, int depth = 0) {
  if (depth > 32) throw Error(Code::depth_limit, "a kernel is nested too deeply");
  const auto part = [&](const char* name) { return process_kernel(c, k.child(name), x, points, depth + 1); };
  const std::string_view name = k.name();
  const auto scaled = [&](const std::vector<double>& lengths) {
    Matrix p = points;
    for (std::int64_t r = 0; r < p.rows; ++r)
      for (std::int64_t f = 0; f < p.columns; ++f)
        p.values[static_cast<std::size_t>(r * p.columns + f)] /=
            lengths[lengths.size() == 1 ? 0 : static_cast<std::size_t>(f)];
    return c.square_distances(c.g.div(x, c.row(lengths)), p);
  };
  if (name == "Sum") return c.g.add(part("k1"), part("k2"));
  if (name == "Product") return c.g.mul(part("k1"), part("k2"));
  if (name == "Exponentiation") return c.g.op("Pow", {part("kernel"), c.number(k.number("exponent"))});
  // A row of it: a single number before a product would become a float in ONNX Runtime (see named_kernel).
  if (name == "ConstantKernel")
    return c.row(std::vector<double>(static_cast<std::size_t>(points.rows), k.number("constant_value")));
  if (name == "WhiteKernel") return c.number(0);  // of other points than those of the fit
  if (name == "RBF") return c.g.op("Exp", {c.g.mul(scaled(k.vector("length_scale")), -0.5)});
  if (name == "DotProduct") {
    const double s = k.number("sigma_0");
    return c.g.add(c.linear(x, points, {}), s * s);
  }
  if (name == "RationalQuadratic") {
    const double a = k.number("alpha"), l = k.number("length_scale");
    Value* base = c.g.add(c.g.div(c.square_distances(x, points), 2 * a * l * l), 1.0);
    return c.g.op("Pow", {base, c.number(-a)});
  }
  if (name == "ExpSineSquared") {
    const double l = k.number("length_scale"), p = k.number("periodicity");
    Value* s = c.g.op("Sin", {c.g.mul(c.g.op("Sqrt", {c.square_distances(x, points)}), std::numbers::pi / p)});
    return c.g.op("Exp", {c.g.mul(c.g.mul(s, s), -2 / (l * l))});
  }
  if (name == "Matern") {
    const double nu = k.number("nu", 1.5);
    Value* squares = scaled(k.vector("length_scale"));
    if (std::isinf(nu)) return c.g.op("Exp", {c.g.mul(squares, -0.5)});
    Value* r = c.g.op("Sqrt", {squares});
    if (nu == 0.5) return c.g.op("Exp", {c.g.neg(r)});
    Value* t = c.g.mul(r, std::sqrt(2 * nu));
    Value* decay = c.g.op("Exp", {c.g.neg(t)});
    if (nu == 1.5) return c.g.mul(c.g.add(t, 1.0), decay);
    if (nu == 2.5) return c.g.mul(c.g.add(c.g.add(t, 1.0), c.g.div(c.g.mul(t, t), 3.0)), decay);
  }
  refuse("the kernel " + std::string(name) + " is not translated");
}

}  // namespace

Result gaussian_process(Context& c, const Estimator& e, const Columns& x) {
  const Matrix points = e.matrix("X_train_");
  Matrix alpha = e.matrix("alpha_");
  if (alpha.rows == 1 && alpha.columns == points.rows) alpha = alpha.turned();
  Value* k = process_kernel(c, e.child("kernel_"), c.numbers(x), points);
  if (e.has("_y_train_std")) {
    const auto scale = e.vector("_y_train_std");
    if (scale.empty()) throw Error(Code::bad_source_graph, "its scale is empty");
    for (std::size_t i = 0; i < alpha.values.size(); ++i)
      alpha.values[i] *= scale[scale.size() == 1 ? 0 : (i % static_cast<std::size_t>(alpha.columns)) % scale.size()];
  }
  Value* mean = c.g.op("MatMul", {k, c.matrix(alpha)});
  return {.values = c.g.add(mean, c.row(e.doubles(e.get_any({"_y_train_mean", "y_train_mean"}))))};
}

Value* process_diagonal(Context& c, const Estimator& k, Value* x);

/// Laplace's approximation of two classes: scikit-learn's own five terms in place of the integral.
Result laplace_classifier(Context& c, const Estimator& base, const Columns& x) {
  const Matrix points = base.matrix("X_train_"), l = base.matrix("L_");
  const auto pi = base.vector("pi_"), root = base.vector("W_sr_");
  auto y = base.vector("y_train_");
  for (std::size_t i = 0; i < y.size(); ++i) y[i] -= pi.at(i);
  Value* k = process_kernel(c, base.child("kernel_"), c.numbers(x), points);
  Value* f = c.g.op("MatMul", {k, c.matrix({std::ssize(y), 1, y})});
  // v = L^-1 (W_sr K^T); var = k(x, x) - |v|^2, with L inverted here.
  const std::int64_t n = l.rows;
  Matrix inverse{n, n, std::vector<double>(static_cast<std::size_t>(n * n))};
  for (std::int64_t col = 0; col < n; ++col)
    for (std::int64_t r = col; r < n; ++r) {
      double sum = r == col ? 1 : 0;
      for (std::int64_t m = col; m < r; ++m) sum -= l.at(r, m) * inverse.at(m, col);
      inverse.values[static_cast<std::size_t>(r * n + col)] = sum / l.at(r, r);
    }
  Value* v = c.linear(c.g.mul(k, c.row(root)), inverse, {});
  Value* own = process_diagonal(c, base.child("kernel_"), c.numbers(x));
  Value* variance = c.g.sub(own, c.sum_rows(c.g.mul(v, v)));
  constexpr double kLambdas[] = {0.41, 0.4, 0.37, 0.44, 0.39};
  constexpr double kCoefficients[] = {-1854.8214151, 3516.89893646, 221.29346712, 128.12323805, -2010.49422654};
  Value* alpha = c.g.div(1.0, c.g.mul(variance, 2.0));
  Value* total = nullptr;
  double sum = 0;
  for (int i = 0; i < 5; ++i) {
    const double lambda = kLambdas[i];
    sum += kCoefficients[i];
    Value* gamma = c.g.mul(f, lambda);
    Value* scale = c.g.op("Sqrt", {c.g.div(c.number(std::numbers::pi), alpha)});
    Value* at = c.g.mul(gamma, c.g.op("Sqrt", {c.g.div(alpha, c.g.add(alpha, lambda * lambda))}));
    Value* inner = c.elem == DType::f64 ? numeric::erf_of_doubles(c.g, at) : c.g.op("Erf", {at});
    Value* integral =
        c.g.div(c.g.mul(scale, inner), c.g.mul(c.g.op("Sqrt", {c.g.mul(variance, 2 * std::numbers::pi)}), 2.0));
    Value* term = c.g.mul(integral, kCoefficients[i]);
    total = total ? c.g.add(total, term) : term;
  }
  Value* p = c.g.add(total, 0.5 * sum);
  Result result = from_probabilities(c, two_columns(c, p), base.labels("classes_"));
  result.place = c.g.squeeze(c.g.cast(c.g.op("Greater", {f, c.number(0)}), DType::i64), {1});
  return result;
}

/// Of two classes, or of one against the others, or of each pair.
Result gaussian_process_classifier(Context& c, const Estimator& e, const Columns& x) {
  Result result = c.predict(e.child("base_estimator_"), x);
  result.classes = e.labels("classes_");
  return result;
}

/// k(x, x) [N, 1].
Value* process_diagonal(Context& c, const Estimator& k, Value* x) {
  const std::string_view name = k.name();
  if (name == "Sum") return c.g.add(process_diagonal(c, k.child("k1"), x), process_diagonal(c, k.child("k2"), x));
  if (name == "Product") return c.g.mul(process_diagonal(c, k.child("k1"), x), process_diagonal(c, k.child("k2"), x));
  if (name == "Exponentiation")
    return c.g.op("Pow", {process_diagonal(c, k.child("kernel"), x), c.number(k.number("exponent"))});
  if (name == "ConstantKernel") return c.g.add(c.g.mul(c.column(x, 0), 0.0), k.number("constant_value"));
  if (name == "WhiteKernel") return c.g.add(c.g.mul(c.column(x, 0), 0.0), k.number("noise_level"));
  if (name == "DotProduct") {
    const double s = k.number("sigma_0");
    return c.g.add(c.sum_rows(c.g.mul(x, x)), s * s);
  }
  return c.g.add(c.g.mul(c.column(x, 0), 0.0), 1.0);
}

}  // namespace ingot::frontends::sklearn
