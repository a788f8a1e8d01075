// Inlining of model-local functions.
#include "ingot/passes/inline_functions.h"

#include <algorithm>
#include <unordered_set>

#include "ingot/base/budget.h"
#include "ingot/base/current_budget.h"
#include "ingot/base/error.h"
#include "ingot/ops/builder.h"
#include "ingot/ops/schema.h"
#include "ingot/passes/move_nodes.h"

namespace ingot::passes {
namespace {

std::string key(std::string_view domain, std::string_view name, std::string_view overload) {
  std::string text(normal_domain(domain));
  text += '\0';
  text += name;
  text += '\0';
  text += overload;
  return text;
}

const Attribute* find_default(const Function& function, std::string_view name) {
  for (const Attribute& a : function.attribute_defaults)
    if (a.name == name) return &a;
  return nullptr;
}

/// The value of `from` as an attribute called `name` of a node in `parent`.
Attribute copy_as(const std::string& name, const Attribute& from, Graph& parent) {
  Attribute copy;
  copy.name = name;
  copy.reference = from.reference;  // a call inside a function may hand on the function's own attribute
  copy.reference_type = from.reference_type;
  copy.value = std::visit(
      [&]<class T>(const T& v) -> AttrValue {
        if constexpr (std::is_same_v<T, GraphPtr>) {
          Graph::ValueMap map;
          return v->clone(&parent, map);
        } else if constexpr (std::is_same_v<T, std::vector<GraphPtr>>) {
          std::vector<GraphPtr> graphs;
          for (const GraphPtr& g : v) {
            Graph::ValueMap map;
            graphs.push_back(g->clone(&parent, map));
          }
          return graphs;
        } else {
          return v;
        }
      },
      from.value);
  return copy;
}

void resolve_node(Node& node, const Function& function, const Node& call) {
  std::vector<std::string> dropped;
  for (Attribute& a : node.attributes) {
    if (!a.is_reference()) continue;
    const Attribute* given = call.attributes.find(a.reference);
    if (!given) given = find_default(function, a.reference);
    if (given)
      a = copy_as(a.name, *given, node.graph());
    else
      dropped.push_back(a.name);
  }
  for (const std::string& name : dropped) node.attributes.erase(name);
}

/// Those of nested graphs too: a body may hide its calls in branches.
std::size_t all_nodes(Graph& body) {
  std::size_t count = 0;
  for_each_graph(body, [&](Graph& g) { count += g.node_count(); });
  return count;
}

[[noreturn]] void refuse(Code code, const Function& function, const std::string& what) {
  throw Error(code, "function '" + function.name + "' " + what).hint("`ingot check` lists all that is wrong");
}

/// The body's nodes, each after those it reads from; nothing outside the body is read, and nothing undefined.
std::vector<Node*> sorted_body(const Function& function) {
  for_each_graph(*function.body, [&](Graph& graph) {
    const auto look = [&](const Value* v) {
      if (v && v->is_undefined())
        refuse(Code::undefined_value, function, "uses '" + v->name() + "', which nothing defines");
    };
    for (const Node& node : graph.nodes())
      for (const Value* v : node.inputs()) look(v);
    for (const Value* v : graph.outputs()) look(v);
  });
  const auto order = topological_order(*function.body);
  if (!order) refuse(Code::cyclic_graph, function, "has a cycle");
  return *order;
}

/// A body may be written in versions of operator sets that its caller does not have. This is the function as `call`
/// knows it, its references resolved, in the caller's versions; null where it needs no change.
std::unique_ptr<Function> adapted(const Function& function, const Node& call, OpsetImports& imports) {
  bool differs = false;
  for (const OpsetImport& import : function.opsets) {
    const std::int64_t version = imports.version(import.domain);
    if (version < 1) imports.set(import.domain, import.version);
    differs |= version >= 1 && version != import.version && ops::newest_opset(normal_domain(import.domain));
  }
  if (!differs) return nullptr;
  auto made = std::make_unique<Function>();
  made->name = function.name;
  made->body = body_as_called(function, call);
  VersionReport report;
  std::vector<Obstacle> obstacles;
  move_nodes(*made->body, function.opsets, imports, nullptr, report, obstacles);
  refuse(obstacles, Code::cannot_downgrade, "the operator sets of the model, for its functions");
  return made;
}

}  // namespace

FunctionIndex::FunctionIndex(const Model& model) {
  for (const auto& f : model.functions) by_key_.try_emplace(key(f->domain, f->name, f->overload), f.get());
}

const Function* FunctionIndex::find(const Node& node) const {
  if (by_key_.empty()) return nullptr;
  const auto it = by_key_.find(key(node.domain, node.op, node.overload));
  return it == by_key_.end() ? nullptr : it->second;
}

void resolve_references(Graph& body, const Function& function, const Node& call) {
  for_each_graph(body, [&](Graph& g) {
    for (Node& node : g.nodes()) resolve_node(node, function, call);
  });
}

GraphPtr body_as_called(const Function& function, const Node& call) {
  GraphPtr body = function.body->clone();
  resolve_references(*body, function, call);
  for (std::size_t i = 0; i < body->inputs().size(); ++i)
    if (const Value* given = call.input(i)) body->inputs()[i]->type = given->type;
  return body;
}

namespace {

/// `resolves`: attributes of the body still refer to those of the function.
std::size_t put_body(Node& call, const Function& function, bool resolves) {
  Graph& graph = call.graph();
  Graph::ValueMap map;
  const auto formals = function.body->inputs();
  for (std::size_t i = 0; i < formals.size(); ++i) map[formals[i]] = call.input(i);
  const std::string prefix = (call.name.empty() && call.output() ? call.output()->name() : call.name) + '/';
  std::size_t added = 0;
  for (const Node* node : sorted_body(function)) {
    Node* made = graph.add_copy(*node, map, &call, prefix);
    ++added;
    if (resolves) {
      resolve_node(*made, function, call);
      for_each_subgraph(*made, [&](Graph& g) { resolve_references(g, function, call); });
    }
    if (!call.metadata.empty()) made->metadata.insert(made->metadata.end(), call.metadata.begin(), call.metadata.end());
  }
  Values outputs;
  for (Value* output : function.body->outputs()) {
    const auto it = map.find(output);
    if (it == map.end() && output && !output->initializer)
      refuse(Code::undefined_value, function, "gives '" + output->name() + "', which nothing defines");
    outputs.push_back(it != map.end() ? it->second
                      : output        ? graph.add_initializer(graph.fresh_name(output->name()), *output->initializer)
                                      : nullptr);
  }
  for (std::size_t i = 0; i < call.output_count(); ++i) {
    if (!call.output(i) || call.output(i)->uses().empty() || (i < outputs.size() && outputs[i])) continue;
    refuse(Code::bad_arity, function, "does not give output " + std::to_string(i) + " of " + call.label());
  }
  replace_node(call, outputs);
  return added;
}

}  // namespace

std::size_t inline_call(Node& call, const Function& function) { return put_body(call, function, true); }

void inline_functions(Model& model, Budget* budget, const std::function<bool(const Function&)>& keep) {
  if (model.functions.empty()) return;
  const FunctionIndex index(model);
  // Bodies first, callees before callers: each body is then free of calls when it is used.
  std::unordered_set<const Function*> done, open;
  std::unordered_map<const Function*, OpsetImports*> imports;
  for (const auto& f : model.functions) imports.emplace(f.get(), &f->opsets);
  const auto wanted = [&](const Node& node) {
    const Function* f = index.find(node);
    return f && !(keep && keep(*f)) ? f : nullptr;
  };
  const auto inline_all = [&](Graph& root, OpsetImports& versions) {
    for_each_graph(root, [&](Graph& g) {
      for (Node& node : g.nodes()) {
        const Function* f = wanted(node);
        if (!f) continue;
        (budget ? *budget : current_budget()).charge_nodes(all_nodes(*f->body));
        const auto own = adapted(*f, node, versions);
        put_body(node, own ? *own : *f, !own);
      }
    });
  };
  struct Frame {
    const Function* function;
    std::vector<const Function*> callees;
    std::size_t next = 0;
  };
  const auto callees_of = [&](const Function& f) {
    std::vector<const Function*> callees;
    for_each_graph(*f.body, [&](Graph& g) {
      for (Node& node : g.nodes())
        if (const Function* callee = wanted(node)) callees.push_back(callee);
    });
    return callees;
  };
  for (const auto& root : model.functions) {
    if (done.contains(root.get())) continue;
    std::vector<Frame> stack;
    stack.push_back({root.get(), callees_of(*root)});
    open.insert(root.get());
    while (!stack.empty()) {
      Frame& frame = stack.back();
      if (frame.next == frame.callees.size()) {
        inline_all(*frame.function->body, *imports.at(frame.function));
        open.erase(frame.function);
        done.insert(frame.function);
        stack.pop_back();
        continue;
      }
      const Function* callee = frame.callees[frame.next++];
      if (done.contains(callee)) continue;
      if (!open.insert(callee).second)
        throw Error(Code::recursive_function, "function '" + callee->name + "' calls itself")
            .hint("functions of a model may not be recursive");
      stack.push_back({callee, callees_of(*callee)});
    }
  }
  for (const GraphPlace& place : all_graphs(model))
    if (!place.function && !place.graph->parent()) inline_all(*place.graph, model.opsets);
  for (const TrainingInfo& t : model.training)
    if (t.algorithm) inline_all(*t.algorithm, model.opsets);
  std::erase_if(model.functions, [&](const auto& f) { return !keep || !keep(*f); });
}

}  // namespace ingot::passes
