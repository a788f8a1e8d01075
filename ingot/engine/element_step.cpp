// What elementwise operators do to floats, as steps that kernels walk.
#include "ingot/engine/element_step.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "ingot/engine/domain.h"
#include "ingot/engine/rewrites/pattern.h"

namespace ingot::engine {
namespace {

constexpr std::size_t kFields = 4;  // of a step in the attribute "steps"

struct Named {
  std::string_view op;
  Unary function;
};
constexpr Named kUnary[] = {
    {"Abs", Unary::abs},           {"Ceil", Unary::ceil},   {"Erf", Unary::erf},
    {"Exp", Unary::exp},           {"Floor", Unary::floor}, {"HardSwish", Unary::hard_swish},
    {"Log", Unary::log},           {"Neg", Unary::negate},  {"Reciprocal", Unary::reciprocal},
    {"Relu", Unary::relu},         {"Round", Unary::round}, {"Sigmoid", Unary::sigmoid},
    {"Softplus", Unary::softplus}, {"Sqrt", Unary::sqrt},   {"Tanh", Unary::tanh},
};

struct NamedPair {
  std::string_view op;
  Binary function;
};
constexpr NamedPair kBinary[] = {
    {"Add", Binary::add},      {"Div", Binary::divide},  {"Max", Binary::maximum},  {"Min", Binary::minimum},
    {"Mul", Binary::multiply}, {"PRelu", Binary::prelu}, {"Sub", Binary::subtract}, {"Sum", Binary::add},
};

/// Whether an operand is repeated along axes of another, and adds none to it.
bool fits_into(const Value* v, const Value* whole) {
  if (!v->type.shape || !whole->type.shape || v->type.shape->size() > whole->type.shape->size()) return false;
  const auto fits = [](const Dim& one, const Dim& all) {
    return (one.is_known() && one.value() == 1) || same(one, all);
  };
  return std::equal(v->type.shape->rbegin(), v->type.shape->rend(), whole->type.shape->rbegin(), fits);
}

/// A function of two operands of which the second is a constant number, as a function of the first.
std::optional<ElementStep> unary_by(const Node& node) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const auto number = constant_number(node.input(1), 0);
  // One element of more axes than the other operand has would add axes to the result.
  if (!number || (constant_of(node.input(1))->rank() > 0 && !have_same_shape(node.input(0), node.output(0)))) return {};
  if (node.op == "Max" && !std::isnan(*number)) return ElementStep{.unary = Unary::clip, .a = *number, .b = kInfinity};
  if (node.op == "Min" && !std::isnan(*number)) return ElementStep{.unary = Unary::clip, .a = -kInfinity, .b = *number};
  if (node.op == "PRelu") return ElementStep{.unary = Unary::leaky_relu, .a = *number};
  if (node.op == "Pow" && *number == 1.0f) return ElementStep{.unary = Unary::clip, .a = -kInfinity, .b = kInfinity};
  if (node.op == "Pow" && *number == 2.0f) return ElementStep{.unary = Unary::square};
  if (node.op == "Pow" && *number == 0.5f) return ElementStep{.unary = Unary::sqrt};
  return {};
}

}  // namespace

std::optional<ElementStep> step_for(const Node& node) {
  if (node.domain == kEngineDomain && node.op == "Gate") return ElementStep{.is_binary = true, .binary = Binary::gate};
  if (node.domain == kEngineDomain && node.op == "PRelu")
    return ElementStep{.is_binary = true, .binary = Binary::prelu};
  if (node.domain == kEngineDomain && node.op == "Quantized") {
    const Attributes& attributes = node.attributes;
    return ElementStep{.unary = attributes.int_or("bits", 8) == 8 ? Unary::quantize_8 : Unary::quantize_16,
                       .a = attributes.float_or("scale", 1),
                       .b = static_cast<float>(attributes.int_or("low", 0))};
  }
  if (!node.domain.empty() || node.output_count() != 1 || !node.output(0) || node.output(0)->type.elem != DType::f32)
    return {};
  for (const Value* input : node.inputs())
    if (input && (input->type.elem != DType::f32 || !input->type.is_tensor())) return {};
  if (node.input_count() == 2 && node.input(0) && node.input(1)) {
    if (const auto unary = unary_by(node)) return unary;
    if (node.op == "PRelu" && !fits_into(node.input(1), node.input(0))) return {};
    for (const NamedPair& named : kBinary)
      if (named.op == node.op) return ElementStep{.is_binary = true, .binary = named.function};
  }
  if (!node.input(0)) return {};
  if (node.input_count() == 1) {
    for (const Named& named : kUnary)
      if (named.op == node.op) return ElementStep{.unary = named.function};
    const Attributes& attributes = node.attributes;
    if (node.op == "Gelu")
      return ElementStep{.unary =
                             attributes.string_or("approximate", "none") == "tanh" ? Unary::gelu_tanh : Unary::gelu};
    if (node.op == "Elu") return ElementStep{.unary = Unary::elu, .a = attributes.float_or("alpha", 1), .b = 1};
    if (node.op == "Selu")
      return ElementStep{.unary = Unary::elu,
                         .a = attributes.float_or("alpha", 1.67326319217681884765625f),
                         .b = attributes.float_or("gamma", 1.05070102214813232421875f)};
    if (node.op == "HardSigmoid")
      return ElementStep{.unary = Unary::hard_sigmoid,
                         .a = attributes.float_or("alpha", 0.2f),
                         .b = attributes.float_or("beta", 0.5f)};
    if (node.op == "Swish") return ElementStep{.unary = Unary::swish, .a = attributes.float_or("alpha", 1)};
    if (node.op == "LeakyRelu")
      return ElementStep{.unary = Unary::leaky_relu, .a = attributes.float_or("alpha", 0.01f)};
  }
  if (node.op == "Clip") {
    constexpr float kInfinity = std::numeric_limits<float>::infinity();
    const auto low = constant_number(node.input(1), -kInfinity), high = constant_number(node.input(2), kInfinity);
    if (low && high) return ElementStep{.unary = Unary::clip, .a = *low, .b = *high};
  }
  return {};
}

bool ElementStep::keeps_zero() const {
  switch (unary) {
    case Unary::exp:
    case Unary::hard_sigmoid:
    case Unary::log:
    case Unary::reciprocal:
    case Unary::sigmoid:
    case Unary::softplus:
      return false;
    case Unary::clip:
      return a <= 0 && b >= 0;
    case Unary::elu:
      return std::isfinite(a) && std::isfinite(b);
    case Unary::leaky_relu:
    case Unary::swish:
      return std::isfinite(a);
    default:
      return true;
  }
}

Attrs attributes_of(const std::vector<ElementStep>& steps) {
  std::vector<std::int64_t> fields;
  std::vector<float> parameters;
  for (const ElementStep& step : steps) {
    const auto function =
        static_cast<std::int64_t>(step.is_binary ? static_cast<int>(step.binary) : static_cast<int>(step.unary));
    fields.insert(fields.end(), {step.is_binary ? 1 : 0, function, step.x, step.y});
    parameters.insert(parameters.end(), {step.a, step.b});
  }
  return {{"steps", fields}, {"parameters", parameters}};
}

std::vector<ElementStep> steps_of(const Node& node) {
  const auto fields = node.attributes.ints_or("steps", {});
  const auto* parameters = node.attributes.get<std::vector<float>>("parameters");
  std::vector<ElementStep> steps;
  for (std::size_t i = 0; i + kFields <= fields.size(); i += kFields) {
    ElementStep step;
    step.is_binary = fields[i] != 0;
    if (step.is_binary)
      step.binary = static_cast<Binary>(fields[i + 1]);
    else
      step.unary = static_cast<Unary>(fields[i + 1]);
    step.x = static_cast<std::uint32_t>(fields[i + 2]);
    step.y = static_cast<std::uint32_t>(fields[i + 3]);
    step.a = (*parameters)[i / kFields * 2];
    step.b = (*parameters)[i / kFields * 2 + 1];
    steps.push_back(step);
  }
  return steps;
}

}  // namespace ingot::engine
