// The activation functions of recurrent layers, by name.
#include "ingot/ops/rnn/activation.h"

#include <algorithm>
#include <cmath>

namespace ingot::ops {
namespace {

struct Named {
  std::string_view name;  // in lower case: writers do not agree on it
  int parameters;         // 1: alpha, 2: alpha and beta
  RecurrentActivation activation;
};

constexpr Named kFunctions[] = {
    {"affine", 2, {[](double x, double a, double b) { return a * x + b; }, 1, 0}},
    {"elu", 1, {[](double x, double a, double) { return x < 0 ? a * std::expm1(x) : x; }, 1, 0}},
    {"hardsigmoid", 2, {[](double x, double a, double b) { return std::clamp(a * x + b, 0.0, 1.0); }, 0.2, 0.5}},
    {"leakyrelu", 1, {[](double x, double a, double) { return x < 0 ? a * x : x; }, 0.01, 0}},
    {"relu", 0, {[](double x, double, double) { return x < 0 ? 0 : x; }, 0, 0}},
    {"scaledtanh", 2, {[](double x, double a, double b) { return a * std::tanh(b * x); }, 1, 1}},
    {"sigmoid", 0, {[](double x, double, double) { return 1 / (1 + std::exp(-x)); }, 0, 0}},
    {"softplus",
     0,
     {[](double x, double, double) { return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x))); }, 0, 0}},
    {"softsign", 0, {[](double x, double, double) { return x / (1 + std::abs(x)); }, 0, 0}},
    {"tanh", 0, {[](double x, double, double) { return std::tanh(x); }, 0, 0}},
    {"thresholdedrelu", 1, {[](double x, double a, double) { return x > a ? x : 0; }, 1, 0}},
};

const Named* find_function(std::string name) {
  for (char& ch : name)
    if (ch >= 'A' && ch <= 'Z') ch = static_cast<char>(ch - 'A' + 'a');
  const auto* found = std::ranges::find(kFunctions, name, &Named::name);
  return found == std::end(kFunctions) ? nullptr : found;
}

}  // namespace

std::vector<RecurrentActivation> read_activations(const KernelContext& c, const std::vector<std::string>& defaults,
                                                  std::size_t directions) {
  using Numbers = std::vector<float>;
  const auto* names = c.node.attributes.get<std::vector<std::string>>("activations");
  const Numbers *alphas = c.node.attributes.get<Numbers>("activation_alpha"),
                *betas = c.node.attributes.get<Numbers>("activation_beta");
  const std::size_t count = defaults.size() * directions;
  if (names && names->size() < count)
    c.fail("attribute 'activations' names " + std::to_string(names->size()) + " functions where " +
           std::to_string(count) + " are needed");
  std::vector<RecurrentActivation> result;
  std::size_t alpha = 0, beta = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const std::string& name = names ? (*names)[i] : defaults[i % defaults.size()];
    const Named* function = find_function(name);
    if (!function) c.fail("activation '" + name + "' is not known");
    RecurrentActivation activation = function->activation;
    if (function->parameters >= 1 && alphas && alpha < alphas->size()) activation.alpha = (*alphas)[alpha++];
    if (function->parameters >= 2 && betas && beta < betas->size()) activation.beta = (*betas)[beta++];
    result.push_back(activation);
  }
  return result;
}

}  // namespace ingot::ops
