// Ranges of each run: products of integers behind DynamicQuantizeLinear.
#include <unordered_map>

#include "ingot/base/error.h"
#include "ingot/ops/builder.h"
#include "ingot/passes/quantize/choice.h"
#include "ingot/passes/quantize/ranged.h"
#include "ingot/passes/quantize/scales.h"

namespace ingot::passes::quantize_parts {
namespace {

std::string why_not(const Node& node, const QuantizeOptions& options) {
  const Tensor* weight = weight_of(node);
  if (!is_float(node.input(0)) || !is_float(node.output(0))) return "it does not compute with float32";
  if (!weight) return "its weight is not stored";
  if (node.op == "ConvTranspose") return "there is no such operator of integers";
  if (node.op == "MatMul" && weight->rank() != 2) return "its weight is no matrix";
  if (node.op == "Gemm" && node.attributes.int_or("transA", 0)) return "it turns the other factor";
  return why_left(node, options);
}

Tensor turned(const Tensor& weight) {
  const std::int64_t rows = weight.dims()[0], columns = weight.dims()[1];
  const std::vector<float> from = weight.to_vector<float>();
  std::vector<float> to(from.size());
  for (std::int64_t r = 0; r < rows; ++r)
    for (std::int64_t c = 0; c < columns; ++c)
      to[static_cast<std::size_t>(c * rows + r)] = from[static_cast<std::size_t>(r * columns + c)];
  return Tensor::of<float>({columns, rows}, to);
}

class Dynamic {
 public:
  Dynamic(Graph& graph, const QuantizeOptions& options) : graph_(graph), options_(options) {}

  QuantizeReport run() {
    std::vector<Node*> nodes;
    for (Node& node : graph_.nodes())
      if (role_of(node) == Role::product) nodes.push_back(&node);
    for (Node* node : nodes) {
      const std::string why = why_not(*node, options_);
      if (!why.empty()) {
        report_.kept.push_back({node->label(), node->op, why});
        continue;
      }
      replace(*node);
      ++report_.quantized;
    }
    return std::move(report_);
  }

 private:
  struct Activation {
    Value *values, *scale, *zero;
  };

  Activation rounded(GraphBuilder& g, Value* x) {
    auto& made = made_[x];
    if (made.values) return made;
    GraphBuilder at(graph_, x->producer() ? x->producer()->next() : graph_.first());
    at.name_after(x->name() + "_quantized");
    const Values parts = at.op("DynamicQuantizeLinear", {x}, {}, 3);
    (void)g;
    return made = {parts[0], parts[1], parts[2]};
  }

  void replace(Node& node) {
    Tensor weight = *weight_of(node);
    const std::string label = node.label(), op = node.op, name = node.input(1)->name();
    const bool is_conv = node.op == "Conv";
    if (node.op == "Gemm" && node.attributes.int_or("transB", 0)) weight = turned(weight);
    WeightGrid grid{.dtype = options_.weights, .axis = is_conv ? 0 : 1};
    if (!options_.is_per_channel) grid.axis = -1;
    grid.is_narrow = options_.is_narrow;
    const QuantizedTensor made = quantized(weight, grid);
    report_.weights.push_back({name, weight.bytes().size(), made.values.bytes().size(), made.noise});
    GraphBuilder g(graph_, &node);
    const Activation x = rounded(g, node.input(0));
    const std::string scope = node.output(0)->name();
    g.name_after(scope);
    Value* w = graph_.add_initializer(graph_.fresh_name(name + "_quantized"), made.values);
    // All zero points of symmetric weights are the same.
    Value* zero = graph_.add_initializer(graph_.fresh_name(name + "_zero_point"),
                                         packed(options_.weights, {}, {made.zero_points[0]}));
    Dims dims = grid.axis < 0 ? Dims{} : Dims{std::ssize(made.scales)};
    if (is_conv && grid.axis == 0) {
      dims.assign(static_cast<std::size_t>(weight.rank()), 1);
      dims[1] = std::ssize(made.scales);
    }
    Value* scale = graph_.add_initializer(graph_.fresh_name(name + "_scale"), Tensor::of<float>(dims, made.scales));
    Value* sums = is_conv ? conv(g, node, x, w, zero) : g.op("MatMulInteger", {x.values, w, x.zero, zero});
    Value* factor = g.mul(x.scale, scale);
    if (const float alpha = node.attributes.float_or("alpha", 1); node.op == "Gemm" && alpha != 1)
      factor = g.mul(factor, static_cast<double>(alpha));
    Value* y = g.mul(g.cast(sums, DType::f32), factor);
    if (node.input(2)) y = g.add(y, bias(g, node, weight.rank()));
    replace_node(node, {y});
    report_.values.push_back({label, op, scope, scope});
  }

  static Value* conv(GraphBuilder& g, const Node& node, const Activation& x, Value* w, Value* zero) {
    Attrs attrs;
    for (const Attribute& a : node.attributes) {
      if (const auto* i = std::get_if<std::int64_t>(&a.value)) attrs.emplace_back(a.name, *i);
      if (const auto* s = std::get_if<std::string>(&a.value)) attrs.emplace_back(a.name, *s);
      if (const auto* l = std::get_if<std::vector<std::int64_t>>(&a.value)) attrs.emplace_back(a.name, *l);
    }
    return g.op("ConvInteger", {x.values, w, x.zero, zero}, attrs);
  }

  static Value* bias(GraphBuilder& g, const Node& node, std::int64_t rank) {
    Value* b = node.input(2);
    if (node.op == "Conv") {
      std::vector<std::int64_t> axes;
      for (std::int64_t i = 2; i < rank; ++i) axes.push_back(i - 1);
      return g.unsqueeze(b, axes);
    }
    const float beta = node.attributes.float_or("beta", 1);
    return beta == 1 ? b : g.mul(b, static_cast<double>(beta));
  }

  Graph& graph_;
  const QuantizeOptions& options_;
  std::unordered_map<const Value*, Activation> made_;
  QuantizeReport report_;
};

}  // namespace

QuantizeReport quantize_dynamically(Graph& graph, const QuantizeOptions& options) {
  return Dynamic(graph, options).run();
}

}  // namespace ingot::passes::quantize_parts
