// Loops and branches: Loop and If of what functions or the old control flow say.
#include "ingot/frontends/tensorflow/control_flow.h"

#include <algorithm>

#include "ingot/base/error.h"
#include "ingot/ops/infer.h"

namespace ingot::frontends::tensorflow {
namespace {

/// A graph's output must be its own and stand in one place.
void add_result(Graph& graph, Value* value) {
  if (!value) throw Error(Code::unsupported_setting, "a branch or loop gives a handle");
  const bool is_own = value->producer() && &value->graph() == &graph;
  if (!is_own || std::ranges::count(graph.outputs(), value) != 0) {
    GraphBuilder g(graph);
    g.name_after("result");
    value = g.op("Identity", {value});
  }
  graph.add_output(value);
}

/// The type that a loop's state has in every round; after some rounds, whatever still changes is not known.
Type widened(const Type& state, const Type& next, int round) {
  Type type = common(state, next);
  if (round < 2 || type == state) return type;
  if (type.is_tensor()) type.shape.reset();
  if (type.is_sequence() && type.inner().is_tensor()) type = Type::sequence(Type::tensor(type.inner().elem));
  return type;
}

void infer(Node* node) {
  ops::InferSession session;
  ops::infer_node(*node, session);
}

}  // namespace

bool any_missing(const Operands& operands) { return std::ranges::any_of(operands, &Operand::is_missing); }

Operands branch(GraphBuilder& g, Value* condition, const Step& then_branch, const Step& else_branch) {
  if (!condition) throw Error(Code::bad_source_graph, "a condition is a handle, not a tensor");
  GraphPtr graphs[2];
  Operands results[2];
  for (int i = 0; i < 2; ++i) {
    graphs[i] = std::make_unique<Graph>(&g.graph());
    graphs[i]->name = g.graph().fresh_name(i ? "else" : "then");
    results[i] = (i ? else_branch : then_branch)(*graphs[i], {});
    if (any_missing(results[i])) return missing();
  }
  if (results[0].size() != results[1].size())
    throw Error(Code::bad_source_graph, "two branches have different numbers of results");
  Operands merged(results[0].size());
  std::vector<std::size_t> carried;
  for (std::size_t k = 0; k < merged.size(); ++k) {
    if (results[0][k].value && results[1][k].value) {
      for (int i = 0; i < 2; ++i) add_result(*graphs[i], results[i][k].value);
      carried.push_back(k);
    } else if (results[0][k].resource && results[1][k].resource &&
               results[0][k].resource->name == results[1][k].resource->name) {
      merged[k] = results[0][k];
    } else {
      throw Error(Code::unsupported_setting, "a condition chooses between two handles");
    }
  }
  if (carried.empty()) return merged;
  Node* node = g.node("If", "", {condition}, {}, carried.size());
  node->attributes.append(Attribute("then_branch", AttrValue(std::move(graphs[0]))));
  node->attributes.append(Attribute("else_branch", AttrValue(std::move(graphs[1]))));
  infer(node);
  for (std::size_t i = 0; i < carried.size(); ++i) merged[carried[i]].value = node->output(i);
  return merged;
}

Operands loop(GraphBuilder& g, const Operands& start, const std::vector<bool>& invariant, const Step& condition,
              const Step& step) {
  if (any_missing(start)) return missing();
  std::vector<std::size_t> carried;
  std::vector<Type> types;
  for (std::size_t k = 0; k < start.size(); ++k) {
    if (invariant[k] || !start[k].value) continue;
    carried.push_back(k);
    types.push_back(start[k].value->type);
  }
  const Operands first = condition(g.graph(), start);
  if (any_missing(first)) return missing();
  if (first.empty() || !first.front().value) throw Error(Code::bad_source_graph, "a loop has no condition");
  GraphPtr body;
  constexpr int kRounds = 4;
  for (int round = 0;; ++round) {
    body = std::make_unique<Graph>(&g.graph());
    body->name = g.graph().fresh_name("body");
    body->add_input(body->fresh_name("iteration"), Type::tensor(DType::i64, Shape()));
    body->add_input(body->fresh_name("condition"), Type::tensor(DType::boolean, Shape()));
    Operands state = start;
    for (std::size_t i = 0; i < carried.size(); ++i)
      state[carried[i]].value = body->add_input(body->fresh_name("state"), types[i]);
    Operands next = step(*body, state);
    if (any_missing(next)) return missing();
    if (next.size() != start.size()) throw Error(Code::bad_source_graph, "a loop does not give back what it takes");
    std::vector<Type> wider;
    for (std::size_t i = 0; i < carried.size(); ++i) {
      if (!next[carried[i]].value) throw Error(Code::unsupported_setting, "a loop replaces a handle by another");
      wider.push_back(widened(types[i], next[carried[i]].value->type, round));
    }
    if (round < kRounds && wider != types) {
      types = std::move(wider);
      continue;
    }
    for (std::size_t k = 0; k < start.size(); ++k)
      if (invariant[k] || !start[k].value) next[k] = start[k];
    const Operands again = condition(*body, next);
    if (any_missing(again)) return missing();
    if (again.empty()) throw Error(Code::bad_source_graph, "a loop has no condition");
    add_result(*body, again.front().value);
    for (const std::size_t k : carried) add_result(*body, next[k].value);
    break;
  }
  Values inputs{nullptr, first.front().value};
  for (const std::size_t k : carried) inputs.push_back(start[k].value);
  Node* node = g.node("Loop", "", inputs, {}, carried.size());
  node->attributes.append(Attribute("body", AttrValue(std::move(body))));
  infer(node);
  Operands results = start;
  for (std::size_t i = 0; i < carried.size(); ++i) results[carried[i]].value = node->output(i);
  return results;
}

}  // namespace ingot::frontends::tensorflow
