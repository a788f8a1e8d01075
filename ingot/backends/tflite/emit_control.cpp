// Branches and loops as subgraphs.
#include <algorithm>
#include <unordered_set>

#include "ingot/backends/tflite/rows.h"
#include "ingot/ops/infer.h"

namespace ingot::backends::tflite {
namespace {

using Op = BuiltinOperator;

/// The values of outer graphs that a graph and those nested in it read, constants aside; in the order of reading.
void collect_captured(Graph& root, std::vector<const Value*>& captured) {
  std::unordered_set<const Graph*> inside;
  for_each_graph(root, [&](Graph& g) { inside.insert(&g); });
  const auto note = [&](const Value* v) {
    if (v && !inside.contains(&v->graph()) && !ops::constant_of(v) && std::ranges::find(captured, v) == captured.end())
      captured.push_back(v);
  };
  for_each_graph(root, [&](Graph& g) {
    for (const Node& node : g.nodes())
      for (const Value* v : node.inputs()) note(v);
    for (const Value* v : g.outputs()) note(v);
  });
}

Graph* body_of(const Node& node, std::string_view name) {
  const GraphPtr* graph = node.attributes.get<GraphPtr>(name);
  return graph ? graph->get() : nullptr;
}

/// Sequences that are not the loop's own results: unrolled, their members may be known.
bool reads_sequences(Graph& body) {
  bool is_any = false;
  for_each_graph(body, [&](Graph& g) {
    for (const Node& node : g.nodes())
      for (const Value* v : node.inputs()) is_any |= v && v->type && !v->type.is_tensor();
  });
  return is_any;
}

}  // namespace

std::string refuse_if(const Node& n) {
  if (ops::constant_of(n.input(0))) return "the condition is known";  // and one branch enough
  return body_of(n, "then_branch") && body_of(n, "else_branch") ? "" : "a branch is missing";
}

void emit_if(NodeOut& n) {
  Graph *yes = body_of(n.node, "then_branch"), *no = body_of(n.node, "else_branch");
  std::vector<const Value*> captured;
  collect_captured(*yes, captured);
  collect_captured(*no, captured);
  std::vector<std::int32_t> inputs{n.in(0)}, outputs;
  for (const Value* v : captured) inputs.push_back(n.e.tensor(v));
  for (std::size_t i = 0; i < n.node.output_count(); ++i) outputs.push_back(n.out(i));
  Options options(Op::IF);
  const std::int32_t first = n.e.subgraph_of(*yes, captured), second = n.e.subgraph_of(*no, captured);
  options.set("then_subgraph_index", first).set("else_subgraph_index", second);
  n.e.add(Op::IF, inputs, outputs, options);
}

std::string refuse_loop(const Node& n) {
  Graph* body = body_of(n, "body");
  if (!body) return "the body is missing";
  if (reads_sequences(*body)) return "TFLite has tensors only, no sequences, maps or optionals";
  if (body->output_count() + 1 > n.input_count()) return "outputs that are gathered from the rounds of a Loop";
  return {};
}

void emit_loop(NodeOut& n) {
  // State: round and limit where anybody counts, condition, the loop's own, and what the body reads from outside.
  Graph* body = body_of(n.node, "body");
  const bool counts = n.has(0) || !body->inputs()[0]->uses().empty();
  std::vector<const Value*> captured;
  collect_captured(*body, captured);
  Emitter& e = n.e;
  const std::size_t states = n.node.input_count() - 2;
  std::vector<std::int32_t> inputs, outputs;
  const Shape scalar;
  if (counts) {
    inputs.push_back(e.constant(Tensor::scalar<std::int64_t>(0)));
    inputs.push_back(n.has(0) ? n.in(0) : e.constant(Tensor::scalar<std::int64_t>(INT64_MAX)));
    outputs.push_back(e.temporary(DType::i64, scalar));
    outputs.push_back(e.temporary(DType::i64, scalar));
  }
  inputs.push_back(n.has(1) ? n.in(1) : e.constant(Tensor::scalar<bool>(true)));
  outputs.push_back(e.temporary(DType::boolean, scalar));
  const auto spare = [&](const Value* v) { return e.temporary(v->type.elem, v->type.shape.value_or(Shape{})); };
  for (std::size_t i = 0; i < states; ++i) {
    inputs.push_back(n.in(2 + i));
    outputs.push_back(n.node.output(i) ? n.out(i) : spare(n.node.input(2 + i)));
  }
  for (const Value* v : captured) {
    inputs.push_back(e.tensor(v));
    outputs.push_back(spare(v));
  }
  const std::int32_t condition = e.loop_condition(*body, captured, counts),
                     rounds = e.loop_body(*body, captured, counts);
  Options options(Op::WHILE);
  options.set("cond_subgraph_index", condition).set("body_subgraph_index", rounds);
  e.add(Op::WHILE, inputs, outputs, options);
}

std::int32_t Emitter::loop_condition(const Graph& body, const std::vector<const Value*>& captured, bool counts) {
  Emitter inner(output_, body);
  inner.subgraph().name += "/condition";
  inner.set_scope("condition");
  const Shape scalar;
  std::vector<std::int32_t> inputs;
  if (counts) inputs = {inner.temporary(DType::i64, scalar), inner.temporary(DType::i64, scalar)};
  for (std::size_t i = 1; i < body.inputs().size(); ++i) inputs.push_back(inner.tensor(body.inputs()[i]));
  for (const Value* v : captured) inputs.push_back(inner.tensor(v));
  std::int32_t goes_on = inputs[counts ? 2 : 0];
  if (counts) {
    const std::int32_t condition = goes_on, below = inner.temporary(DType::boolean, scalar);
    inner.add(Op::LESS, {inputs[0], inputs[1]}, {below});
    goes_on = inner.temporary(DType::boolean, scalar);
    inner.add(Op::LOGICAL_AND, {below, condition}, {goes_on});
  }
  inner.subgraph().inputs = inputs;
  inner.subgraph().outputs = {goes_on};
  return static_cast<std::int32_t>(inner.index_);
}

std::int32_t Emitter::loop_body(const Graph& body, const std::vector<const Value*>& captured, bool counts) {
  Emitter inner(output_, body);
  inner.set_scope("body");
  for (std::size_t i = 1; i < body.output_count(); ++i) inner.pass_on(body.inputs()[1 + i], body.output(i));
  const Shape scalar;
  std::vector<std::int32_t> outputs;
  if (counts) {
    const std::int32_t limit = inner.temporary(DType::i64, scalar);
    inner.emit(captured);
    std::vector<std::int32_t>& inputs = inner.subgraph().inputs;
    inputs.insert(inputs.begin() + 1, limit);
    inner.set_scope("body");
    const std::int32_t next = inner.temporary(DType::i64, scalar),
                       one = inner.constant(Tensor::scalar<std::int64_t>(1));
    const std::int32_t round = inner.subgraph().inputs[0];
    inner.add(Op::ADD, {round, one}, {next});
    outputs = {next, limit};
  } else {
    inner.emit(captured);
    inner.subgraph().inputs.erase(inner.subgraph().inputs.begin());
  }
  outputs.insert(outputs.end(), inner.subgraph().outputs.begin(), inner.subgraph().outputs.end());
  const std::size_t own = inner.subgraph().inputs.size() - captured.size();
  for (std::size_t i = 0; i < captured.size(); ++i) outputs.push_back(inner.subgraph().inputs[own + i]);
  inner.subgraph().outputs = outputs;
  return static_cast<std::int32_t>(inner.index_);
}

}  // namespace ingot::backends::tflite
