// Branches that are known before running, loops whose rounds are, and what loops gather.
#include <algorithm>

#include "ingot/ops/infer.h"
#include "ingot/passes/legalize/rewrites.h"

namespace ingot::passes::legalize {
namespace {

using Ints = std::vector<std::int64_t>;

Graph* graph_of(const Node& node, std::string_view name) {
  const GraphPtr* graph = node.attributes.get<GraphPtr>(name);
  return graph ? graph->get() : nullptr;
}

std::optional<std::int64_t> known_number(const Value* v) {
  if (!v) return std::nullopt;
  const Tensor* t = ops::constant_of(v);
  if (t && t->size() == 1) return t->to_ints()[0];
  if (!v->known_ints || v->known_ints->size() != 1) return std::nullopt;
  return v->known_ints->front().as_int();
}

/// Copies a body before the node that holds it and returns what stands for its outputs.
Values copied(Rewriting& r, const Graph& body, Graph::ValueMap& map) {
  Graph& graph = r.node.graph();
  ops::InferSession session;
  // What contradicts itself may stand in a branch that is never taken.
  session.on_error = [](const Node&, const Error&) {};
  for (const Node& node : body.nodes()) {
    Node* copy = graph.add_copy(node, map, &r.node);
    if (!copy->is("Constant")) ops::infer_node(*copy, session);
  }
  Values outputs;
  for (Value* v : body.outputs()) {
    const auto found = map.find(v);
    outputs.push_back(found == map.end() ? v : found->second);
  }
  return outputs;
}

void add_constants(Rewriting& r, const Graph& body, Graph::ValueMap& map) {
  for (const Value* v : body.initializers())
    if (v->initializer && !v->is_input()) map[v] = r.g.constant(*v->initializer);
}

/// The body of a Loop; null where it does not fit the node.
Graph* whole_body(const Node& loop) {
  Graph* body = graph_of(loop, "body");
  if (!body || loop.input_count() < 2 || body->inputs().size() != loop.input_count()) return nullptr;
  return body->output_count() + 1 < loop.input_count() ? nullptr : body;
}

/// Whether nothing but the number of rounds ends the loop.
bool runs_to_the_end(const Node& node, const Graph& body) {
  if (node.input(1) && known_number(node.input(1)).value_or(0) == 0) return false;
  const Value* condition = body.output(0);
  while (condition && condition->producer() && condition->producer()->is("Identity"))
    condition = condition->producer()->input(0);
  return condition == body.inputs()[1] || known_number(condition).value_or(0) != 0;
}

std::size_t size_of(Graph& body) {
  std::size_t count = 0;
  for_each_graph(body, [&](Graph& g) { count += g.node_count(); });
  return count;
}

/// Round after round, where their number is known and small.
Values unrolled(Rewriting& r, Graph& body, std::size_t states) {
  const auto rounds = known_number(r.in(0));
  constexpr std::int64_t kMostRounds = 128, kMostNodes = 4096;
  if (!rounds || *rounds < 1 || *rounds > kMostRounds || !runs_to_the_end(r.node, body)) return {};
  if (static_cast<std::int64_t>(size_of(body)) * *rounds > kMostNodes) return {};
  GraphBuilder& g = r.g;
  const std::size_t gathered = body.output_count() - 1 - states;
  Graph::ValueMap fixed;
  add_constants(r, body, fixed);
  fixed[body.inputs()[1]] = g.constant(Tensor::scalar<bool>(true));
  Values state;
  for (std::size_t i = 0; i < states; ++i) state.push_back(r.in(2 + i));
  std::vector<Values> parts(gathered);
  const auto& counter = body.inputs()[0]->type.shape;
  const bool counts_in_list = counter && counter->size() == 1;
  for (std::int64_t round = 0; round < *rounds; ++round) {
    Graph::ValueMap map = fixed;
    map[body.inputs()[0]] = counts_in_list ? g.ints({round}) : g.index(round);
    for (std::size_t i = 0; i < states; ++i) map[body.inputs()[2 + i]] = state[i];
    const Values outputs = copied(r, body, map);
    for (std::size_t i = 0; i < states; ++i) state[i] = outputs[1 + i];
    for (std::size_t k = 0; k < gathered; ++k) {
      if (r.node.output(states + k)) parts[k].push_back(g.unsqueeze(outputs[1 + states + k], {0}));
    }
  }
  Values made;
  for (std::size_t i = 0; i < r.node.output_count(); ++i) {
    if (!r.node.output(i))
      made.push_back(nullptr);
    else if (i < states)
      made.push_back(g.op("Identity", {state[i]}));
    else
      made.push_back(parts[i - states].size() == 1 ? parts[i - states][0] : g.concat(parts[i - states], 0));
  }
  return made;
}

/// A value that is there before the loop and has the size `dim`, and at which axis; null where none has it.
std::pair<Value*, std::int64_t> holder_of(const Node& loop, const Dim& dim) {
  Values before = loop.inputs();
  before.insert(before.end(), loop.graph().inputs().begin(), loop.graph().inputs().end());
  for (Value* v : before) {
    if (dim.is_unknown() || !v || !v->type.is_tensor() || !v->type.shape) continue;
    const auto axis = std::ranges::find(*v->type.shape, dim);
    if (axis != v->type.shape->end()) return {v, axis - v->type.shape->begin()};
  }
  return {};
}

bool starts_empty(const Node& loop, const Type& slice) {
  if (!slice.is_tensor() || !slice.shape) return false;
  return std::ranges::all_of(*slice.shape, [&](const Dim& d) {
    return d.is_known() || (slice.elem != DType::string && holder_of(loop, d).first);
  });
}

/// A tensor of no slices of `slice`, whose sizes are known or those of a value before the loop.
Value* no_slices(Rewriting& r, const Type& slice) {
  Dims dims{0};
  Values sizes{r.g.ints({0})};
  for (const Dim& d : *slice.shape) {
    if (d.is_known()) {
      dims.push_back(d.value());
      sizes.push_back(r.g.ints({d.value()}));
    } else {
      const auto [holder, axis] = holder_of(r.node, d);
      sizes.push_back(r.g.op("Gather", {r.g.shape(holder), r.g.ints({axis})}));
    }
  }
  if (dims.size() == sizes.size()) return r.g.constant(Tensor(slice.elem, dims, Bytes()));
  return r.g.op("Expand", {r.g.constant(Tensor::scalar(0.0, slice.elem)), r.g.concat(sizes, 0)});
}

/// What a loop gathers becomes a state that grows by one element in each round.
Values gathered_in_state(Rewriting& r, Graph& body, std::size_t states) {
  const std::size_t gathered = body.output_count() - 1 - states;
  if (!gathered) return {};
  std::vector<Type> slices;
  for (std::size_t k = 0; k < gathered; ++k) {
    const Type& type = body.output(1 + states + k)->type;
    if (!starts_empty(r.node, type)) return {};
    slices.push_back(type);
  }
  GraphBuilder& g = r.g;
  Graph& outer = r.node.graph();
  Graph::ValueMap map;
  GraphPtr grown = body.clone(&outer, map);
  Values inputs = r.node.inputs();
  inputs.resize(2 + states);
  for (std::size_t k = 0; k < gathered; ++k) {
    Shape shape{Dim()};
    shape.insert(shape.end(), slices[k].shape->begin(), slices[k].shape->end());
    inputs.push_back(no_slices(r, slices[k]));
    Value* so_far = grown->add_input(outer.fresh_name("so_far"), Type::tensor(slices[k].elem, shape));
    GraphBuilder inner(*grown);
    Value* next = inner.unsqueeze(grown->output(1 + states + k), {0});
    grown->set_output(1 + states + k, inner.concat({so_far, next}, 0));
  }
  Node* loop = g.node("Loop", "", inputs, {}, body.output_count() - 1);
  loop->attributes.append(Attribute("body", AttrValue(std::move(grown))));
  ops::InferSession session;
  ops::infer_node(*loop, session);
  Values made = loop->outputs();
  for (std::size_t i = states; i < made.size(); ++i)
    if (r.node.output(i) && r.node.output(i)->type.shape) made[i]->type.shape = r.node.output(i)->type.shape;
  made.resize(r.node.output_count());
  return made;
}

}  // namespace

Values rewrite_known_if(Rewriting& r) {
  const auto condition = known_number(r.in());
  if (!condition) return {};
  const Graph* branch = graph_of(r.node, *condition ? "then_branch" : "else_branch");
  if (!branch) return {};
  Graph::ValueMap map;
  add_constants(r, *branch, map);
  Values made;
  for (Value* v : copied(r, *branch, map)) made.push_back(r.g.op("Identity", {v}));
  made.resize(r.node.output_count());
  return made;
}

Values rewrite_short_loop(Rewriting& r) {
  Graph* body = whole_body(r.node);
  return body ? unrolled(r, *body, r.node.input_count() - 2) : Values{};
}

Values rewrite_gathering_loop(Rewriting& r) {
  Graph* body = whole_body(r.node);
  return body ? gathered_in_state(r, *body, r.node.input_count() - 2) : Values{};
}

}  // namespace ingot::passes::legalize
