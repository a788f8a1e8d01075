// How SVMClassifier and SVMRegressor run: as LIBSVM decides and estimates probabilities.
#include "ingot/ops/ml/svm_kernel.h"

#include <algorithm>
#include <cmath>

#include "ingot/base/budget.h"
#include "ingot/base/checked.h"
#include "ingot/ops/math/scalar_functions.h"
#include "ingot/ops/ml/scores.h"

namespace ingot::ops {
namespace {

/// How alike two examples are.
class Likeness {
 public:
  explicit Likeness(const KernelContext& c) {
    const std::string text = c.attr("kernel_type", "LINEAR");
    constexpr std::string_view kWords[] = {"LINEAR", "POLY", "RBF", "SIGMOID"};
    const auto* it = std::ranges::find(kWords, text);
    if (it == std::end(kWords)) c.fail("attribute 'kernel_type' is '" + text + "'");
    kind_ = static_cast<Kind>(it - std::begin(kWords));
    const auto params = floats_of(c, "kernel_params");
    if (params.empty()) return;
    if (params.size() != 3) c.fail("attribute 'kernel_params' must hold gamma, coef0 and degree");
    gamma_ = params[0];
    coef0_ = params[1];
    degree_ = params[2];
  }
  double operator()(std::span<const double> a, std::span<const double> b) const {
    switch (kind_) {
      case Kind::linear:
        return dot(a, b);
      case Kind::poly:
        return std::pow(gamma_ * dot(a, b) + coef0_, degree_);
      case Kind::rbf: {
        double distance = 0;
        for (std::size_t i = 0; i < a.size(); ++i) distance += (a[i] - b[i]) * (a[i] - b[i]);
        return std::exp(-gamma_ * distance);
      }
      case Kind::sigmoid:
        return std::tanh(gamma_ * dot(a, b) + coef0_);
    }
    return 0;
  }

 private:
  enum class Kind { linear, poly, rbf, sigmoid };
  Kind kind_ = Kind::linear;
  double gamma_ = 0, coef0_ = 0, degree_ = 0;
};

/// The support vectors, [count, features].
struct Vectors {
  std::vector<double> values;
  std::size_t count = 0, features = 0;

  Vectors(const KernelContext& c, const Examples& x, std::size_t n)
      : values(floats_of(c, "support_vectors")), count(n), features(static_cast<std::size_t>(x.features)) {
    const auto needed = checked_mul(count, features);
    if (!needed || values.size() != *needed) c.fail("the support vectors do not fit the features");
  }
  std::span<const double> operator[](std::size_t i) const {
    return std::span<const double>(values).subspan(i * features, features);
  }
};

/// Probabilities of k classes from those of each pair, r[i * k + j] that of i against j, by the second method of Wu,
/// Lin and Weng (2004), stopped as LIBSVM stops.
std::vector<double> joined_probabilities(const std::vector<double>& r, std::size_t k) {
  std::vector<double> p(k, 1.0 / static_cast<double>(k)), q(k * k, 0.0), qp(k);
  for (std::size_t t = 0; t < k; ++t)
    for (std::size_t j = 0; j < k; ++j) {
      if (j == t) continue;
      q[t * k + t] += r[j * k + t] * r[j * k + t];
      q[t * k + j] = -r[j * k + t] * r[t * k + j];
    }
  const std::size_t most = std::max<std::size_t>(100, k);
  for (std::size_t round = 0; round < most; ++round) {
    double pqp = 0, error = 0;
    for (std::size_t t = 0; t < k; ++t) {
      qp[t] = dot(std::span(q).subspan(t * k, k), p);
      pqp += p[t] * qp[t];
    }
    for (const double value : qp) error = std::max(error, std::abs(value - pqp));
    if (error < 0.005 / static_cast<double>(k)) break;
    for (std::size_t t = 0; t < k; ++t) {
      const double diff = (pqp - qp[t]) / q[t * k + t];
      p[t] += diff;
      pqp = (pqp + diff * (diff * q[t * k + t] + 2 * qp[t])) / (1 + diff) / (1 + diff);
      for (std::size_t j = 0; j < k; ++j) {
        qp[j] = (qp[j] + diff * q[t * k + j]) / (1 + diff);
        p[j] /= 1 + diff;
      }
    }
  }
  return p;
}

/// A classifier by pairs of classes: the support vectors of one decide against those of the other.
class Pairs {
 public:
  Pairs(const KernelContext& c, const Examples& x, std::size_t classes)
      : classes_(classes),
        likeness_(c),
        coefficients_(floats_of(c, "coefficients")),
        rho_(floats_of(c, "rho")),
        prob_a_(floats_of(c, "prob_a")),
        prob_b_(floats_of(c, "prob_b")),
        vectors_(c, x, count_vectors(c)) {
    const std::size_t pairs = classes * (classes - 1) / 2;
    const auto needed = checked_mul(classes - 1, vectors_.count);
    if (!needed || coefficients_.size() < *needed) c.fail("the coefficients do not fit the support vectors");
    if (rho_.size() < pairs) c.fail("attribute 'rho' must hold one number per pair of classes");
    if (prob_a_.size() != prob_b_.size() || (has_probabilities() && prob_a_.size() < pairs))
      c.fail("prob_a and prob_b must hold one number per pair of classes");
  }
  bool has_probabilities() const { return !prob_a_.empty(); }

  /// One score per pair; above 0 the first of the two wins, and gets its vote.
  void decide(std::span<const double> row, std::span<double> scores, std::span<std::size_t> votes) const {
    std::vector<double> alike(vectors_.count);
    for (std::size_t i = 0; i < alike.size(); ++i) alike[i] = likeness_(row, vectors_[i]);
    const auto part = [&](std::size_t line, std::size_t of) {
      const auto weights = std::span<const double>(coefficients_).subspan(line * vectors_.count, vectors_.count);
      return dot(weights.subspan(starts_[of], starts_[of + 1] - starts_[of]),
                 std::span<const double>(alike).subspan(starts_[of], starts_[of + 1] - starts_[of]));
    };
    std::size_t pair = 0;
    for (std::size_t i = 0; i < classes_; ++i)
      for (std::size_t j = i + 1; j < classes_; ++j, ++pair) {
        scores[pair] = part(j - 1, i) + part(i, j) + rho_[pair];
        ++votes[scores[pair] > 0 ? i : j];
      }
  }

  std::vector<double> probabilities(std::span<const double> scores) const {
    constexpr double kLeast = 1e-7;
    std::vector<double> r(classes_ * classes_, 0.0);
    std::size_t pair = 0;
    for (std::size_t i = 0; i < classes_; ++i)
      for (std::size_t j = i + 1; j < classes_; ++j, ++pair) {
        const double p = sigmoid(-(scores[pair] * prob_a_[pair] + prob_b_[pair]));
        r[i * classes_ + j] = std::clamp(p, kLeast, 1 - kLeast);
        r[j * classes_ + i] = 1 - r[i * classes_ + j];
      }
    return joined_probabilities(r, classes_);
  }

 private:
  std::size_t count_vectors(const KernelContext& c) {
    const auto counts = c.attr_ints("vectors_per_class");
    if (counts.size() != classes_) c.fail("attribute 'vectors_per_class' must hold one number per class");
    starts_ = {0};
    for (const std::int64_t count : counts) {
      const auto next = count < 0 ? std::nullopt : checked_add(starts_.back(), static_cast<std::size_t>(count));
      if (!next) c.fail("attribute 'vectors_per_class' is out of range");
      starts_.push_back(*next);
    }
    return starts_.back();
  }

  std::size_t classes_;
  std::vector<std::size_t> starts_;  // of each class among the support vectors
  Likeness likeness_;
  std::vector<double> coefficients_, rho_, prob_a_, prob_b_;
  Vectors vectors_;
};

/// Without support vectors: one line per class. Of two classes ONNX Runtime names the second not only where its score
/// is the higher one, but wherever the higher one says yes.
void run_lines(KernelContext& c, const Examples& x, const Labels& labels, PostTransform transform) {
  const auto coefficients = floats_of(c, "coefficients"), rho = floats_of(c, "rho");
  const std::size_t classes = labels.size(), features = static_cast<std::size_t>(x.features);
  const auto needed = checked_mul(classes, features);
  if (!needed || coefficients.size() != *needed || rho.empty()) c.fail("the coefficients do not fit the features");
  const bool has_negative = std::ranges::any_of(coefficients, [](double weight) { return weight < 0; });
  Array z = scratch(c, DType::f64, {x.count, static_cast<std::int64_t>(classes)});
  std::vector<std::size_t> places;
  for (std::int64_t n = 0; n < x.count; ++n) {
    c.host().budget().poll();
    const auto scores = z.mutable_data<double>().subspan(static_cast<std::size_t>(n) * classes, classes);
    for (std::size_t i = 0; i < classes; ++i)
      scores[i] = dot(x.row(n), std::span<const double>(coefficients).subspan(i * features, features)) + rho[0];
    const std::size_t best = highest(scores);
    const bool is_yes = has_negative ? scores[best] > 0 : scores[best] >= 0.5;
    places.push_back(classes == 2 && is_yes ? 1 : best);
    transform_targets(scores, transform);
  }
  labels.put(c, places);
  put(c, 1, z, DType::f32);
}

}  // namespace

// Scores are probabilities of the classes if the model can tell them; else, of two classes, [-s, s] ([1 - s, s] where
// something is to be made of them, as in ONNX Runtime), and of more, one score per pair. The label is that of most
// votes.
void run_svm_classifier(KernelContext& c) {
  const Examples x = Examples::of(c);
  const Labels labels(c, "classlabels_strings", "classlabels_ints");
  const PostTransform transform = post_transform_of(c);
  const std::size_t classes = labels.size();
  constexpr std::size_t kMostClasses = 65535;
  if (classes == 0 || classes > kMostClasses) c.fail("there are no classes, or too many");
  const auto counts = c.attr_ints("vectors_per_class");
  if (std::ranges::none_of(counts, [](std::int64_t count) { return count != 0; }))
    return run_lines(c, x, labels, transform);
  const Pairs model(c, x, classes);
  const std::size_t pairs = classes * (classes - 1) / 2;
  const std::size_t columns = model.has_probabilities() ? classes : classes == 2 ? 2 : pairs;
  Array z = scratch(c, DType::f64, {x.count, static_cast<std::int64_t>(columns)});
  Array room = scratch(c, DType::f64, {static_cast<std::int64_t>(pairs)});
  const auto decisions = room.mutable_data<double>();
  std::vector<std::size_t> places, votes(classes);
  for (std::int64_t n = 0; n < x.count; ++n) {
    c.host().budget().poll();
    std::ranges::fill(votes, 0);
    model.decide(x.row(n), decisions, votes);
    places.push_back(static_cast<std::size_t>(std::ranges::max_element(votes) - votes.begin()));
    const auto scores = z.mutable_data<double>().subspan(static_cast<std::size_t>(n) * columns, columns);
    if (classes == 2 && !model.has_probabilities()) {
      scores[0] = decisions[0];
      spread_score(scores, transform, transform != PostTransform::none);
      continue;
    }
    if (model.has_probabilities())
      std::ranges::copy(model.probabilities(decisions), scores.begin());
    else
      std::ranges::copy(decisions, scores.begin());
    transform_scores(scores, transform);
  }
  labels.put(c, places);
  put(c, 1, z, DType::f32);
}

// As in ONNX Runtime, post_transform changes nothing.
void run_svm_regressor(KernelContext& c) {
  const Examples x = Examples::of(c);
  const std::int64_t supports = c.attr("n_supports", std::int64_t{0});
  const bool is_one_class = c.attr("one_class", std::int64_t{0}) != 0;
  const auto coefficients = floats_of(c, "coefficients"), rho = floats_of(c, "rho");
  if (rho.empty() || supports < 0) c.fail("attribute 'rho' is missing or 'n_supports' is negative");
  const Likeness likeness(c);
  const bool is_linear = supports == 0;  // whatever the kernel is said to be
  const Vectors vectors(c, x, is_linear ? 0 : static_cast<std::size_t>(supports));
  const std::size_t needed = is_linear ? static_cast<std::size_t>(x.features) : vectors.count;
  if (coefficients.size() != needed) c.fail("the coefficients do not fit");
  Array y = scratch(c, DType::f64, {x.count, 1});
  const auto out = y.mutable_data<double>();
  for (std::int64_t n = 0; n < x.count; ++n) {
    c.host().budget().poll();
    double score = rho[0] + (is_linear ? dot(x.row(n), coefficients) : 0);
    for (std::size_t i = 0; i < vectors.count; ++i) score += coefficients[i] * likeness(x.row(n), vectors[i]);
    const auto at = static_cast<std::size_t>(n);
    out[at] = is_one_class ? (score > 0 ? 1 : -1) : score;
  }
  put(c, 0, y, DType::f32);
}

}  // namespace ingot::ops
