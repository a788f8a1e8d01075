// Activations that other operators take in.
#include "ingot/ops/vendor/fused_activation.h"

#include "ingot/ops/vendor/body.h"

namespace ingot::ops {
namespace {

struct Row {
  std::string_view name;
  Name op;
  std::vector<std::string_view> attributes{};
};

}  // namespace

Value* activated(GraphBuilder& g, Value* x, const std::string& activation, const std::vector<float>& parameters) {
  if (activation.empty()) return x;
  const auto parameter = [&](std::size_t i, float fallback) {
    return static_cast<double>(i < parameters.size() ? parameters[i] : fallback);
  };
  if (activation == "Clip")
    return g.op("Clip",
                {x, g.scalar(parameter(0, -3.4e38f), x->type.elem), g.scalar(parameter(1, 3.4e38f), x->type.elem)});
  if (activation == "ParametricSoftplus") return g.mul(g.op("Softplus", {g.mul(x, parameter(1, 1))}), parameter(0, 1));
  if (activation == "ScaledTanh") return g.mul(g.op("Tanh", {g.mul(x, parameter(1, 1))}), parameter(0, 1));
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
  };
  for (const Row& row : kRows) {
    if (row.name != activation || parameters.size() > row.attributes.size()) continue;
    Attrs attrs;
    for (std::size_t i = 0; i < parameters.size(); ++i) attrs.emplace_back(row.attributes[i], parameters[i]);
    return g.op(row.op, {x}, attrs);
  }
  return nullptr;
}

}  // namespace ingot::ops
