// Activations that other operators take in.
#include "ingot/ops/vendor/fused_activation.h"

#include <algorithm>

#include "ingot/ops/vendor/body.h"

namespace ingot::ops {
namespace {

struct Row {
  std::string_view name;
  Name op;
  std::vector<std::string_view> parameters{};
};

const Row* find(std::string_view name) {
  static const Row kRows[] = {
      {"Relu", "Relu"},
      {"Tanh", "Tanh"},
      {"Sigmoid", "Sigmoid"},
      {"Softsign", "Softsign"},
      {"Softplus", "Softplus"},
      {"HardSwish", "HardSwish"},
      {"LeakyRelu", "LeakyRelu", {"alpha"}},
      {"Elu", "Elu", {"alpha"}},
      {"Celu", "Celu", {"alpha"}},
      {"ThresholdedRelu", "ThresholdedRelu", {"alpha"}},
      {"Selu", "Selu", {"alpha", "gamma"}},
      {"HardSigmoid", "HardSigmoid", {"alpha", "beta"}},
      {"Clip", "Clip", {"min", "max"}},
      {"ParametricSoftplus", "Softplus", {"alpha", "beta"}},
      {"ScaledTanh", "Tanh", {"alpha", "beta"}},
  };
  const auto* row = std::ranges::find(kRows, name, &Row::name);
  return row == std::end(kRows) ? nullptr : row;
}

}  // namespace

std::vector<std::string_view> parameters_of_activation(std::string_view name) {
  const Row* row = find(name);
  return row ? row->parameters : std::vector<std::string_view>();
}

Value* activated(GraphBuilder& g, Value* x, const std::string& activation, const std::vector<float>& parameters) {
  if (activation.empty()) return x;
  const Row* row = find(activation);
  if (!row || parameters.size() > row->parameters.size()) return nullptr;
  const auto parameter = [&](std::size_t i, float fallback) {
    return static_cast<double>(i < parameters.size() ? parameters[i] : fallback);
  };
  if (activation == "Clip")
    return g.op("Clip",
                {x, g.scalar(parameter(0, -3.4e38f), x->type.elem), g.scalar(parameter(1, 3.4e38f), x->type.elem)});
  if (activation == "ParametricSoftplus" || activation == "ScaledTanh")
    return g.mul(g.op(row->op, {g.mul(x, parameter(1, 1))}), parameter(0, 1));
  Attrs attrs;
  for (std::size_t i = 0; i < parameters.size(); ++i) attrs.emplace_back(row->parameters[i], parameters[i]);
  return g.op(row->op, {x}, attrs);
}

}  // namespace ingot::ops
