// Reverse-mode differentiation as a graph-to-graph step: gradients are ONNX nodes.
#include "ingot/train/autodiff.h"

#include <unordered_map>
#include <unordered_set>

#include "ingot/base/error.h"
#include "ingot/ops/catalog.h"
#include "ingot/ops/gradient.h"
#include "ingot/passes/decompose.h"

namespace ingot::train {
namespace {

using ValueSet = std::unordered_set<const Value*>;

/// Only real numbers carry gradients.
bool is_differentiable(const Value* v) { return !v->type || is_float(v->type.elem); }

std::vector<Node*> sorted_nodes(Graph& graph) {
  auto order = topological_order(graph);
  if (!order) throw Error(Code::not_sorted, "graph '" + graph.name + "' has a cycle");
  return *order;
}

/// The values that depend on one of `from` through real numbers.
ValueSet dependents(const std::vector<Node*>& nodes, const Values& from) {
  ValueSet reached(from.begin(), from.end());
  for (const Node* node : nodes) {
    bool touched = false;
    for (const Value* v : node->inputs()) touched |= v && reached.contains(v) && is_differentiable(v);
    if (!touched) continue;
    for (const Value* v : node->outputs())
      if (v && is_differentiable(v)) reached.insert(v);
  }
  return reached;
}

/// The values that `of` depends on.
ValueSet sources(const std::vector<Node*>& nodes, const Value* of) {
  ValueSet reached{of};
  for (auto it = nodes.rbegin(); it != nodes.rend(); ++it) {
    bool touched = false;
    for (const Value* v : (*it)->outputs()) touched |= v && reached.contains(v);
    if (!touched) continue;
    for (const Value* v : (*it)->inputs())
      if (v) reached.insert(v);
  }
  return reached;
}

std::vector<Node*> nodes_between(Graph& graph, const Values& wrt, const Value* of) {
  const std::vector<Node*> nodes = sorted_nodes(graph);
  const ValueSet down = dependents(nodes, wrt), up = sources(nodes, of);
  std::vector<Node*> between;
  for (Node* node : nodes) {
    bool is_on_path = false;
    for (const Value* v : node->outputs()) is_on_path |= v && down.contains(v) && up.contains(v);
    if (is_on_path) between.push_back(node);
  }
  return between;
}

Value* ones_like(GraphBuilder& g, Value* v) { return g.op("Expand", {g.scalar(1, v->type.elem), g.shape(v)}); }

/// Expresses operators without a rule in others; lists those for which nothing helps.
std::vector<Node*> make_differentiable(Graph& graph, const Values& wrt, const Value* of) {
  const auto has_rule = [](const Node& node) {
    const ops::OpDef* def = ops::find(node);
    return def && def->gradient;
  };
  constexpr int kRounds = 16;  // a decomposition may use operators that must be decomposed in turn
  for (int round = 0; round < kRounds; ++round) {
    bool changed = false;
    for (Node* node : nodes_between(graph, wrt, of))
      if (!has_rule(*node)) changed |= passes::decompose_node(*node);
    if (!changed) break;
  }
  std::vector<Node*> path = nodes_between(graph, wrt, of);
  std::string missing;
  for (const Node* node : path)
    if (!has_rule(*node)) missing += "\n  " + node->label() + " (" + node->op + ")";
  if (!missing.empty())
    throw Error(Code::not_differentiable, "these operators on the way have no gradient:" + missing)
        .hint("freeze what lies before them, or give them a meaning by a model-local function");
  return path;
}

}  // namespace

Values differentiate(Value* of, const Values& wrt, Value* seed) {
  Graph& graph = of->graph();
  const std::vector<Node*> path = make_differentiable(graph, wrt, of);
  GraphBuilder g(graph);
  g.name_after("gradient");
  std::unordered_map<const Value*, Value*> gradients;
  gradients[of] = seed ? seed : ones_like(g, of);
  const ValueSet wanted = dependents(path, wrt);
  for (auto it = path.rbegin(); it != path.rend(); ++it) {
    const Node& node = **it;
    Values dys;
    bool any = false;
    for (const Value* v : node.outputs()) {
      const auto found = v ? gradients.find(v) : gradients.end();
      dys.push_back(found == gradients.end() ? nullptr : found->second);
      any |= dys.back() != nullptr;
    }
    if (!any) continue;
    g.name_after("gradient/" + (node.name.empty() ? node.op : node.name));
    ops::GradContext context(g, node, std::move(dys));
    Values dxs;
    try {
      dxs = ops::find(node)->gradient(context);
    } catch (Error& error) {
      error.in_node(node.name, node.op);
      throw;
    }
    for (std::size_t i = 0; i < dxs.size() && i < node.input_count(); ++i) {
      Value* x = node.input(i);
      if (!x || !dxs[i] || !wanted.contains(x)) continue;
      Value*& sum = gradients[x];
      sum = sum ? g.add(sum, dxs[i]) : dxs[i];
    }
  }
  Values result;
  g.name_after("gradient");
  for (Value* v : wrt) {
    const auto found = gradients.find(v);
    result.push_back(found != gradients.end() ? found->second
                                              : g.op("ConstantOfShape", {g.shape(v)},
                                                     {{"value", Tensor::scalar(0, v->type.elem).reshaped({1})}}));
  }
  return result;
}

}  // namespace ingot::train
