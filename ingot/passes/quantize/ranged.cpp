// Ranges known before: QuantizeLinear and DequantizeLinear around products and what lies between them.
#include "ingot/passes/quantize/ranged.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "ingot/base/error.h"
#include "ingot/ops/builder.h"
#include "ingot/passes/quantize/choice.h"
#include "ingot/passes/quantize/scales.h"

namespace ingot::passes::quantize_parts {
namespace {

/// An activation behind a product happens in the same step: nothing is rounded between them.
bool is_joined(const Node& node, const Choice& choice) {
  if (node.op != "Relu" && node.op != "Clip") return false;
  const Value* v = node.input(0);
  const Node* before = v->producer();
  if (!before || !choice.nodes.contains(before) || v->uses().size() != 1) return false;
  return role_of(*before) == Role::product || before->op == "Add";
}

/// The ends that a function cannot leave, such that its zero is exact and runtimes find the scale they expect.
const ValueRange* natural_range(const Value* v) {
  static constexpr ValueRange kUnit{0, 255.0 / 256}, kBoth{-1, 127.0 / 128};
  const Node* node = v->producer();
  if (!node) return nullptr;
  if (node->is("Sigmoid") || node->is("Softmax")) return &kUnit;
  return node->is("Tanh") ? &kBoth : nullptr;
}

ValueRange range_of(const Tensor& tensor) {
  ValueRange range;
  for (const float v : tensor.to_vector<float>())
    if (std::isfinite(v)) {
      range.least = std::min(range.least, static_cast<double>(v));
      range.most = std::max(range.most, static_cast<double>(v));
    }
  return range;
}

/// Values in groups that share a scale.
class Groups {
 public:
  void add(const Value* v) {
    if (parent_.try_emplace(v, v).second) order_.push_back(v);
  }
  void join(const Value* a, const Value* b) {
    const Value *ra = root(a), *rb = root(b);
    if (ra != rb) parent_[rb] = ra;
  }
  const Value* root(const Value* v) {
    while (parent_.at(v) != v) {
      parent_[v] = parent_.at(parent_.at(v));
      v = parent_[v];
    }
    return v;
  }
  bool contains(const Value* v) const { return parent_.contains(v); }
  const std::vector<const Value*>& all() const { return order_; }

 private:
  std::unordered_map<const Value*, const Value*> parent_;
  std::vector<const Value*> order_;
};

Groups groups_of(const Graph& graph, const Choice& choice) {
  Groups groups;
  for (const Node& node : graph.nodes()) {
    if (!choice.nodes.contains(&node)) continue;
    const Role role = role_of(node);
    for (const std::size_t i : activation_inputs(node)) {
      const Value* v = node.input(i);
      if (is_joined(node, choice) || (role == Role::product && i == 1 && weight_of(node))) continue;
      groups.add(v);
    }
    const Node* reader = node.output(0)->uses().size() == 1 ? node.output(0)->uses()[0].node : nullptr;
    const bool is_open = reader && choice.nodes.contains(reader) && is_joined(*reader, choice);
    for (const Value* v : node.outputs())
      if (is_float(v) && !is_open) groups.add(v);
    if (role != Role::move) continue;
    for (const Value* v : node.outputs())
      if (is_float(v))
        for (const std::size_t i : activation_inputs(node)) groups.join(node.input(i), v);
  }
  return groups;
}

class Rounding {
 public:
  Rounding(Graph& graph, const QuantizeOptions& options, const ValueRanges& ranges)
      : graph_(graph), options_(options), choice_(choose(graph, options)) {
    take_out_what_does_not_fit(graph, choice_, ranges);
    groups_ = groups_of(graph, choice_);
    for (const Value* v : groups_.all()) widen(v, ranges);
    for (auto& [root, group] : found_) group.scale = scale_of(group.range(), options.activations, options.is_symmetric);
  }

  QuantizeReport run() {
    std::vector<Node*> nodes;
    for (Node& node : graph_.nodes())
      if (choice_.nodes.contains(&node)) nodes.push_back(&node);
    for (Node* node : nodes)
      if (role_of(*node) == Role::product) round_weight(*node);
    Node* first = graph_.first();
    for (const Value* v : groups_.all()) round(graph_.find(v->name()), first);
    report_.quantized = nodes.size();
    report_.kept = choice_.kept;
    return std::move(report_);
  }

 private:
  struct Group {
    ValueRange seen;
    const ValueRange* natural = nullptr;
    Scale scale;
    Value *scale_value = nullptr, *zero_value = nullptr;

    ValueRange range() const {
      if (!natural) return seen;
      constexpr double kSlack = 0.01;
      return seen.least >= natural->least - kSlack && seen.most <= natural->most + kSlack ? *natural : seen;
    }
  };

  void widen(const Value* v, const ValueRanges& ranges) {
    Group& group = found_[groups_.root(v)];
    if (const ValueRange* natural = natural_range(v)) group.natural = natural;
    ValueRange range;
    if (const Tensor* tensor = stored(v)) {
      range = range_of(*tensor);
    } else {
      const auto it = ranges.find(v->name());
      if (it == ranges.end()) throw Error(Code::bad_usage, "no range of '" + v->name() + "' is known");
      range = it->second;
    }
    group.seen.least = std::min(group.seen.least, range.least);
    group.seen.most = std::max(group.seen.most, range.most);
  }

  /// Scale and zero point of a group, stored once.
  Group& stored_group(const Value* v) {
    Group& group = found_.at(groups_.root(v));
    if (group.scale_value) return group;
    const std::string& name = v->name();
    group.scale_value = graph_.add_initializer(graph_.fresh_name(name + "_scale"), Tensor::scalar(group.scale.scale));
    group.zero_value = graph_.add_initializer(graph_.fresh_name(name + "_zero_point"),
                                              packed(options_.activations, {}, {group.scale.zero_point}));
    return group;
  }

  void round(Value* v, Node* first) {
    Group& group = stored_group(v);
    GraphBuilder g(graph_, v->producer() ? v->producer()->next() : first);
    std::vector<Use> uses;
    const bool is_made_here = v->producer() && choice_.nodes.contains(v->producer());
    for (const Use& use : v->uses())
      if (is_made_here || (use.node && choice_.nodes.contains(use.node) && takes_integers(use))) uses.push_back(use);
    g.name_after(v->name() + "_quantized");
    Value* whole = nullptr;
    if (const Tensor* tensor = stored(v)) {
      whole = graph_.add_initializer(graph_.fresh_name(v->name() + "_quantized"), rounded(*tensor, group.scale));
    } else {
      whole = g.op("QuantizeLinear", {v, group.scale_value, group.zero_value});
    }
    g.name_after(v->name() + "_dequantized");
    Value* back = g.op("DequantizeLinear", {whole, group.scale_value, group.zero_value});
    std::string name = v->name();
    for (const Use& use : uses)
      if (use.node)
        use.node->set_input(use.index, back);
      else
        hand_over(use, v, back, name);
    if (v->producer()) report_.values.push_back({v->producer()->label(), v->producer()->op, name, back->name()});
  }

  /// The outside knows the name.
  static void hand_over(const Use& use, Value* v, Value* back, const std::string& name) {
    use.graph->set_output(use.index, back);
    if (back->is_declared) return;
    Graph& graph = v->graph();
    graph.rename(v, graph.fresh_name(name + "_float"));
    graph.rename(back, name);
    back->is_declared = v->is_declared;
    back->type = v->type;
    v->is_declared = false;
    back->doc_string = v->doc_string;
  }

  bool takes_integers(const Use& use) const {
    const auto inputs = activation_inputs(*use.node);
    return std::ranges::find(inputs, use.index) != inputs.end() && !is_joined(*use.node, choice_);
  }

  Tensor rounded(const Tensor& tensor, const Scale& scale) const {
    const Whole whole = integers_of(options_.activations);
    std::vector<std::int64_t> values;
    for (const float v : tensor.to_vector<float>()) {
      const double q = std::nearbyint(static_cast<double>(v / scale.scale)) + static_cast<double>(scale.zero_point);
      values.push_back(std::isnan(q) ? scale.zero_point
                                     : static_cast<std::int64_t>(std::clamp(q, static_cast<double>(whole.least),
                                                                            static_cast<double>(whole.most))));
    }
    return packed(options_.activations, tensor.dims(), values);
  }

  /// The bias of a product that sums up integers: one number for each output.
  const Tensor* bias_of(const Node& node, std::int64_t outputs) const {
    const Tensor* bias = stored(node.input(2));
    if (!bias || bias->dtype() != DType::f32 || node.op == "MatMul") return nullptr;
    // Gemm's may have a row of its own.
    if (bias->size() != outputs || bias->rank() == 0 || bias->dims().back() != outputs) return nullptr;
    if (node.op == "Gemm" && (node.attributes.float_or("alpha", 1) != 1 || node.attributes.float_or("beta", 1) != 1))
      return nullptr;
    return bias;
  }

  void round_weight(Node& node) {
    const Tensor* weight = weight_of(node);
    if (!weight) return;
    const float x_scale = found_.at(groups_.root(node.input(0))).scale.scale;
    const std::int64_t outputs_axis = output_axis(node, *weight);
    WeightGrid grid{.dtype = options_.weights, .axis = options_.is_per_channel ? outputs_axis : -1};
    grid.is_narrow = options_.is_narrow;
    const std::int64_t outputs = outputs_axis < 0 ? -1 : weight->dims()[static_cast<std::size_t>(outputs_axis)];
    const Tensor* bias = bias_of(node, outputs);
    if (bias) {
      // The bias must fit 32 bits in steps of both scales.
      constexpr float kMost = 1 << 30;
      for (const float b : bias->to_vector<float>()) grid.least_scales.push_back(std::abs(b) / (x_scale * kMost));
      if (grid.axis < 0) grid.least_scales = {*std::ranges::max_element(grid.least_scales)};
    }
    const std::string name = node.input(1)->name();
    const QuantizedTensor made = quantized(*weight, grid);
    report_.weights.push_back({name, weight->bytes().size(), made.values.bytes().size(), made.noise});
    const Dims dims = grid.axis < 0 ? Dims{} : Dims{std::ssize(made.scales)};
    GraphBuilder g(graph_, &node);
    node.set_input(1, dequantized(g, name, made.values, Tensor::of<float>(dims, made.scales),
                                  packed(options_.weights, dims, made.zero_points), grid.axis));
    if (bias) round_bias(g, node, *bias, x_scale, made.scales);
  }

  void round_bias(GraphBuilder& g, Node& node, const Tensor& bias, float x_scale, const std::vector<float>& scales) {
    const std::vector<float> values = bias.to_vector<float>();
    std::vector<std::int32_t> whole;
    std::vector<float> steps;
    for (std::size_t i = 0; i < values.size(); ++i) {
      const float step = x_scale * scales[scales.size() == 1 ? 0 : i];
      constexpr double kMost = 2147483647;
      const double q = std::nearbyint(static_cast<double>(values[i]) / static_cast<double>(step));
      whole.push_back(static_cast<std::int32_t>(std::clamp(std::isnan(q) ? 0 : q, -kMost, kMost)));
      if (steps.empty() || scales.size() > 1) steps.push_back(step);
    }
    const Dims dims = scales.size() == 1 ? Dims{} : Dims{std::ssize(steps)};
    const std::vector<std::int32_t> zeros(steps.size(), 0);
    node.set_input(
        2, dequantized(g, node.input(2)->name(), Tensor::of<std::int32_t>({std::ssize(whole)}, whole),
                       Tensor::of<float>(dims, steps), Tensor::of<std::int32_t>(dims, zeros), dims.empty() ? -1 : 0));
  }

  Value* dequantized(GraphBuilder& g, const std::string& name, Tensor values, Tensor scales, Tensor zeros,
                     std::int64_t axis) {
    Value* whole = graph_.add_initializer(graph_.fresh_name(name + "_quantized"), std::move(values));
    Value* scale = graph_.add_initializer(graph_.fresh_name(name + "_scale"), std::move(scales));
    Value* zero = graph_.add_initializer(graph_.fresh_name(name + "_zero_point"), std::move(zeros));
    g.name_after(name + "_dequantized");
    Attrs attrs;
    if (axis >= 0) attrs.emplace_back("axis", axis);
    return g.op("DequantizeLinear", {whole, scale, zero}, attrs);
  }

  Graph& graph_;
  const QuantizeOptions& options_;
  Choice choice_;
  Groups groups_;
  std::unordered_map<const Value*, Group> found_;
  QuantizeReport report_;
};

}  // namespace

std::vector<const Value*> values_with_ranges(const Graph& graph, const QuantizeOptions& options) {
  const Choice choice = choose(graph, options);
  std::vector<const Value*> wanted;
  const Groups groups = groups_of(graph, choice);
  for (const Value* v : groups.all())
    if (!stored(v)) wanted.push_back(v);
  return wanted;
}

QuantizeReport quantize_by_ranges(Graph& graph, const QuantizeOptions& options, const ValueRanges& ranges) {
  return Rounding(graph, options, ranges).run();
}

}  // namespace ingot::passes::quantize_parts
