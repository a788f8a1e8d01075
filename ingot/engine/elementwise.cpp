// Chains of elementwise operators become one node each.
#include "ingot/engine/elementwise.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "ingot/engine/blocked.h"
#include "ingot/engine/pattern.h"
#include "ingot/ops/builder.h"

namespace ingot::engine {
namespace {

constexpr std::size_t kMostSteps = 24, kMostInputs = 12;
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
    {"Add", Binary::add},      {"Div", Binary::divide},   {"Max", Binary::maximum}, {"Min", Binary::minimum},
    {"Mul", Binary::multiply}, {"Sub", Binary::subtract}, {"Sum", Binary::add},
};

/// A function of two operands of which the second is a constant number, as a function of the first.
std::optional<ElementStep> unary_by(const Node& node) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const auto number = constant_number(node.input(1), 0);
  // One element of more axes than the other operand has would add axes to the result.
  if (!number || (constant_of(node.input(1))->rank() > 0 && !have_same_shape(node.input(0), node.output(0)))) return {};
  if (node.op == "Max" && !std::isnan(*number)) return ElementStep{.unary = Unary::clip, .a = *number, .b = kInfinity};
  if (node.op == "Min" && !std::isnan(*number)) return ElementStep{.unary = Unary::clip, .a = -kInfinity, .b = *number};
  if (node.op == "Pow" && *number == 1.0f) return ElementStep{.unary = Unary::clip, .a = -kInfinity, .b = kInfinity};
  if (node.op == "Pow" && *number == 2.0f) return ElementStep{.unary = Unary::square};
  if (node.op == "Pow" && *number == 0.5f) return ElementStep{.unary = Unary::sqrt};
  return {};
}

}  // namespace

std::optional<ElementStep> step_for(const Node& node) {
  if (node.domain == kEngineDomain && node.op == "Gate") return ElementStep{.is_binary = true, .binary = Binary::gate};
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

namespace {

/// A node and those before it that nobody else reads.
class Chain {
 public:
  explicit Chain(Node& last) : last_(last) { collect(last); }

  const std::vector<Node*>& nodes() const { return nodes_; }

  void write() const {
    std::unordered_map<const Value*, std::uint32_t> registers;
    for (std::size_t i = 0; i < inputs_.size(); ++i) registers[inputs_[i]] = static_cast<std::uint32_t>(i);
    std::vector<ElementStep> steps;
    for (Node* node : nodes_) {
      ElementStep step = *step_for(*node);
      step.x = registers.at(node->input(0));
      if (step.is_binary) step.y = registers.at(node->input(1));
      steps.push_back(step);
      const auto made = static_cast<std::uint32_t>(registers.size());
      registers[node->output(0)] = made;
    }
    Graph& graph = last_.graph();
    GraphBuilder g(graph, &last_);
    Node* fused = g.node("Elementwise", kEngineDomain, inputs_, attributes_of(steps), 1);
    fused->name = names_of(nodes_);
    fused->output(0)->type = last_.output(0)->type;
    graph.replace_all_uses(last_.output(0), fused->output(0));
    for (std::size_t i = nodes_.size(); i-- > 0;) graph.erase(nodes_[i]);
  }

 private:
  void collect(Node& node) {
    const std::size_t operands = step_for(node)->is_binary ? 2 : 1;
    for (std::size_t i = 0; i < operands; ++i) {
      Value* input = node.input(i);
      if (Node* before = absorbable(input)) {
        if (std::ranges::find(nodes_, before) == nodes_.end()) collect(*before);
      } else if (std::ranges::find(inputs_, input) == inputs_.end()) {
        inputs_.push_back(input);
      }
    }
    nodes_.push_back(&node);
  }

  /// The node that makes a value, if it can be a part of this chain.
  Node* absorbable(const Value* value) const {
    Node* node = value->producer();
    if (!node || &node->graph() != &last_.graph() || !step_for(*node) || !have_same_shape(value, last_.output(0)))
      return nullptr;
    for (const Use& use : value->uses())
      if (use.node != value->uses()[0].node || !use.node) return nullptr;
    return nodes_.size() + depth_ < kMostSteps && inputs_.size() < kMostInputs ? (++depth_, node) : nullptr;
  }

  Node& last_;
  std::vector<Node*> nodes_;
  Values inputs_;
  mutable std::size_t depth_ = 0;
};

/// An operand that was expanded to the shape of the other one is read as it was.
void read_before_expanding(Graph& graph) {
  std::vector<Node*> nodes;
  for (Node& node : graph.nodes())
    if (const auto step = step_for(node); step && step->is_binary) nodes.push_back(&node);
  for (Node* node : nodes)
    for (std::size_t i = 0; i < 2; ++i) {
      Node* expand = node->input(i)->producer();
      if (!expand || !expand->is("Expand") || &expand->graph() != &graph || node->input(0) == node->input(1) ||
          !have_same_shape(node->input(1 - i), node->output(0)))
        continue;
      node->set_input(i, expand->input(0));
      if (expand->output(0)->uses().empty()) graph.erase(expand);
    }
}

}  // namespace

void fuse_elementwise(Graph& graph) {
  read_before_expanding(graph);
  // From the end: a chain is as long as it can be.
  const auto order = topological_order(graph);
  if (!order) return;
  std::unordered_set<const Node*> fused;
  for (std::size_t i = order->size(); i-- > 0;) {
    Node* node = (*order)[i];
    if (fused.contains(node) || !step_for(*node)) continue;
    const Chain chain(*node);
    fused.insert(chain.nodes().begin(), chain.nodes().end());
    chain.write();
  }
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
