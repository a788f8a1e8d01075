// Loops that translators write themselves.
#include "ingot/frontends/repeat.h"

#include <algorithm>

#include "ingot/ops/infer.h"

namespace ingot::frontends {
namespace {

constexpr int kTries = 4;

void add_result(Graph& graph, Value* value) {
  const bool is_own = value->producer() && &value->graph() == &graph;
  if (!is_own || std::ranges::count(graph.outputs(), value) != 0) value = GraphBuilder(graph).op("Identity", {value});
  graph.add_output(value);
}

Values looped(GraphBuilder& g, Value* rounds, const Values& start, const Round& round, bool has_condition) {
  std::vector<Type> types;
  for (const Value* v : start) types.push_back(v->type);
  GraphPtr body;
  std::size_t outputs = 0;
  // The state may become less known from round to round: the body is written anew until its types hold.
  for (int attempt = 0;; ++attempt) {
    body = std::make_unique<Graph>(&g.graph());
    body->name = g.graph().fresh_name("body");
    Value* number = body->add_input(body->fresh_name("round"), Type::tensor(DType::i64, Shape()));
    Value* condition = body->add_input(body->fresh_name("condition"), Type::tensor(DType::boolean, Shape()));
    Values state;
    for (const Type& type : types) state.push_back(body->add_input(body->fresh_name("state"), type));
    GraphBuilder inner(*body);
    inner.name_after("round");
    Values made = round(inner, number, state);
    if (has_condition) {
      condition = made.back();
      made.pop_back();
    }
    std::vector<Type> next;
    for (std::size_t i = 0; i < types.size(); ++i) {
      Type type = common(types[i], made[i]->type);
      if (attempt >= 2 && type != types[i] && type.is_tensor()) type.shape.reset();
      next.push_back(std::move(type));
    }
    if (attempt < kTries && next != types) {
      types = std::move(next);
      continue;
    }
    add_result(*body, condition);
    for (Value* v : made) add_result(*body, v);
    outputs = made.size();
    break;
  }
  Values inputs{rounds, nullptr};
  inputs.insert(inputs.end(), start.begin(), start.end());
  Node* node = g.node("Loop", "", inputs, {}, outputs);
  node->attributes.append(Attribute("body", AttrValue(std::move(body))));
  ops::InferSession session;
  ops::infer_node(*node, session);
  return node->outputs();
}

}  // namespace

Values repeat(GraphBuilder& g, Value* rounds, const Values& start, const Round& round) {
  return looped(g, rounds, start, round, false);
}

Values repeat_while(GraphBuilder& g, const Values& start, const Round& round) {
  return looped(g, nullptr, start, round, true);
}

}  // namespace ingot::frontends
