// Inference over a whole model of any operator set version.
#include "ingot/passes/infer.h"

#include "ingot/ops/schema.h"
#include "ingot/passes/canonicalize.h"
#include "ingot/passes/infer_calls.h"

namespace ingot::passes {
namespace {

bool is_newest(const OpsetImports& imports) {
  for (const OpsetImport& import : imports) {
    const int newest = ops::newest_opset(normal_domain(import.domain));
    if (newest && import.version != newest) return false;
  }
  return true;
}

bool is_newest(const Model& model) {
  if (model.opsets.empty()) return false;
  for (const auto& f : model.functions)
    if (!is_newest(f->opsets)) return false;
  return is_newest(model.opsets);
}

template <class Visit> void for_each_own_value(const Graph& graph, Visit&& visit) {
  for (Value* v : graph.inputs()) visit(*v);
  for (Value* v : graph.initializers()) visit(*v);
  for (Node& node : graph.nodes())
    for (Value* v : node.outputs())
      if (v) visit(*v);
}

template <class Visit> void for_each_value(Graph& root, Visit&& visit) {
  for_each_graph(root, [&](Graph& g) { for_each_own_value(g, visit); });
}

/// The node of `graph` that makes the same value as `node` does.
const Node* twin_of(const Node& node, const Graph& graph) {
  for (const Value* output : node.outputs())
    if (output)
      if (const Value* twin = graph.find(output->name())) return twin->producer();
  return nullptr;
}

/// Calls visit(value, twin) for the values that a graph and its inferred copy both have, by their names and graph by
/// graph: two branches may well use one name for different values.
template <class Visit> void for_each_twin(Graph& root, Graph& inferred_root, Visit&& visit) {
  std::vector<std::pair<Graph*, Graph*>> open{{&root, &inferred_root}};
  while (!open.empty()) {
    Graph* const graph = open.back().first;
    const Graph* const inferred = open.back().second;
    open.pop_back();
    for_each_own_value(*graph, [&](Value& v) {
      if (const Value* twin = inferred->find(v.name())) visit(v, *twin);
    });
    for (const Node& node : graph->nodes()) {
      for (const Attribute& a : node.attributes) {
        if (a.type() != AttrType::graph && a.type() != AttrType::graphs) continue;
        const Node* twin = twin_of(node, *inferred);
        if (!twin) break;
        if (const auto* mine = std::get_if<GraphPtr>(&a.value)) {
          const auto* theirs = twin->attributes.get<GraphPtr>(a.name);
          if (*mine && theirs && *theirs) open.emplace_back(mine->get(), theirs->get());
        } else if (const auto* many = std::get_if<std::vector<GraphPtr>>(&a.value)) {
          const auto* theirs = twin->attributes.get<std::vector<GraphPtr>>(a.name);
          for (std::size_t i = 0; theirs && i < std::min(many->size(), theirs->size()); ++i)
            open.emplace_back((*many)[i].get(), (*theirs)[i].get());
        }
      }
    }
  }
}

template <class Visit> void for_each_twin(const Model& model, const Model& inferred, Visit&& visit) {
  for_each_twin(*model.graph, *inferred.graph, visit);
  for (std::size_t i = 0; i < model.training.size(); ++i) {
    const TrainingInfo &to = model.training[i], &from = inferred.training[i];
    if (to.initialization) for_each_twin(*to.initialization, *from.initialization, visit);
    if (to.algorithm) for_each_twin(*to.algorithm, *from.algorithm, visit);
  }
}

/// Each node after those that it reads from, also where a file has them in another order.
void infer_in_order(Graph& graph, ops::InferSession& session) {
  const auto order = topological_order(graph);
  if (!order) return ops::infer_graph(graph, session);
  for (Node* node : *order) ops::infer_node(*node, session);
}

/// The same order for steps between versions, which ask for types. A graph with a cycle stays as it is.
void put_in_order(Graph& root) {
  for_each_graph(root, [](Graph& graph) {
    if (const auto order = topological_order(graph))
      for (Node* node : *order) graph.move_before(node, nullptr);
  });
}

void infer_in_place(Model& model, ops::InferSession& session, bool keep_declared) {
  infer_in_order(*model.graph, session);
  for (const TrainingInfo& t : model.training) {
    if (t.initialization) ops::infer_graph(*t.initialization, session);
    if (t.algorithm) ops::infer_graph(*t.algorithm, session);
  }
  if (!keep_declared) return;
  const auto restore = [&](Graph& g) {
    for_each_value(g, [&](Value& v) {
      const auto it = session.stated.find(&v);
      if (it != session.stated.end() && it->second) v.type = it->second;
    });
  };
  restore(*model.graph);
  for (const TrainingInfo& t : model.training) {
    if (t.initialization) restore(*t.initialization);
    if (t.algorithm) restore(*t.algorithm);
  }
}

ops::InferSession session_for(const Model& model, const InferOptions& options) {
  ops::InferSession session;
  session.budget = options.budget;
  session.on_contradiction = options.on_contradiction;
  if (options.on_error)
    session.on_error = options.on_error;
  else if (options.tolerate_errors)
    session.on_error = [](const Node&, const Error&) {};
  prepare(session, model);
  return session;
}

}  // namespace

void infer(Model& model, const InferOptions& options) {
  if (is_newest(model)) {
    ops::InferSession session = session_for(model, options);
    infer_in_place(model, session, options.keep_declared);
    return;
  }
  Model copy = model.clone();
  put_in_order(*copy.graph);
  ops::InferSession session = session_for(copy, options);
  std::vector<Obstacle> obstacles;
  canonicalize(copy, session, obstacles);
  for_each_twin(model, copy, [&](Value& v, const Value& twin) {
    v.known_ints = twin.known_ints;
    if (!twin.type || (options.keep_declared && v.is_declared && v.type)) return;
    auto notes = v.type.notes;
    v.type = twin.type;
    v.type.notes = std::move(notes);
  });
}

InferredTypes infer_types(const Model& model, Model copy, const InferOptions& options) {
  InferredTypes result;
  result.copy = std::move(copy);
  put_in_order(*result.copy.graph);
  ops::InferSession session = session_for(result.copy, options);
  std::vector<Obstacle> obstacles;
  if (is_newest(result.copy))
    infer_in_place(result.copy, session, false);
  else
    canonicalize(result.copy, session, obstacles);
  const Graph& graph = *result.copy.graph;
  result.types.reserve(graph.inputs().size() + graph.initializers().size() + graph.node_count());
  for_each_twin(model, result.copy, [&](const Value& v, const Value& twin) {
    if (twin.type) result.types.emplace(&v, &twin.type);
  });
  return result;
}

}  // namespace ingot::passes
