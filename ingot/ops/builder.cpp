// GraphBuilder: adds nodes with their types, and replaces nodes by what was built.
#include "ingot/ops/builder.h"

#include "ingot/base/error.h"
#include "ingot/ops/infer.h"

namespace ingot {
namespace {

AttrValue to_attr_value(const Attr& attr) {
  return std::visit([](const auto& v) { return AttrValue(v); }, attr.value);
}

}  // namespace

Attr::Attr(std::string_view n, int v) : name(n), value(std::int64_t{v}) {}
Attr::Attr(std::string_view n, bool v) : name(n), value(std::int64_t{v}) {}
Attr::Attr(std::string_view n, std::int64_t v) : name(n), value(v) {}
Attr::Attr(std::string_view n, double v) : name(n), value(static_cast<float>(v)) {}
Attr::Attr(std::string_view n, float v) : name(n), value(v) {}
Attr::Attr(std::string_view n, DType v) : name(n), value(static_cast<std::int64_t>(v)) {}
Attr::Attr(std::string_view n, const char* v) : name(n), value(std::string(v)) {}
Attr::Attr(std::string_view n, std::string v) : name(n), value(std::move(v)) {}
Attr::Attr(std::string_view n, std::initializer_list<std::int64_t> v) : name(n), value(std::vector<std::int64_t>(v)) {}
Attr::Attr(std::string_view n, std::vector<std::int64_t> v) : name(n), value(std::move(v)) {}
Attr::Attr(std::string_view n, std::vector<float> v) : name(n), value(std::move(v)) {}
Attr::Attr(std::string_view n, std::vector<std::string> v) : name(n), value(std::move(v)) {}
Attr::Attr(std::string_view n, Tensor v) : name(n), value(std::move(v)) {}
Attr::Attr(std::string_view n, Type v) : name(n), value(std::move(v)) {}
Attr::Attr(const Attr&) = default;
Attr::Attr(Attr&&) noexcept = default;
Attr& Attr::operator=(const Attr&) = default;
Attr& Attr::operator=(Attr&&) noexcept = default;
Attr::~Attr() = default;

GraphBuilder::GraphBuilder(Graph& graph, Node* before, bool infers) : graph_(graph), before_(before), infers_(infers) {}
GraphBuilder::~GraphBuilder() = default;

void GraphBuilder::name_after(std::string scope) { scope_ = std::move(scope); }
void GraphBuilder::set_metadata(Metadata metadata) { metadata_ = std::move(metadata); }

void GraphBuilder::name_after(const Node& source) {
  scope_ = source.name.empty() && source.output() ? source.output()->name() : source.name;
  metadata_ = source.metadata;
}

Node* GraphBuilder::node(std::string_view type, std::string_view domain, const Values& inputs, const Attrs& attrs,
                         std::size_t outputs) {
  Node* made = graph_.add_node(std::string(type), std::string(domain), before_);
  const std::string base = scope_.empty() ? std::string(type) : scope_ + '/' + std::string(type);
  made->metadata = metadata_;
  for (std::size_t i = 0; i < inputs.size(); ++i) made->set_input(i, inputs[i]);
  // Trailing absent inputs are not written.
  std::size_t count = inputs.size();
  while (count && !inputs[count - 1]) --count;
  made->resize_inputs(count);
  for (const Attr& attr : attrs) made->attributes.append(Attribute(std::string(attr.name), to_attr_value(attr)));
  for (std::size_t i = 0; i < outputs; ++i) made->add_output(graph_.fresh_name(base));
  if (outputs) made->name = made->output()->name();
  return made;
}

Values GraphBuilder::op(ops::Name type, const Values& inputs, const Attrs& attrs, std::size_t outputs) {
  const auto position = std::ranges::lower_bound(ops::kNames, type.text) - std::begin(ops::kNames);
  if (position == std::ssize(ops::kNames) || ops::kNames[position] != type.text)
    throw Error(Code::internal,
                std::string(type.text) + " is none of ONNX's own operators: node() makes those of others");
  const ops::OpDef& def = *ops::all()[static_cast<std::size_t>(position)];
  Node* made = node(def.name, def.domain, inputs, attrs, outputs);
  if (infers_) {
    try {
      ops::InferSession session;
      ops::infer_node(*made, session);
    } catch (...) {
      graph_.erase(made);
      throw;
    }
  }
  return made->outputs();
}

Value* GraphBuilder::op(ops::Name type, const Values& inputs, const Attrs& attrs) {
  return op(type, inputs, attrs, 1).front();
}

Value* GraphBuilder::add(Value* a, Value* b) { return op("Add", {a, b}); }
Value* GraphBuilder::sub(Value* a, Value* b) { return op("Sub", {a, b}); }
Value* GraphBuilder::mul(Value* a, Value* b) { return op("Mul", {a, b}); }
Value* GraphBuilder::div(Value* a, Value* b) { return op("Div", {a, b}); }
Value* GraphBuilder::add(Value* a, double b) { return add(a, scalar(b, a->type.elem)); }
Value* GraphBuilder::sub(Value* a, double b) { return sub(a, scalar(b, a->type.elem)); }
Value* GraphBuilder::sub(double a, Value* b) { return sub(scalar(a, b->type.elem), b); }
Value* GraphBuilder::mul(Value* a, double b) { return mul(a, scalar(b, a->type.elem)); }
Value* GraphBuilder::div(Value* a, double b) { return div(a, scalar(b, a->type.elem)); }
Value* GraphBuilder::div(double a, Value* b) { return div(scalar(a, b->type.elem), b); }
Value* GraphBuilder::neg(Value* x) { return op("Neg", {x}); }
Value* GraphBuilder::transpose(Value* x, std::vector<std::int64_t> perm) {
  return op("Transpose", {x}, {{"perm", std::move(perm)}});
}
Value* GraphBuilder::reshape(Value* x, const std::vector<std::int64_t>& dims) { return op("Reshape", {x, ints(dims)}); }
Value* GraphBuilder::squeeze(Value* x, const std::vector<std::int64_t>& axes) { return op("Squeeze", {x, ints(axes)}); }
Value* GraphBuilder::unsqueeze(Value* x, const std::vector<std::int64_t>& axes) {
  return op("Unsqueeze", {x, ints(axes)});
}
Value* GraphBuilder::concat(const Values& xs, std::int64_t axis) { return op("Concat", xs, {{"axis", axis}}); }
Value* GraphBuilder::shape(Value* x) { return op("Shape", {x}); }
Value* GraphBuilder::reduce_sum(Value* x, const std::vector<std::int64_t>& axes, bool keepdims) {
  return op("ReduceSum", {x, ints(axes)}, {{"keepdims", keepdims}});
}
Value* GraphBuilder::where(Value* condition, Value* yes, Value* no) { return op("Where", {condition, yes, no}); }

Value* GraphBuilder::constant(Tensor value) {
  if (graph_.is_function_body) {
    Node* made = node("Constant", "", {}, {{"value", value}}, 1);
    made->output()->type = value.type();
    return made->output();
  }
  return graph_.add_initializer(graph_.fresh_name(scope_.empty() ? "constant" : scope_ + "/constant"),
                                std::move(value));
}

Value* GraphBuilder::scalar(double value, DType dtype) { return constant(Tensor::scalar(value, dtype)); }
Value* GraphBuilder::ints(const std::vector<std::int64_t>& values) { return constant(Tensor::ints(values)); }
Value* GraphBuilder::index(std::int64_t value) { return constant(Tensor::scalar<std::int64_t>(value)); }

Value* GraphBuilder::cast(Value* x, DType to) {
  if (x->type.is_tensor() && x->type.elem == to) return x;
  return op("Cast", {x}, {{"to", to}});
}

void replace_node(Node& node, const Values& made) {
  Graph& graph = node.graph();
  for (std::size_t i = 0; i < node.output_count(); ++i) {
    Value* old = node.output(i);
    if (!old) continue;
    Value* value = i < made.size() ? made[i] : nullptr;
    if (!value) {
      if (old->uses().empty()) continue;
      throw Error(Code::broken_invariant, "nothing takes the place of output '" + old->name() + "'");
    }
    // The name moves to the new value unless that has a name of its own to keep: an input of the node, an
    // initializer, a value of an outer graph, or one that already took another output's name.
    bool is_own = value->producer() && value->producer() != &node && &value->graph() == &graph && !value->is_declared;
    for (std::size_t k = 0; k < node.input_count() && is_own; ++k) is_own = node.input(k) != value;
    for (std::size_t k = 0; k < i && is_own; ++k) is_own = made[k] != value;
    bool is_graph_output = false;
    for (const Use& use : old->uses()) is_graph_output |= use.node == nullptr;
    if (!is_own && (is_graph_output || old->is_declared)) {
      Node* identity = graph.add_node("Identity", "", &node);
      identity->metadata = node.metadata;
      identity->add_input(value);
      Value* carried = identity->add_output(graph.fresh_name(old->name()));
      carried->type = value->type;
      identity->name = carried->name();
      value = carried;
      is_own = true;
    }
    graph.replace_all_uses(old, value);
    if (!is_own) continue;
    std::string name = old->name();
    graph.rename(old, graph.fresh_name(name));
    graph.rename(value, std::move(name));
    value->type = old->is_declared ? refine(old->type, value->type) : refine(value->type, old->type);
    value->is_declared = old->is_declared;
    value->doc_string = std::move(old->doc_string);
    value->metadata = std::move(old->metadata);
    value->unknown = std::move(old->unknown);
    if (!value->known_ints) value->known_ints = old->known_ints;
  }
  graph.erase(&node);
}

}  // namespace ingot
