// Examples, scores and labels of the models of ai.onnx.ml at run time.
#include "ingot/ops/ml/scores.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "ingot/ops/math/scalar_functions.h"

namespace ingot::ops {
namespace {

/// The number whose normal distribution's cumulative probability is p, by Winitzki's approximation of the inverse of
/// erf, which ONNX's reference implementation and ONNX Runtime both take for it.
double probit(double p) {
  constexpr double kA = 0.147, kPi = 3.14159265358979323846;
  const double y = 2 * p - 1, log = std::log((1 - y) * (1 + y));
  const double half = 2 / (kPi * kA) + log / 2;
  return 1.41421356237309504880 * std::copysign(std::sqrt(std::sqrt(half * half - log / kA) - half), y);
}

void softmax(std::span<double> scores, bool skips_zeros) {
  if (scores.empty()) return;
  constexpr double kZero = 1e-7;
  const double shift = *std::ranges::max_element(scores);
  double sum = 0;
  for (double& score : scores) {
    if (skips_zeros && std::abs(score) <= kZero) {
      score = 0;
      continue;
    }
    score = std::exp(score - shift);
    sum += score;
  }
  for (double& score : scores) score /= sum;
}

}  // namespace

Examples Examples::of(KernelContext& c) {
  const Array& x = c.in(0);
  if (x.rank() != 1 && x.rank() != 2) c.fail("the input must have shape [N, C] or [C]");
  return {x.rank() == 1 ? 1 : x.dims()[0], x.dims().back(), converted(x, DType::f64, c.host())};
}

PostTransform post_transform_of(const KernelContext& c) {
  constexpr std::string_view kWords[] = {"NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT"};
  const std::string text = c.attr("post_transform", "NONE");
  const auto* it = std::ranges::find(kWords, text);
  if (it == std::end(kWords)) c.fail("attribute 'post_transform' is '" + text + "'");
  return static_cast<PostTransform>(it - std::begin(kWords));
}

void transform_scores(std::span<double> scores, PostTransform transform) {
  switch (transform) {
    case PostTransform::none:
      return;
    case PostTransform::softmax:
    case PostTransform::softmax_zero:
      return softmax(scores, transform == PostTransform::softmax_zero);
    case PostTransform::logistic:
      std::ranges::transform(scores, scores.begin(), sigmoid<double>);
      return;
    case PostTransform::probit:
      std::ranges::transform(scores, scores.begin(), probit);
      return;
  }
}

void transform_targets(std::span<double> scores, PostTransform transform) {
  if (scores.size() > 1 || transform == PostTransform::probit) transform_scores(scores, transform);
}

void spread_score(std::span<double> scores, PostTransform transform, bool is_probability) {
  const double score = scores[0];
  switch (transform) {
    case PostTransform::probit:
      scores[0] = probit(score);
      scores[1] = 0;
      return;
    case PostTransform::logistic:
      scores[0] = sigmoid(-score);
      scores[1] = sigmoid(score);
      return;
    default:
      scores[0] = is_probability ? 1 - score : -score;
      scores[1] = score;
  }
}

std::vector<double> floats_of(const KernelContext& c, std::string_view name) {
  const auto* floats = c.node.attributes.get<std::vector<float>>(name);
  return floats ? std::vector<double>(floats->begin(), floats->end()) : std::vector<double>();
}

double dot(std::span<const double> a, std::span<const double> b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

Labels::Labels(const KernelContext& c, std::string_view strings, std::string_view ints) {
  strings_ = c.node.attributes.get<std::vector<std::string>>(strings);
  if (strings_ && strings_->empty()) strings_ = nullptr;
  if (!strings_) ints_ = c.node.attributes.get<std::vector<std::int64_t>>(ints);
}

void Labels::put(KernelContext& c, std::span<const std::size_t> places) const {
  Array& y = c.make(0, strings_ ? DType::string : DType::i64, {std::ssize(places)});
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (places[i] >= size()) c.fail("class " + std::to_string(places[i]) + " has no label");
    if (strings_)
      y.mutable_data<std::string>()[i] = (*strings_)[places[i]];
    else
      y.mutable_data<std::int64_t>()[i] = (*ints_)[places[i]];
  }
}

std::size_t highest(std::span<const double> scores) {
  return static_cast<std::size_t>(std::ranges::max_element(scores) - scores.begin());
}

}  // namespace ingot::ops
