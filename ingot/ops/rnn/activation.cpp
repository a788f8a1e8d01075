// The activation functions of recurrent layers, by name.
#include "ingot/ops/rnn/activation.h"

#include <algorithm>
#include <cmath>

namespace ingot::ops {
namespace {

struct Known {
  int parameters;  // 1: alpha, 2: alpha and beta
  RecurrentActivation activation;
};

constexpr Known kFunctions[] = {
    {2, {"affine", [](double x, double a, double b) { return a * x + b; }, 1, 0}},
    {1, {"elu", [](double x, double a, double) { return x < 0 ? a * std::expm1(x) : x; }, 1, 0}},
    {2, {"hardsigmoid", [](double x, double a, double b) { return std::clamp(a * x + b, 0.0, 1.0); }, 0.2, 0.5}},
    {1, {"leakyrelu", [](double x, double a, double) { return x < 0 ? a * x : x; }, 0.01, 0}},
    {0, {"relu", [](double x, double, double) { return x < 0 ? 0 : x; }, 0, 0}},
    {2, {"scaledtanh", [](double x, double a, double b) { return a * std::tanh(b * x); }, 1, 1}},
    {0, {"sigmoid", [](double x, double, double) { return 1 / (1 + std::exp(-x)); }, 0, 0}},
    {0,
     {"softplus", [](double x, double, double) { return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x))); }, 0,
      0}},
    {0, {"softsign", [](double x, double, double) { return x / (1 + std::abs(x)); }, 0, 0}},
    {0, {"tanh", [](double x, double, double) { return std::tanh(x); }, 0, 0}},
    {1, {"thresholdedrelu", [](double x, double a, double) { return x > a ? x : 0; }, 1, 0}},
};

const Known* find_function(std::string name) {
  for (char& ch : name)
    if (ch >= 'A' && ch <= 'Z') ch = static_cast<char>(ch - 'A' + 'a');
  for (const Known& known : kFunctions)
    if (known.activation.name == name) return &known;
  return nullptr;
}

}  // namespace

std::vector<RecurrentActivation> read_activations(const Attributes& attributes,
                                                  const std::vector<std::string>& defaults, std::size_t directions,
                                                  std::string& problem) {
  using Numbers = std::vector<float>;
  const auto* names = attributes.get<std::vector<std::string>>("activations");
  const Numbers *alphas = attributes.get<Numbers>("activation_alpha"),
                *betas = attributes.get<Numbers>("activation_beta");
  const std::size_t count = defaults.size() * directions;
  std::vector<RecurrentActivation> result;
  if (names && names->size() < count) {
    problem = "attribute 'activations' names " + std::to_string(names->size()) + " functions where " +
              std::to_string(count) + " are needed";
    return result;
  }
  std::size_t alpha = 0, beta = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const std::string& name = names ? (*names)[i] : defaults[i % defaults.size()];
    const Known* function = find_function(name);
    if (!function) {
      problem = "activation '" + name + "' is not known";
      return {};
    }
    RecurrentActivation activation = function->activation;
    if (function->parameters >= 1 && alphas && alpha < alphas->size()) activation.alpha = (*alphas)[alpha++];
    if (function->parameters >= 2 && betas && beta < betas->size()) activation.beta = (*betas)[beta++];
    result.push_back(activation);
  }
  return result;
}

std::vector<RecurrentActivation> read_activations(const KernelContext& c, const std::vector<std::string>& defaults,
                                                  std::size_t directions) {
  std::string problem;
  auto result = read_activations(c.node.attributes, defaults, directions, problem);
  if (!problem.empty()) c.fail(problem);
  return result;
}

}  // namespace ingot::ops
