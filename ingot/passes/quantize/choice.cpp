// Which nodes are quantised.
#include "ingot/passes/quantize/choice.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <unordered_map>

#include "ingot/ir/operator_pattern.h"

namespace ingot::passes::quantize_parts {
namespace {

const std::map<std::string_view, Role>& roles() {
  using enum Role;
  static const std::map<std::string_view, Role> kRoles = {
      {"Add", element},       {"AveragePool", move}, {"Clip", element},
      {"Concat", move},       {"Conv", product},     {"ConvTranspose", product},
      {"DepthToSpace", move}, {"Expand", move},      {"Flatten", move},
      {"Gather", move},       {"Gemm", product},     {"GlobalAveragePool", element},
      {"HardSwish", element}, {"Identity", move},    {"LeakyRelu", element},
      {"MatMul", product},    {"MaxPool", move},     {"Mul", element},
      {"Pad", move},          {"ReduceMax", move},   {"ReduceMean", element},
      {"Relu", element},      {"Reshape", move},     {"Resize", move},
      {"Sigmoid", element},   {"Slice", move},       {"Softmax", element},
      {"SpaceToDepth", move}, {"Split", move},       {"Squeeze", move},
      {"Sub", element},       {"Tanh", element},     {"Tile", move},
      {"Transpose", move},    {"Unsqueeze", move},
  };
  return kRoles;
}

/// Padding by anything but 0, which every range holds, has a range of its own.
bool pads_by_zero(const Node& node) {
  if (!node.input(2)) return true;
  const Tensor* value = stored(node.input(2));
  return value && value->size() == 1 && value->to_doubles()[0] == 0;
}

bool has_odd_numbers(const Tensor& weight) {
  return std::ranges::any_of(weight.to_vector<float>(), [](float v) { return !std::isfinite(v); });
}

/// x - mean(x) of a normalisation that is spelt out. What follows is float, and the mean is nearly 0 beside x, so that
/// steps of x's size would leave little of it.
bool is_centring(const Node& node) {
  const auto is_difference = [](const Node& sub) {
    const Node* mean = sub.is("Sub") && sub.input(1) ? sub.input(1)->producer() : nullptr;
    return mean && mean->is("ReduceMean") && mean->input(0) == sub.input(0);
  };
  if (!node.is("ReduceMean")) return is_difference(node);
  return std::ranges::any_of(node.output(0)->uses(),
                             [&](const Use& use) { return use.node && is_difference(*use.node); });
}

std::string why_float(const Node& node) {
  for (const std::size_t i : activation_inputs(node))
    if (!is_float(node.input(i))) return "it does not compute with float32";
  if (!is_float(node.output(0))) return "it does not compute with float32";
  if (role_of(node) == Role::product)
    if (const Tensor* weight = weight_of(node); weight && has_odd_numbers(*weight))
      return "its weight has infinities or NaN";
  return {};
}

}  // namespace

Role role_of(const Node& node) {
  if (!node.domain.empty()) return Role::none;
  const auto it = roles().find(node.op);
  if (it == roles().end()) return Role::none;
  if (node.op == "Pad" && (node.attributes.string_or("mode", "constant") == "constant" && !pads_by_zero(node)))
    return Role::none;
  if (node.op == "MaxPool" && node.output_count() > 1 && node.output(1)) return Role::none;
  return it->second;
}

const Tensor* stored(const Value* v) { return v && v->initializer && !v->is_input() ? &*v->initializer : nullptr; }

bool is_float(const Value* v) { return v && v->type.is_tensor() && v->type.elem == DType::f32; }

const Tensor* weight_of(const Node& node) {
  const Tensor* weight = stored(node.input(1));
  return weight && weight->dtype() == DType::f32 && weight->rank() >= 2 && weight->size() > 0 ? weight : nullptr;
}

std::int64_t output_axis(const Node& node, const Tensor& weight) {
  if (node.op == "Conv") return 0;
  if (node.op == "ConvTranspose") return node.attributes.int_or("group", 1) == 1 ? 1 : -1;
  if (node.op == "Gemm") return node.attributes.int_or("transB", 0) ? 0 : 1;
  return weight.rank() == 2 ? 1 : -1;
}

std::vector<std::size_t> activation_inputs(const Node& node) {
  if (node.op == "Concat") {
    std::vector<std::size_t> all;
    for (std::size_t i = 0; i < node.input_count(); ++i) all.push_back(i);
    return all;
  }
  const bool has_two = node.op == "Add" || node.op == "Sub" || node.op == "Mul" || role_of(node) == Role::product;
  return has_two ? std::vector<std::size_t>{0, 1} : std::vector<std::size_t>{0};
}

std::string why_left(const Node& node, const QuantizeOptions& options) {
  const auto names = [&](const std::string& word) {
    return node.name == word || OperatorPattern::parse(word).matches(node.op, node.domain);
  };
  if (std::ranges::any_of(options.exclude, names)) return "it is excluded";
  if (!options.only.empty() && std::ranges::none_of(options.only, names)) return "it is not among those asked for";
  return {};
}

Choice choose(const Graph& graph, const QuantizeOptions& options) {
  Choice choice;
  std::vector<const Node*> between;
  for (const Node& node : graph.nodes()) {
    const Role role = role_of(node);
    if (role == Role::none || is_centring(node)) continue;
    std::string why = why_float(node);
    // What lies between products needs no word of its own.
    if (why.empty() && (role == Role::product || !options.only.empty() || !options.exclude.empty()))
      why = role == Role::product || options.only.empty() ? why_left(node, options) : std::string();
    if (!why.empty()) {
      if (role == Role::product) choice.kept.push_back({node.label(), node.op, why});
      continue;
    }
    if (role == Role::product)
      choice.nodes.insert(&node);
    else
      between.push_back(&node);
  }
  const auto is_chosen = [&](const Node* node) { return node && choice.nodes.contains(node); };
  const auto follows = [&](const Node* node) {
    const auto inputs = activation_inputs(*node);
    return std::ranges::any_of(inputs, [&](std::size_t i) { return is_chosen(node->input(i)->producer()); });
  };
  const auto leads = [&](const Node* node) {
    const auto uses = node->output(0)->uses();
    return !uses.empty() && std::ranges::all_of(uses, [&](const Use& use) { return is_chosen(use.node); });
  };
  std::vector<const Node*> rest;
  for (auto it = between.rbegin(); it != between.rend(); ++it)
    if (leads(*it))
      choice.nodes.insert(*it);
    else
      rest.push_back(*it);
  for (auto it = rest.rbegin(); it != rest.rend(); ++it)
    if (follows(*it)) choice.nodes.insert(*it);
  return choice;
}

namespace {

/// The values that stay float, each with the reason.
class Misfits {
 public:
  Misfits(const Graph& graph, const Choice& choice, const ValueRanges& ranges) : ranges_(ranges) {
    std::vector<const Node*> nodes;
    for (const Node& node : graph.nodes())
      if (choice.nodes.contains(&node)) nodes.push_back(&node);
    for (const Node* node : nodes) find_in(*node);
    // What is moved has one range on both sides.
    for (const Node* node : nodes) spread(*node);
    for (auto it = nodes.rbegin(); it != nodes.rend(); ++it) spread(**it);
  }

  /// Why the node stays float; empty: it need not.
  std::string why(const Node& node) const {
    for (const Value* v : values_of(node))
      if (const auto it = misfits_.find(v); it != misfits_.end()) return it->second;
    return {};
  }

 private:
  Values values_of(const Node& node) const {
    Values values;
    for (const std::size_t i : activation_inputs(node))
      if (i != 1 || role_of(node) != Role::product || !weight_of(node)) values.push_back(node.input(i));
    for (Value* v : node.outputs())
      if (is_float(v)) values.push_back(v);
    return values;
  }

  void find_in(const Node& node) {
    for (const Value* v : values_of(node))
      if (has_infinities(v)) misfits_.emplace(v, "'" + v->name() + "' has infinities");
    const Value* scores = node.input(0);
    if (!node.is("Softmax") || misfits_.contains(scores)) return;
    // A step this large changes a probability by an eighth; a mask of -10000 makes it 39.
    constexpr double kCoarse = 0.25, kSteps = 255;
    const auto it = ranges_.find(scores->name());
    if (it != ranges_.end() && it->second.most - it->second.least > kCoarse * kSteps)
      misfits_.emplace(scores, "the scores '" + scores->name() + "' are too far apart for 8 bits");
  }

  bool has_infinities(const Value* v) const {
    if (const Tensor* tensor = stored(v)) {
      const std::vector<float> numbers = tensor->to_vector<float>();
      return std::ranges::any_of(numbers, [](float x) { return std::isinf(x); });
    }
    const auto it = ranges_.find(v->name());
    return it != ranges_.end() && it->second.has_infinities;
  }

  /// All that a node moves stays float where a part of it does.
  void spread(const Node& node) {
    if (role_of(node) != Role::move) return;
    if (const std::string reason = why(node); !reason.empty())
      for (const Value* v : values_of(node)) misfits_.emplace(v, reason);
  }

  const ValueRanges& ranges_;
  std::unordered_map<const Value*, std::string> misfits_;
};

}  // namespace

void take_out_what_does_not_fit(const Graph& graph, Choice& choice, const ValueRanges& ranges) {
  const Misfits misfits(graph, choice, ranges);
  for (const Node& node : graph.nodes()) {
    if (!choice.nodes.contains(&node)) continue;
    const std::string why = misfits.why(node);
    if (why.empty()) continue;
    choice.nodes.erase(&node);
    choice.kept.push_back({node.label(), node.op, why});
  }
}

}  // namespace ingot::passes::quantize_parts
