// IF, WHILE and subgraphs that are called.
#include "ingot/base/error.h"
#include "ingot/frontends/tflite/translators.h"
#include "ingot/ops/infer.h"

namespace ingot::frontends::tflite {
namespace {

constexpr int kDeepest = 32;

/// Counts how deep subgraphs are nested while it lives.
class Depth {
 public:
  explicit Depth(Op& op) : import_(op.import) {
    op.require(import_.depth < kDeepest, "subgraphs are nested too deeply");
    ++import_.depth;
  }
  ~Depth() { --import_.depth; }
  Depth(const Depth&) = delete;

 private:
  Import& import_;
};

/// The results of a subgraph, translated into `graph`, for these arguments. `first` is the operator's input that is
/// the subgraph's first argument.
Values call(Op& op, std::size_t subgraph, Graph& graph, const Values& arguments, std::size_t first) {
  op.require(subgraph < op.import.source.subgraphs.size(), "the subgraph does not exist");
  Frame frame(op.import, subgraph, graph);
  const std::vector<std::int32_t>& inputs = frame.source().inputs;
  op.require(inputs.size() == arguments.size(), "the subgraph takes another number of arguments");
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const auto resource = op.frame.resources.find(op.input(first + i));
    if (resource != op.frame.resources.end())
      frame.resources[inputs[i]] = resource->second;
    else
      frame.set(inputs[i], arguments[i]);
  }
  frame.translate();
  Values results;
  for (const std::int32_t t : frame.source().outputs)
    results.push_back(frame.resources.contains(t) ? nullptr : frame.stored(t));
  return results;
}

Values arguments_from(Op& op, std::size_t first) {
  Values arguments;
  for (std::size_t i = first; i < op.input_count(); ++i)
    arguments.push_back(op.frame.resources.contains(op.input(i)) ? nullptr : op.stored(i));
  return arguments;
}

Value* scalar_condition(GraphBuilder& b, Value* condition) {
  return condition->type.shape && condition->type.shape->empty() ? condition : b.reshape(condition, {});
}

/// A subgraph's output must be made in it and be nobody else's output.
void add_result(Graph& graph, Value* value) {
  bool is_own = value->producer() && &value->graph() == &graph;
  for (const Use& use : value->uses()) is_own &= use.node != nullptr;
  if (!is_own) {
    GraphBuilder builder(graph);
    value = builder.op("Identity", {value});
  }
  value->is_declared = true;
  graph.add_output(value);
}

void infer(Node& node) {
  ops::InferSession session;
  ops::infer_node(node, session);
}

}  // namespace

void if_else(Op& op) {
  const Depth depth(op);
  Value* condition = scalar_condition(op.b, op.stored(0));
  const Values arguments = arguments_from(op, 1);
  GraphPtr branches[2];
  for (std::size_t i = 0; i < 2; ++i) {
    const auto subgraph = op.options.get_int(i == 0 ? "then_subgraph_index" : "else_subgraph_index");
    branches[i] = std::make_unique<Graph>(&op.b.graph());
    branches[i]->name = i == 0 ? "then" : "else";
    const Values results = call(op, static_cast<std::size_t>(subgraph), *branches[i], arguments, 1);
    op.require(results.size() == op.output_count(), "the branch has another number of results");
    for (Value* result : results) {
      op.require(result != nullptr, "a branch gives a resource");
      add_result(*branches[i], result);
    }
  }
  Node* node = op.b.node("If", "", {condition}, {}, op.output_count());
  node->attributes.append(Attribute("then_branch", AttrValue(std::move(branches[0]))));
  node->attributes.append(Attribute("else_branch", AttrValue(std::move(branches[1]))));
  infer(*node);
  for (std::size_t i = 0; i < op.output_count(); ++i) op.set(i, node->output(i));
}

namespace {

/// The body of a loop whose state has these types.
GraphPtr loop_body(Op& op, const std::vector<Type>& types, std::vector<Type>& next) {
  auto body = std::make_unique<Graph>(&op.b.graph());
  body->name = "body";
  body->add_input(body->fresh_name("round"), Type::tensor(DType::i64, Shape{}));
  body->add_input(body->fresh_name("keeps_going"), Type::tensor(DType::boolean, Shape{}));
  Values state;
  for (std::size_t i = 0; i < types.size(); ++i)
    state.push_back(types[i] ? body->add_input(body->fresh_name("state"), types[i]) : nullptr);
  const auto body_index = static_cast<std::size_t>(op.options.get_int("body_subgraph_index"));
  const auto condition_index = static_cast<std::size_t>(op.options.get_int("cond_subgraph_index"));
  const Values results = call(op, body_index, *body, state, 0);
  op.require(results.size() == state.size(), "the body does not give back what it takes");
  const Values again = call(op, condition_index, *body, results, 0);
  op.require(again.size() == 1 && again[0], "the condition is not one truth value");
  GraphBuilder builder(*body);
  add_result(*body, scalar_condition(builder, again[0]));
  next.clear();
  for (std::size_t i = 0; i < results.size(); ++i) {
    next.push_back(results[i] && types[i] ? results[i]->type : Type());
    if (!types[i]) continue;
    op.require(results[i] != nullptr, "the body gives a resource for a value");
    add_result(*body, results[i]);
  }
  return body;
}

}  // namespace

void while_loop(Op& op) {
  const Depth depth(op);
  const Values arguments = arguments_from(op, 0);
  const auto condition_index = static_cast<std::size_t>(op.options.get_int("cond_subgraph_index"));
  const Values first = call(op, condition_index, op.b.graph(), arguments, 0);
  op.require(first.size() == 1 && first[0], "the condition is not one truth value");
  Value* condition = scalar_condition(op.b, first[0]);
  std::vector<Type> types, next;
  for (const Value* v : arguments) types.push_back(v ? v->type : Type());
  GraphPtr body;
  for (int attempt = 0; attempt < 4; ++attempt) {
    const Problems before = op.import.problems;
    body = loop_body(op, types, next);
    bool is_stable = true;
    for (std::size_t i = 0; i < types.size(); ++i) {
      if (!types[i]) continue;
      const Type both = common(types[i], next[i]);
      op.require(static_cast<bool>(both), "a loop changes the type of its state");
      is_stable &= both == types[i];
      types[i] = both;
    }
    if (is_stable) break;
    if (attempt < 3) op.import.problems = before;
  }
  Values inputs{nullptr, condition};
  for (Value* v : arguments)
    if (v) inputs.push_back(v);
  Node* node = op.b.node("Loop", "", inputs, {}, inputs.size() - 2);
  node->attributes.append(Attribute("body", AttrValue(std::move(body))));
  infer(*node);
  std::size_t k = 0;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i])
      op.set(i, node->output(k++));
    else
      op.frame.resources[op.source.outputs.at(i)] = op.frame.resources[op.input(i)];
  }
}

void composite(Op& op) {
  const Depth depth(op);
  const char* field = op.options.has("decomposition_subgraph_index") ? "decomposition_subgraph_index" : "subgraph";
  const Values arguments = arguments_from(op, 0);
  const Values results = call(op, static_cast<std::size_t>(op.options.get_int(field)), op.b.graph(), arguments, 0);
  op.require(results.size() == op.output_count(), "the subgraph has another number of results");
  for (std::size_t i = 0; i < results.size(); ++i) op.set(i, results[i]);
}

}  // namespace ingot::frontends::tflite
