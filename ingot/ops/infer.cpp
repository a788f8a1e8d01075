// Inference of one node and of one graph, and what the operators' own functions build on.
#include "ingot/ops/infer.h"

#include <map>

#include "ingot/base/budget.h"
#include "ingot/base/current_budget.h"
#include "ingot/base/error.h"
#include "ingot/ops/catalog.h"
#include "ingot/ops/schema.h"

namespace ingot::ops {
namespace {

// Shape arithmetic handles a few elements; long index tensors are data.
constexpr std::int64_t kMostKnownInts = 1024;

const Type kUnknownType;

}  // namespace

const Tensor* constant_of(const Value* value, bool defaults_are_constants) {
  if (!value) return nullptr;
  if (value->initializer) return value->is_input() && !defaults_are_constants ? nullptr : &*value->initializer;
  const Node* node = value->producer();
  return node && node->is("Constant") ? node->attributes.get<Tensor>("value") : nullptr;
}

InferContext::InferContext(Node& node, InferSession& session)
    : node_(node), session_(session), types_(node.output_count()), ints_(node.output_count()) {
  if (const Schema* schema = newest_schema(node.domain, node.op)) preset(*schema);
}

void InferContext::preset(const Schema& schema) {
  for (std::size_t i = 0; i < types_.size(); ++i) {
    const ParamSchema* out = schema.output(i);
    if (!out) continue;
    const TypeConstraint* wanted = out->type;
    if (const auto only = wanted->only_tensor_type()) {
      types_[i] = Type::tensor(*only);
      continue;
    }
    if (out->option == ParamOption::variadic && !out->homogeneous) continue;
    for (std::size_t k = 0; k < node_.input_count(); ++k) {
      const ParamSchema* in = schema.input(k);
      if (!in || in->type != wanted || !type(k) || (in->option == ParamOption::variadic && !in->homogeneous)) continue;
      types_[i] = type(k);
      types_[i].shape.reset();
      types_[i].notes.reset();
      break;
    }
  }
}

const Type& InferContext::type(std::size_t i) const {
  const Value* value = node_.input(i);
  return value ? value->type : kUnknownType;
}

const Shape* InferContext::shape(std::size_t i) const {
  const Type& t = type(i);
  return t.shape ? &*t.shape : nullptr;
}

std::optional<std::int64_t> InferContext::rank(std::size_t i) const {
  const Shape* s = shape(i);
  return s ? std::optional(static_cast<std::int64_t>(s->size())) : std::nullopt;
}

Dim InferContext::dim(std::size_t i, std::int64_t axis) const {
  const Shape* s = shape(i);
  if (!s) return {};
  const auto size = static_cast<std::int64_t>(s->size());
  if (axis < 0) axis += size;
  return axis < 0 || axis >= size ? Dim() : (*s)[static_cast<std::size_t>(axis)];
}

const Tensor* InferContext::constant(std::size_t i) const {
  return constant_of(node_.input(i), session_.defaults_are_constants);
}

std::optional<std::vector<Dim>> InferContext::ints(std::size_t i) const {
  const Value* value = node_.input(i);
  if (!value) return std::nullopt;
  if (const Tensor* t = constant(i)) {
    if (!(is_integer(t->dtype()) || t->dtype() == DType::boolean) || t->rank() > 1 || t->size() > kMostKnownInts)
      return std::nullopt;
    const auto numbers = t->to_ints();
    return std::vector<Dim>(numbers.begin(), numbers.end());
  }
  if (value->known_ints) return *value->known_ints;
  return std::nullopt;
}

std::optional<std::vector<std::int64_t>> InferContext::const_ints(std::size_t i) const {
  const auto known = ints(i);
  if (!known) return std::nullopt;
  return static_dims(*known);
}

std::optional<std::int64_t> InferContext::const_int(std::size_t i) const {
  const auto known = const_ints(i);
  return known && known->size() == 1 ? std::optional(known->front()) : std::nullopt;
}

std::optional<std::vector<double>> InferContext::const_doubles(std::size_t i) const {
  const Tensor* t = constant(i);
  if (!t || t->size() > kMostKnownInts || !(is_float(t->dtype()) || is_integer(t->dtype()))) return std::nullopt;
  return t->to_doubles();
}

const std::vector<std::int64_t>* InferContext::attr_ints(std::string_view name) const {
  return node_.attributes.get<std::vector<std::int64_t>>(name);
}

std::optional<std::int64_t> InferContext::need_int(std::string_view name) const {
  const Attribute* a = node_.attributes.find(name);
  if (a && a->is_reference()) return std::nullopt;
  const auto* value = node_.attributes.get<std::int64_t>(name);
  if (!value) fail("attribute '" + std::string(name) + "' is missing");
  return *value;
}

std::optional<std::string> InferContext::need_string(std::string_view name) const {
  const Attribute* a = node_.attributes.find(name);
  if (a && a->is_reference()) return std::nullopt;
  const auto* value = node_.attributes.get<std::string>(name);
  if (!value) fail("attribute '" + std::string(name) + "' is missing");
  return *value;
}

void InferContext::out(std::size_t i, Type type) {
  if (i >= types_.size()) return;
  type.notes.reset();
  types_[i] = std::move(type);
}

void InferContext::out_elem(std::size_t i, DType elem) {
  if (i >= types_.size()) return;
  if (types_[i].kind != Type::Kind::tensor) types_[i] = Type::tensor(elem);
  types_[i].elem = elem;
}

void InferContext::out_shape(std::size_t i, Shape shape) {
  if (i >= types_.size()) return;
  if (shape.size() > static_cast<std::size_t>(kMostDims)) fail("rank " + std::to_string(shape.size()) + " is too high");
  if (!types_[i]) types_[i] = Type::tensor(DType::undefined);
  types_[i].shape = std::move(shape);
}

void InferContext::out_rank(std::size_t i, std::int64_t rank) {
  if (rank < 0 || rank > kMostDims) fail("rank " + std::to_string(rank) + " is not possible");
  out_shape(i, Shape(static_cast<std::size_t>(rank)));
}

void InferContext::out_like(std::size_t i, std::size_t from) {
  if (type(from)) out(i, type(from));
}

void InferContext::out_shape_like(std::size_t i, std::size_t from) {
  if (const Shape* s = shape(from)) out_shape(i, *s);
}

const Type& InferContext::out_type(std::size_t i) const { return types_.at(i); }

void InferContext::out_ints(std::size_t i, std::vector<Dim> values) {
  if (i >= ints_.size() || values.size() > static_cast<std::size_t>(kMostKnownInts)) return;
  ints_[i] = std::make_shared<const std::vector<Dim>>(std::move(values));
}

Dim InferContext::data_dim(std::size_t i, std::int64_t axis) const {
  const Value* value = node_.output(i);
  return value ? Dim::symbol(value->name() + ".dim" + std::to_string(axis)) : Dim();
}

void InferContext::name_open_dims(std::size_t i) {
  if (i >= types_.size() || !types_[i].shape) return;
  Shape& shape = *types_[i].shape;
  for (std::size_t k = 0; k < shape.size(); ++k)
    if (shape[k].is_unknown()) shape[k] = data_dim(i, static_cast<std::int64_t>(k));
}

std::vector<Type> InferContext::subgraph(std::string_view name, const std::vector<Type>& inputs) {
  const auto* graph = node_.attributes.get<GraphPtr>(name);
  if (!graph || !*graph) return {};
  Graph& g = **graph;
  for (std::size_t i = 0; i < inputs.size() && i < g.inputs().size(); ++i) {
    Value* input = g.inputs()[i];
    const Type& stated = session_.stated.try_emplace(input, input->type).first->second;
    input->type = may_match(inputs[i], stated) ? refine(inputs[i], stated) : inputs[i];
  }
  ++session_.depth;
  infer_graph(g, session_);
  --session_.depth;
  // Another subgraph may have values of the same names.
  std::map<std::string, Dim, std::less<>> renamed;
  const std::string base = node_.output_count() && node_.output(0) ? node_.output(0)->name() : node_.name;
  const auto rename = [&](std::string_view symbol) -> std::optional<Dim> {
    if (!names_inner_size(symbol, g)) return std::nullopt;
    const auto found = renamed.find(symbol);
    if (found != renamed.end()) return found->second;
    return renamed.emplace(symbol, Dim::symbol(base + ".size" + std::to_string(renamed.size()))).first->second;
  };
  std::vector<Type> types;
  for (const Value* output : g.outputs()) types.push_back(substitute(output->type, rename));
  return types;
}

bool names_inner_size(std::string_view symbol, const Graph& graph) {
  const std::size_t dot = symbol.rfind('.');
  return dot != std::string_view::npos && graph.find(symbol.substr(0, dot)) != nullptr;
}

Type substitute(const Type& type, const std::function<std::optional<Dim>(std::string_view)>& lookup) {
  Type changed = type;
  if (changed.shape)
    for (Dim& d : *changed.shape)
      if (d.is_symbolic()) d = d.substitute(lookup);
  if (type.element) changed.element = std::make_shared<const Type>(substitute(*type.element, lookup));
  return changed;
}

std::int64_t InferContext::axis(std::int64_t axis, std::int64_t rank, std::string_view what) const {
  if (axis < -rank || axis >= rank)
    throw Error(Code::axis_out_of_range,
                std::string(what) + " " + std::to_string(axis) + " is out of range for rank " + std::to_string(rank))
        .in_node(node_.name, node_.op, node_.label());
  return axis < 0 ? axis + rank : axis;
}

void InferContext::require(bool condition, std::string_view message) const {
  if (!condition) fail(std::string(message));
}

void InferContext::fail(std::string message) const {
  throw Error(Code::inference_failed, std::move(message)).in_node(node_.name, node_.op, node_.label());
}

void InferContext::commit() {
  for (std::size_t i = 0; i < types_.size(); ++i) {
    Value* value = node_.output(i);
    if (!value) continue;
    value->known_ints = std::move(ints_[i]);
    if (!value->is_declared) {
      if (types_[i]) value->type = std::move(types_[i]);
      continue;
    }
    // What the file states is kept apart: a loop's body is inferred more than once.
    const Type& stated = session_.stated.try_emplace(value, value->type).first->second;
    std::string why;
    if (!may_match(types_[i], stated, &why)) {
      if (session_.on_contradiction) session_.on_contradiction({&node_, value, stated, types_[i], why});
      value->type = std::move(types_[i]);
    } else {
      value->type = refine(types_[i], stated);
    }
  }
}

void infer_node(Node& node, InferSession& session) {
  if (session.budget) session.budget->poll();
  if (session.find_function) {
    if (const Function* f = session.find_function(node)) return session.infer_call(node, *f, session);
  }
  const OpDef* def = find(node);
  if (!def) return;
  InferContext context(node, session);
  try {
    if (def->infer) def->infer(context);
  } catch (Error& error) {
    error.in_node(node.name, node.op, node.label());
    if (!session.on_error) throw;
    session.on_error(node, error);
  }
  context.commit();
}

void infer_graph(Graph& graph, InferSession& session) {
  for (Node& node : graph.nodes()) {
    count_step();
    infer_node(node, session);
  }
}

Shape broadcast(const InferContext& c, const Shape& a, const Shape& b) {
  const Shape& longer = a.size() >= b.size() ? a : b;
  const Shape& shorter = a.size() >= b.size() ? b : a;
  Shape result = longer;
  const std::size_t shift = longer.size() - shorter.size();
  for (std::size_t i = 0; i < shorter.size(); ++i) {
    const Dim &x = longer[shift + i], &y = shorter[i];
    Dim& r = result[shift + i];
    if (x.is_known() && y.is_known()) {
      if (x.value() != y.value() && x.value() != 1 && y.value() != 1)
        c.fail("dimensions " + x.str() + " and " + y.str() + " cannot be broadcast");
      r = x.value() == 1 ? y : x;
    } else if (same(x, y) || (y.is_known() && y.value() == 1)) {
      r = x;
    } else if (x.is_known() && x.value() == 1) {
      r = y;
    } else if (x.is_at_least(2)) {
      r = x;  // the other must be 1 or the same
    } else if (y.is_at_least(2)) {
      r = y;
    } else {
      r = Dim();
    }
  }
  return result;
}

void infer_broadcast(InferContext& c) {
  std::optional<Shape> result;
  for (std::size_t i = 0; i < c.input_count(); ++i) {
    const Shape* s = c.shape(i);
    if (!s) return;
    result = result ? broadcast(c, *result, *s) : *s;
  }
  if (result) c.out_shape(0, std::move(*result));
}

void infer_same_shape(InferContext& c) { c.out_shape_like(0, 0); }

Dim product(const Shape& shape) {
  Dim result = 1;
  for (const Dim& d : shape) result = result * d;
  return result;
}

}  // namespace ingot::ops
