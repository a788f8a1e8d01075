// Examples, scores and labels of the models of ai.onnx.ml at run time.
#include "ingot/ops/ml/scores.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "ingot/ops/math/scalar_functions.h"

namespace ingot::ops {
namespace {

/// The number whose normal distribution's cumulative probability is p.
double probit(double p) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity(), kTwoOverRootPi = 1.1283791670955126;
  if (!(p > 0 && p < 1)) return p == 0 ? -kInfinity : p == 1 ? kInfinity : std::numeric_limits<double>::quiet_NaN();
  // The inverse of erf: Winitzki's approximation, then Halley's method.
  const double y = 2 * p - 1, log = std::log(4 * p * (1 - p)), a = 0.147;
  const double half = 2 / (3.14159265358979323846 * a) + log / 2;
  double x = std::copysign(std::sqrt(std::sqrt(half * half - log / a) - half), y);
  for (int i = 0; i < 4; ++i) {
    // Written by erfc where erf is near 1, so that the difference keeps its digits.
    const double error = y < 0 ? std::erfc(-x) - 2 * p : 2 * (1 - p) - std::erfc(x);
    x -= error / (kTwoOverRootPi * std::exp(-x * x) + x * error);
  }
  return 1.41421356237309504880 * x;
}

void softmax(std::span<double> scores, bool skips_zeros) {
  if (scores.empty()) return;
  const double shift = *std::ranges::max_element(scores);
  double sum = 0;
  for (double& score : scores) {
    if (skips_zeros && score == 0) continue;
    score = std::exp(score - shift);
    sum += score;
  }
  if (sum == 0) return;
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
