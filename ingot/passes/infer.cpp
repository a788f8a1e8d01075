// Inference over a whole model of any operator set version.
#include "ingot/passes/infer.h"

#include <unordered_set>

#include "ingot/base/budget.h"
#include "ingot/base/error.h"
#include "ingot/ops/schema.h"
#include "ingot/passes/convert_version.h"
#include "ingot/passes/inline_functions.h"

namespace ingot::passes {
namespace {

constexpr int kDeepestCall = 100;

/// What calls of functions gave, so that a function called often, or from many functions, is inferred once per
/// combination of types: without this a chain of functions that call the next one twice takes exponential time.
struct CallMemo {
  explicit CallMemo(const Model& model) : index(model) {}
  FunctionIndex index;
  std::unordered_map<std::string, std::vector<Type>> results;
  std::unordered_set<const Function*> open;
};

/// Everything that the result of a call can depend on; empty: not worth remembering.
std::string signature(const Node& call, const Function& function) {
  std::string text = std::to_string(reinterpret_cast<std::uintptr_t>(&function));
  for (const Value* input : call.inputs()) {
    text += '|';
    if (!input) continue;
    text += input->type.str();
    if (input->known_ints)
      for (const Dim& d : *input->known_ints) text += ',' + d.str();
    if (const Tensor* t = ops::constant_of(input)) text += '@' + std::to_string(reinterpret_cast<std::uintptr_t>(t));
  }
  for (const Attribute& a : call.attributes) {
    text += '|' + a.name + '=';
    if (const auto* i = std::get_if<std::int64_t>(&a.value))
      text += std::to_string(*i);
    else if (const auto* s = std::get_if<std::string>(&a.value))
      text += *s;
    else if (const auto* v = std::get_if<std::vector<std::int64_t>>(&a.value))
      for (const std::int64_t n : *v) text += std::to_string(n) + ',';
    else
      text += '&' + std::to_string(reinterpret_cast<std::uintptr_t>(&a));
  }
  return text;
}

std::vector<Type> infer_body(const Node& call, const Function& function, ops::InferSession& session) {
  if (session.budget) session.budget->charge_nodes(function.body->node_count());
  Graph::ValueMap map;
  const GraphPtr body = function.body->clone(nullptr, map);
  resolve_references(*body, function, call);
  for (std::size_t i = 0; i < body->inputs().size(); ++i) {
    if (const Value* given = call.input(i)) {
      body->inputs()[i]->type = given->type;
      body->inputs()[i]->known_ints = given->known_ints;
    }
  }
  ops::InferSession inner = session;
  inner.stated.clear();
  inner.on_contradiction = nullptr;
  ++inner.depth;
  ops::infer_graph(*body, inner);
  std::vector<Type> types;
  for (const Value* output : body->outputs()) types.push_back(output->type);
  return types;
}

void collect_symbols(const Value& value, std::vector<std::string>& names) {
  for (const Type* t = &value.type; t; t = t->element.get())
    if (t->shape)
      for (const Dim& d : *t->shape) d.collect_symbols(names);
  if (value.known_ints)
    for (const Dim& d : *value.known_ints) d.collect_symbols(names);
}

void infer_call(Node& call, const Function& function, ops::InferSession& session, CallMemo& memo) {
  const std::string key = signature(call, function);
  auto found = memo.results.find(key);
  if (found == memo.results.end()) {
    std::vector<Type> types;
    // Recursion is the checker's to report; here it only must end.
    if (session.depth < kDeepestCall && memo.open.insert(&function).second) {
      types = infer_body(call, function, session);
      memo.open.erase(&function);
    }
    found = memo.results.emplace(key, std::move(types)).first;
  }
  // Sizes that only data decides have names of the body's values: each call has sizes of its own.
  std::vector<std::string> names;
  for (const Value* input : call.inputs())
    if (input) collect_symbols(*input, names);
  const std::unordered_set<std::string> given(names.begin(), names.end());
  const std::string base = call.output() ? call.output()->name() : call.name;
  const auto own = [&](std::string_view symbol) -> std::optional<Dim> {
    std::string name(symbol);
    if (given.contains(name)) return std::nullopt;
    return Dim::symbol(base + '.' + name);
  };
  ops::InferContext context(call, session);
  for (std::size_t i = 0; i < found->second.size(); ++i)
    if (found->second[i]) context.out(i, ops::substitute(found->second[i], own));
  context.commit();
}

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

void infer_in_place(Model& model, ops::InferSession& session, bool keep_declared) {
  ops::infer_graph(*model.graph, session);
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

}  // namespace

void prepare(ops::InferSession& session, const Model& model) {
  session.defaults_are_constants = model.ir_version < 4;
  const auto memo = std::make_shared<CallMemo>(model);
  session.find_function = [memo](const Node& node) { return memo->index.find(node); };
  session.infer_call = [memo](Node& call, const Function& f, ops::InferSession& s) { infer_call(call, f, s, *memo); };
}

namespace {

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
