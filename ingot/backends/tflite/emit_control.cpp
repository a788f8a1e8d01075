// Branches and loops as subgraphs.
#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "ingot/backends/captured.h"
#include "ingot/backends/tflite/rows.h"
#include "ingot/ops/infer.h"

namespace ingot::backends::tflite {
namespace {

using Op = BuiltinOperator;

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

Refused refuse_if(const Node& n) {
  if (ops::constant_of(n.input(0))) return Refusal{Kind::structure, "the condition is known"};  // and one branch enough
  if (body_of(n, "then_branch") && body_of(n, "else_branch")) return {};
  return Refusal{Kind::structure, "a branch is missing"};
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

/// A list that grows from nothing while the sizes of what it lists are open: neither LiteRT nor, behind double, TFLite
/// runs such loops.
bool grows_with_open_sizes(const Value* state) {
  if (!state || !state->type.is_tensor() || !state->type.shape) return false;
  const Shape& shape = *state->type.shape;
  return std::ranges::any_of(shape, [](const Dim& d) { return same(d, 0); }) &&
         std::ranges::any_of(shape, [](const Dim& d) { return !d.is_known(); });
}

Refused refuse_loop(const Node& n) {
  Graph* body = body_of(n, "body");
  if (!body) return Refusal{Kind::structure, "the body is missing"};
  if (reads_sequences(*body))
    return Refusal{Kind::not_a_tensor, "TFLite has tensors only, no sequences, maps or optionals"};
  if (body->output_count() + 1 > std::max<std::size_t>(n.input_count(), 2))
    return Refusal{Kind::structure, "outputs that are gathered from the rounds of a Loop"};
  if (n.input_count() < 2 || body->inputs().size() != n.input_count() || body->output_count() + 1 < n.input_count())
    return Refusal{Kind::structure, "the body does not take or give what the node carries"};
  for (const Value* state : n.inputs())
    if (grows_with_open_sizes(state))
      return Refusal{Kind::unknown_size, "what is gathered from the rounds of a Loop has open sizes"};
  return {};
}

namespace {

bool are_same(const Attributes& a, const Attributes& b) {
  const auto is_plain = [](const Attribute& x) {
    return std::holds_alternative<std::int64_t>(x.value) || std::holds_alternative<float>(x.value) ||
           std::holds_alternative<std::string>(x.value) || std::holds_alternative<std::vector<std::int64_t>>(x.value);
  };
  const auto is_in = [&](const Attribute& x) {
    const Attribute* y = b.find(x.name);
    if (!y || !is_plain(x) || x.value.index() != y->value.index()) return false;
    if (const auto* i = std::get_if<std::int64_t>(&x.value)) return *i == std::get<std::int64_t>(y->value);
    if (const auto* f = std::get_if<float>(&x.value)) return *f == std::get<float>(y->value);
    if (const auto* s = std::get_if<std::string>(&x.value)) return *s == std::get<std::string>(y->value);
    return std::get<std::vector<std::int64_t>>(x.value) == std::get<std::vector<std::int64_t>>(y->value);
  };
  return a.size() == b.size() && std::ranges::all_of(a, is_in);
}

/// A Loop says its condition twice, of its first states and of those that a round makes; WHILE says it once. This finds
/// out whether both are the same.
class OneCondition {
 public:
  OneCondition(const Node& loop, const Graph& body, const std::vector<const Value*>& captured)
      : loop_(loop), body_(body), captured_(captured) {}

  bool is_one() {
    const bool is_read = !body_.inputs()[1]->uses().empty();
    return !is_read && loop_.input(1) && matches(loop_.input(1), body_.output(0), 0) && !nodes_.empty();
  }

  std::int32_t emit(Output& output) const {
    const auto number = static_cast<std::int32_t>(output.model.subgraphs.size());
    Emitter test(output, body_);
    test.subgraph().name += "/condition";
    std::vector<std::int32_t> inputs;
    for (std::size_t i = 2; i < body_.inputs().size(); ++i) inputs.push_back(test.tensor(body_.inputs()[i]));
    for (const Value* v : captured_) inputs.push_back(test.tensor(v));
    for (const auto& [value, state] : leaves_) test.alias(value, inputs[state]);
    for (const Node& node : body_.nodes())
      if (nodes_.contains(&node) && !node.is("Constant")) test.emit_node(node);
    test.subgraph().inputs = inputs;
    test.subgraph().outputs = {test.tensor(body_.output(0))};
    return number;
  }

 private:
  /// The state that a value inside stands for when a round has ended.
  bool is_state(const Value* outside, const Value* inside) {
    for (std::size_t i = 0; i + 2 < loop_.input_count(); ++i) {
      const Value* next = body_.output(1 + i);
      const bool is_copy = next->producer() && next->producer()->is("Identity") && next->producer()->input(0) == inside;
      if (loop_.input(2 + i) != outside || (next != inside && !is_copy)) continue;
      leaves_[inside] = i;
      return true;
    }
    return false;
  }

  bool matches(const Value* outside, const Value* inside, int depth) {
    constexpr int kDeepest = 32;
    constexpr std::size_t kMostNodes = 64;
    if (!outside || !inside) return outside == inside;
    if (is_state(outside, inside)) return true;
    if (outside == inside) return std::ranges::find(captured_, inside) != captured_.end();
    const Tensor *first = ops::constant_of(outside), *again = ops::constant_of(inside);
    if (first && again)
      return first->dtype() == again->dtype() && first->dims() == again->dims() && first->dtype() != DType::string &&
             first->bytes().text() == again->bytes().text();
    const Node *before = outside->producer(), *node = inside->producer();
    if (!before || !node || &inside->graph() != &body_ || depth > kDeepest || nodes_.size() > kMostNodes) return false;
    if (node->op != before->op || node->domain != before->domain || node->input_count() != before->input_count() ||
        inside->output_index() != outside->output_index() || !are_same(node->attributes, before->attributes))
      return false;
    for (std::size_t i = 0; i < node->input_count(); ++i)
      if (!matches(before->input(i), node->input(i), depth + 1)) return false;
    nodes_.insert(node);
    return true;
  }

  const Node& loop_;
  const Graph& body_;
  const std::vector<const Value*>& captured_;
  std::unordered_set<const Node*> nodes_;
  std::unordered_map<const Value*, std::size_t> leaves_;
};

}  // namespace

void emit_loop(NodeOut& n) {
  // State: round and limit where anybody counts, condition, the loop's own, and what the body reads from outside.
  Graph* body = body_of(n.node, "body");
  const bool counts = n.has(0) || !body->inputs()[0]->uses().empty();
  std::vector<const Value*> captured;
  collect_captured(*body, captured);
  OneCondition one(n.node, *body, captured);
  const bool carries_condition = counts || !one.is_one();
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
  if (carries_condition) {
    inputs.push_back(n.has(1) ? n.in(1) : e.constant(Tensor::scalar<bool>(true)));
    outputs.push_back(e.temporary(DType::boolean, scalar));
  }
  const auto spare = [&](const Value* v) { return e.temporary(v->type.elem, v->type.shape.value_or(Shape{})); };
  for (std::size_t i = 0; i < states; ++i) {
    inputs.push_back(n.in(2 + i));
    outputs.push_back(n.node.output(i) ? n.out(i) : spare(n.node.input(2 + i)));
  }
  for (const Value* v : captured) {
    inputs.push_back(e.tensor(v));
    outputs.push_back(spare(v));
  }
  const std::int32_t condition = carries_condition ? e.loop_condition(*body, captured, counts) : one.emit(e.output());
  const std::int32_t rounds = e.loop_body(*body, captured, counts, carries_condition);
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

std::int32_t Emitter::loop_body(const Graph& body, const std::vector<const Value*>& captured, bool counts,
                                bool carries_condition) {
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
  if (!carries_condition) {
    inner.subgraph().inputs.erase(inner.subgraph().inputs.begin());
    inner.subgraph().outputs.erase(inner.subgraph().outputs.begin());
  }
  outputs.insert(outputs.end(), inner.subgraph().outputs.begin(), inner.subgraph().outputs.end());
  const std::size_t own = inner.subgraph().inputs.size() - captured.size();
  for (std::size_t i = 0; i < captured.size(); ++i) outputs.push_back(inner.subgraph().inputs[own + i]);
  inner.subgraph().outputs = outputs;
  return static_cast<std::int32_t>(inner.index_);
}

}  // namespace ingot::backends::tflite
