// Reverse-mode differentiation as a graph-to-graph step: gradients are ONNX nodes.
#include "ingot/train/autodiff.h"

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "ingot/base/error.h"
#include "ingot/ir/drop_unread.h"
#include "ingot/ops/catalog.h"
#include "ingot/ops/generator/constant.h"
#include "ingot/ops/gradient.h"
#include "ingot/ops/sequence/elements.h"
#include "ingot/ops/well_formed.h"
#include "ingot/passes/decompose.h"
#include "ingot/train/control_flow.h"

namespace ingot::train {

bool stands_for_reals(const Value* v) {
  const Node* maker = v->producer();
  return maker && maker->is("QuantizeLinear") && is_integer(v->type.elem) && !v->uses().empty() &&
         std::ranges::all_of(v->uses(), [](const Use& use) { return use.node && use.node->is("DequantizeLinear"); });
}

namespace {

using ValueSet = std::unordered_set<const Value*>;
using Names = std::vector<std::string>;

/// Only real numbers carry gradients, and what stands for them.
bool is_differentiable(const Value* v) {
  if (stands_for_reals(v)) return true;
  const Type* type = &v->type;
  while (type->is_sequence()) type = &type->inner();
  return !*type || (type->is_tensor() && is_float(type->elem));
}

std::vector<Node*> sorted_nodes(Graph& graph) {
  auto order = topological_order(graph);
  if (!order) throw Error(Code::not_sorted, "graph '" + graph.name + "' has a cycle");
  return *order;
}

/// The values that depend on one of `from` through real numbers and through none of `stops`.
ValueSet dependents(const std::vector<Node*>& nodes, const Values& from, const Names& stops) {
  const std::unordered_set<std::string> stopped(stops.begin(), stops.end());
  ValueSet reached(from.begin(), from.end());
  for (const Node* node : nodes) {
    bool touched = false;
    for (const Value* v : reads_of(*node)) touched |= v && reached.contains(v) && is_differentiable(v);
    if (!touched) continue;
    for (const Value* v : node->outputs())
      if (v && is_differentiable(v) && !stopped.contains(v->name())) reached.insert(v);
  }
  return reached;
}

/// The values that the seeds depend on.
ValueSet sources(const std::vector<Node*>& nodes, const std::vector<Seed>& seeds) {
  ValueSet reached;
  for (const Seed& seed : seeds) reached.insert(seed.of);
  for (auto it = nodes.rbegin(); it != nodes.rend(); ++it) {
    bool touched = false;
    for (const Value* v : (*it)->outputs()) touched |= v && reached.contains(v);
    if (!touched) continue;
    for (const Value* v : reads_of(**it))
      if (v) reached.insert(v);
  }
  return reached;
}

std::vector<Node*> nodes_between(Graph& graph, const Values& wrt, const std::vector<Seed>& seeds, const Names& stops) {
  const std::vector<Node*> nodes = sorted_nodes(graph);
  const ValueSet down = dependents(nodes, wrt, stops), up = sources(nodes, seeds);
  std::vector<Node*> between;
  for (Node* node : nodes) {
    bool is_on_path = false;
    for (const Value* v : node->outputs()) is_on_path |= v && down.contains(v) && up.contains(v);
    if (is_on_path) between.push_back(node);
  }
  return between;
}

bool has_rule(const Node& node) {
  const ops::OpDef* def = ops::find(node);
  return (def && def->gradient) || is_control_flow(node);
}

/// How the node leads on to what is differentiated, as a list of names: "'h' -> 'y'".
std::string path_from(const Node& node, const std::vector<Node*>& path) {
  const std::unordered_set<const Node*> on_path(path.begin(), path.end());
  constexpr std::size_t kLongest = 6;
  std::string text;
  const Node* at = &node;
  for (std::size_t i = 0; at && i < kLongest; ++i) {
    const Value* shown = nullptr;
    const Node* next = nullptr;
    for (const Value* v : at->outputs()) {
      if (!v) continue;
      if (!shown) shown = v;
      for (const Use& use : v->uses()) {
        if (next || !use.node || !on_path.contains(use.node)) continue;
        next = use.node;
        shown = v;
      }
    }
    text += (text.empty() ? "'" : " -> '") + (shown ? shown->name() : at->name) + "'";
    at = next;
  }
  return at ? text + " -> ..." : text;
}

/// Those of `wrt` that the node depends on: what to freeze to do without its gradient.
std::string origins(const Node& node, const std::vector<Node*>& path, const Values& wrt) {
  constexpr std::size_t kShown = 3;
  std::unordered_set<const Value*> behind;
  const auto read = [&](const Node& reader) {
    for (const Value* v : reads_of(reader))
      if (v) behind.insert(v);
  };
  read(node);
  for (auto it = path.rbegin(); it != path.rend(); ++it)
    for (const Value* v : (*it)->outputs())
      if (v && behind.contains(v)) read(**it);
  std::string text;
  std::size_t count = 0;
  for (const Value* v : wrt)
    if (behind.contains(v) && ++count <= kShown) text += (text.empty() ? "'" : ", '") + v->name() + "'";
  return count > kShown ? text + " and " + std::to_string(count - kShown) + " more" : text;
}

std::string remedies(const Node& node) {
  std::string behind;
  for (const Value* v : node.outputs())
    if (v && behind.empty()) behind = "'" + v->name() + "'";
  return "freeze what it depends on (train --frozen, grad --wrt), stop gradients behind it (--stop-gradient " + behind +
         "), or let a function of the model say what it means";
}

[[noreturn]] void refuse(const std::vector<const Node*>& missing, const std::vector<Node*>& path, const Values& wrt) {
  constexpr std::size_t kShown = 100;
  std::string text = "these operators on the way have no gradient:";
  for (std::size_t i = 0; i < missing.size() && i < kShown; ++i) {
    const Node& node = *missing[i];
    text +=
        "\n  " + node.label() + " (" + node.op + "): from " + origins(node, path, wrt) + " to " + path_from(node, path);
  }
  if (missing.size() > kShown) text += "\n  and " + std::to_string(missing.size() - kShown) + " more";
  throw Error(Code::not_differentiable, text).hint(remedies(*missing.front()));
}

/// What is differentiated and by what, held as outputs of the graph while decompositions hand values' names on.
class Held {
 public:
  Held(Graph& graph, std::vector<Seed>& seeds, Values& wrt)
      : graph_(graph), seeds_(seeds), wrt_(wrt), first_(graph.output_count()) {
    for (const Seed& seed : seeds_) graph_.add_output(seed.of);
    for (Value* v : wrt_) graph_.add_output(&v->graph() == &graph_ ? v : seeds_.front().of);
  }
  ~Held() { graph_.resize_outputs(first_); }
  void refresh() {
    for (std::size_t i = 0; i < seeds_.size(); ++i) seeds_[i].of = graph_.output(first_ + i);
    for (std::size_t i = 0; i < wrt_.size(); ++i)
      if (&wrt_[i]->graph() == &graph_) wrt_[i] = graph_.output(first_ + seeds_.size() + i);
  }

 private:
  Graph& graph_;
  std::vector<Seed>& seeds_;
  Values& wrt_;
  std::size_t first_;
};

/// Expresses operators without a rule in others; lists those for which nothing helps.
std::vector<Node*> make_differentiable(Graph& graph, Values& wrt, std::vector<Seed>& seeds, const Names& stops) {
  constexpr int kRounds = 16;  // a decomposition may use operators that must be decomposed in turn
  Held held(graph, seeds, wrt);
  for (int round = 0; round < kRounds; ++round) {
    bool changed = false;
    for (Node* node : nodes_between(graph, wrt, seeds, stops))
      if (!has_rule(*node)) changed |= passes::decompose_node(*node);
    held.refresh();
    if (!changed) break;
  }
  std::vector<Node*> path = nodes_between(graph, wrt, seeds, stops);
  std::vector<const Node*> missing;
  for (const Node* node : path)
    if (!has_rule(*node)) missing.push_back(node);
  if (!missing.empty()) refuse(missing, path, wrt);
  return path;
}

/// What a rule built and nobody reads, from the last node back to `last_before`, goes.
void drop_unread_since(Graph& graph, const Node* last_before, const std::unordered_set<const Value*>& old_initializers,
                       const std::unordered_set<const Value*>& kept) {
  std::unordered_set<const Node*> built;
  for (const Node* node = graph.last(); node && node != last_before; node = node->previous()) built.insert(node);
  drop_unread(graph, [&](const Value& v) {
    const bool is_new = v.producer() ? built.contains(v.producer()) : !old_initializers.contains(&v);
    return &v.graph() != &graph || !is_new || kept.contains(&v);
  });
}

}  // namespace

Values differentiate(Graph& graph, const std::vector<Seed>& seeds, const Values& wrt, const Names& stops) {
  for (const std::string& name : stops)
    if (!graph.find(name))
      throw Error(Code::unknown_name, "gradients cannot stop at '" + name + "': the model has no such value");
  for (Node& node : graph.nodes())
    if (node.is("Constant")) ops::spell_out_constant(node);
  std::vector<Seed> current = seeds;
  Values inputs = wrt;
  const std::vector<Node*> path = make_differentiable(graph, inputs, current, stops);

  const Node* last_before = graph.last();
  std::unordered_set<const Value*> old_initializers(graph.initializers().begin(), graph.initializers().end());
  GraphBuilder g(graph);
  g.name_after("gradient");
  std::unordered_map<const Value*, Value*> gradients;
  const auto add = [&](const Value* x, Value* dx) {
    Value*& sum = gradients[x];
    sum = sum ? ops::sum_of(g, sum, dx) : dx;
  };
  for (const Seed& seed : current)
    add(seed.of, seed.weight ? seed.weight : g.op("Expand", {g.scalar(1, seed.of->type.elem), g.shape(seed.of)}));
  const ValueSet wanted = dependents(path, inputs, stops);
  for (auto it = path.rbegin(); it != path.rend(); ++it) {
    Node& node = **it;
    Values dys;
    bool any = false;
    for (const Value* v : node.outputs()) {
      const auto found = v ? gradients.find(v) : gradients.end();
      dys.push_back(found == gradients.end() ? nullptr : found->second);
      any |= dys.back() != nullptr;
    }
    if (!any) continue;
    g.name_after("gradient/" + (node.name.empty() ? node.op : node.name));
    const Values reads = reads_of(node);
    std::vector<bool> wants;
    for (const Value* v : reads) wants.push_back(v && wanted.contains(v) && is_differentiable(v));
    ops::GradContext context(g, node, std::move(dys), wants);
    Values dxs;
    try {
      ops::require_well_formed(node);
      dxs = is_control_flow(node) ? control_flow_gradient(context, reads) : ops::find(node)->gradient(context);
    } catch (Error& error) {
      error.in_node(node.name, node.op, node.label());
      if (error.code() == Code::not_differentiable) error.hint(remedies(node));
      throw;
    }
    for (std::size_t i = 0; i < dxs.size() && i < reads.size(); ++i)
      if (dxs[i] && wants[i]) add(reads[i], dxs[i]);
  }
  Values result;
  for (const Value* v : inputs) {
    const auto found = gradients.find(v);
    result.push_back(found != gradients.end() ? found->second : nullptr);
  }
  drop_unread_since(graph, last_before, old_initializers, {result.begin(), result.end()});
  return result;
}

Values differentiate(Value* of, const Values& wrt, Value* seed, const Names& stops) {
  Graph& graph = of->graph();
  Values result = differentiate(graph, {{of, seed}}, wrt, stops);
  GraphBuilder g(graph);
  g.name_after("gradient");
  for (std::size_t i = 0; i < wrt.size(); ++i) {
    if (result[i]) continue;  // then the value took part in nothing that was replaced
    result[i] = ops::zeros_like(g, wrt[i]);
  }
  return result;
}

}  // namespace ingot::train
