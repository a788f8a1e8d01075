// Operators between DequantizeLinear and QuantizeLinear as those that take integers.
#include <algorithm>
#include <map>
#include <optional>

#include "ingot/ir/drop_unread.h"
#include "ingot/ops/builder.h"
#include "ingot/passes/quantize/choice.h"
#include "ingot/passes/quantize/ranged.h"
#include "ingot/passes/quantize/scales.h"

namespace ingot::passes::quantize_parts {
namespace {

constexpr std::string_view kMicrosoft = "com.microsoft";

/// Integers with what they stand for.
struct Integers {
  Value *values, *scale, *zero;
};

std::optional<Integers> integers_in(const Value* v) {
  const Node* node = v ? v->producer() : nullptr;
  if (!node || !node->is("DequantizeLinear") || !node->input(2)) return std::nullopt;
  return Integers{node->input(0), node->input(1), node->input(2)};
}

/// Whether rounding does what the activation would: its ends are those of the integers.
bool is_done_by(const Node& activation, const Node& rounding) {
  const Tensor *scale = stored(rounding.input(1)), *zero = stored(rounding.input(2));
  if (!scale || !zero || zero->size() != 1 || scale->size() != 1) return false;
  const Whole whole = integers_of(zero->dtype());
  const std::int64_t zero_point = zero->to_ints()[0];
  if (zero_point != whole.least) return false;
  if (activation.op == "Relu") return true;
  const Tensor *least = stored(activation.input(1)), *most = stored(activation.input(2));
  if (!least || !most || least->to_doubles()[0] != 0) return false;
  constexpr double kSlack = 1.0 + 1e-6;
  return scale->to_doubles()[0] * static_cast<double>(whole.most - zero_point) <= most->to_doubles()[0] * kSlack;
}

/// The QuantizeLinear that alone reads a node, or the activation behind it; null: there is none.
Node* rounding_behind(const Node& node) {
  const auto only_reader = [](const Node& n) -> Node* {
    return n.output(0)->uses().size() == 1 ? n.output(0)->uses()[0].node : nullptr;
  };
  Node* reader = only_reader(node);
  const Node* activation = nullptr;
  if (reader && (reader->is("Relu") || reader->is("Clip"))) {
    activation = reader;
    reader = only_reader(*reader);
  }
  if (!reader || !reader->is("QuantizeLinear") || !reader->input(2)) return nullptr;
  return activation && !is_done_by(*activation, *reader) ? nullptr : reader;
}

Attrs attributes_of(const Node& node) {
  Attrs attrs;
  for (const Attribute& a : node.attributes) {
    if (const auto* i = std::get_if<std::int64_t>(&a.value)) attrs.emplace_back(a.name, *i);
    if (const auto* f = std::get_if<float>(&a.value)) attrs.emplace_back(a.name, *f);
    if (const auto* s = std::get_if<std::string>(&a.value)) attrs.emplace_back(a.name, *s);
    if (const auto* l = std::get_if<std::vector<std::int64_t>>(&a.value)) attrs.emplace_back(a.name, *l);
  }
  return attrs;
}

class Merger {
 public:
  explicit Merger(Model& model) : model_(model), graph_(*model.graph) {}

  void run() {
    std::vector<Node*> nodes;
    for (Node& node : graph_.nodes()) nodes.push_back(&node);
    for (Node* node : nodes) {
      const auto it = forms().find(node->op);
      if (it == forms().end() || !node->domain.empty()) continue;
      Node* rounding = rounding_behind(*node);
      if (!rounding) continue;
      GraphBuilder g(graph_, node);
      g.name_after(rounding->output(0)->name());
      Value* made = (this->*it->second)(g, *node, {rounding->input(0), rounding->input(1), rounding->input(2)});
      if (made) graph_.replace_all_uses(rounding->output(0), made);
    }
    drop_unread(graph_);
    if (uses_microsoft_) model_.opsets.set(std::string(kMicrosoft), 1);
  }

 private:
  using Form = Value* (Merger::*)(GraphBuilder&, const Node&, const Integers&);
  static const std::map<std::string_view, Form>& forms() {
    static const std::map<std::string_view, Form> kForms = {
        {"Add", &Merger::two},        {"AveragePool", &Merger::one},       {"Concat", &Merger::concat},
        {"Conv", &Merger::conv},      {"Flatten", &Merger::move},          {"Gather", &Merger::move},
        {"Gemm", &Merger::gemm},      {"GlobalAveragePool", &Merger::one}, {"Identity", &Merger::move},
        {"LeakyRelu", &Merger::one},  {"MatMul", &Merger::matmul},         {"MaxPool", &Merger::move},
        {"Mul", &Merger::two},        {"Reshape", &Merger::move},          {"Sigmoid", &Merger::one},
        {"Slice", &Merger::move},     {"Softmax", &Merger::softmax},       {"Squeeze", &Merger::move},
        {"Transpose", &Merger::move}, {"Unsqueeze", &Merger::move},
    };
    return kForms;
  }

  Value* microsoft(GraphBuilder& g, const std::string& op, const Values& inputs, const Attrs& attrs) {
    uses_microsoft_ = true;
    return g.node(op, kMicrosoft, inputs, attrs, 1)->output(0);
  }

  Value* conv(GraphBuilder& g, const Node& node, const Integers& y) {
    const auto x = integers_in(node.input(0)), w = integers_in(node.input(1));
    const auto b = integers_in(node.input(2));
    if (!x || !w || (node.input(2) && !b)) return nullptr;
    Values inputs = {x->values, x->scale, x->zero, w->values, w->scale, w->zero, y.scale, y.zero};
    if (b) inputs.push_back(b->values);
    return g.op("QLinearConv", inputs, attributes_of(node));
  }

  Value* matmul(GraphBuilder& g, const Node& node, const Integers& y) {
    const auto a = integers_in(node.input(0)), b = integers_in(node.input(1));
    if (!a || !b) return nullptr;
    return g.op("QLinearMatMul", {a->values, a->scale, a->zero, b->values, b->scale, b->zero, y.scale, y.zero});
  }

  Value* gemm(GraphBuilder& g, const Node& node, const Integers& y) {
    const auto a = integers_in(node.input(0)), b = integers_in(node.input(1)), c = integers_in(node.input(2));
    if (!a || !b || (node.input(2) && !c) || node.attributes.float_or("beta", 1) != 1) return nullptr;
    Attrs attrs;
    for (Attr& attr : attributes_of(node))
      if (attr.name != "beta") attrs.push_back(attr);
    return microsoft(
        g, "QGemm",
        {a->values, a->scale, a->zero, b->values, b->scale, b->zero, c ? c->values : nullptr, y.scale, y.zero}, attrs);
  }

  Value* two(GraphBuilder& g, const Node& node, const Integers& y) {
    const auto a = integers_in(node.input(0)), b = integers_in(node.input(1));
    if (!a || !b) return nullptr;
    return microsoft(g, "QLinear" + node.op,
                     {a->values, a->scale, a->zero, b->values, b->scale, b->zero, y.scale, y.zero}, {});
  }

  Value* one(GraphBuilder& g, const Node& node, const Integers& y) {
    const auto x = integers_in(node.input(0));
    const auto gaps = node.attributes.ints_or("dilations", {});
    if (!x || std::ranges::any_of(gaps, [](std::int64_t d) { return d != 1; })) return nullptr;
    Attrs attrs = attributes_of(node);
    std::erase_if(attrs, [](const Attr& a) { return a.name == "dilations"; });
    return microsoft(g, "QLinear" + node.op, {x->values, x->scale, x->zero, y.scale, y.zero}, attrs);
  }

  Value* softmax(GraphBuilder& g, const Node& node, const Integers& y) {
    const auto x = integers_in(node.input(0));
    if (!x) return nullptr;
    return microsoft(g, "QLinearSoftmax", {x->values, x->scale, x->zero, y.scale, y.zero},
                     {{"axis", node.attributes.int_or("axis", -1)}, {"opset", 13}});
  }

  Value* concat(GraphBuilder& g, const Node& node, const Integers& y) {
    Values inputs = {y.scale, y.zero};
    for (const Value* v : node.inputs()) {
      const auto x = integers_in(v);
      if (!x) return nullptr;
      for (Value* part : {x->values, x->scale, x->zero}) inputs.push_back(part);
    }
    return microsoft(g, "QLinearConcat", inputs, {{"axis", node.attributes.int_or("axis", 0)}});
  }

  /// Integers of one scale are moved as they are.
  Value* move(GraphBuilder& g, const Node& node, const Integers& y) {
    const auto x = integers_in(node.input(0));
    if (!x || x->scale != y.scale || x->zero != y.zero || node.output_count() != 1) return nullptr;
    Values inputs = node.inputs();
    inputs[0] = x->values;
    return g.node(node.op, "", inputs, attributes_of(node), 1)->output(0);
  }

  Model& model_;
  Graph& graph_;
  bool uses_microsoft_ = false;
};

}  // namespace

void to_integer_operators(Model& model) { Merger(model).run(); }

}  // namespace ingot::passes::quantize_parts
