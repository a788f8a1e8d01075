// The choice of layouts as a minimum cut. Channels first is the source's side, channels last the sink's.
#include "ingot/passes/layout/problem.h"

#include <algorithm>

#include "ingot/ops/infer.h"
#include "ingot/ops/schema.h"
#include "ingot/ops/well_formed.h"

namespace ingot::passes {
namespace {

using Kind = NodeRole::Kind;

/// Bytes decide; among equals, the fewest nodes.
constexpr std::int64_t kPerByte = 1 << 16;

bool is_constant(const Value* value) { return ops::constant_of(value) != nullptr; }
bool can_vary(const Value* value) { return layout_rank(value) && !is_constant(value); }

/// Rules take what operators require for granted.
bool has_flaw(const Node& node) {
  const ops::Schema* schema = ops::newest_schema(node.domain, node.op);
  return schema && !ops::flaw_of(node, *schema).empty();
}

/// The values of tied ports that have a choice.
std::vector<const Value*> tied_values(const Node& node, const Ports& ports) {
  std::vector<const Value*> values;
  for (std::size_t i = 0; i < ports.in.size(); ++i)
    if (ports.in[i] == Port::tied && can_vary(node.input(i))) values.push_back(node.input(i));
  for (std::size_t i = 0; i < ports.out.size(); ++i)
    if (ports.out[i] == Port::tied && can_vary(node.output(i))) values.push_back(node.output(i));
  return values;
}

Ports no_ports(const Node& node) {
  return {std::vector<Port>(node.input_count(), Port::as_is), std::vector<Port>(node.output_count(), Port::as_is)};
}

/// The bodies whose outputs (from `skip` on) are the node's outputs; empty: no control flow that is understood.
struct Bodies {
  std::vector<Graph*> graphs;
  std::size_t skip = 0;
};
Bodies bodies_of(const Node& node) {
  Bodies bodies;
  const auto add = [&](std::string_view name) {
    const GraphPtr* graph = node.attributes.get<GraphPtr>(name);
    if (graph && *graph) bodies.graphs.push_back(graph->get());
  };
  if (node.is("If")) {
    add("then_branch");
    add("else_branch");
    if (bodies.graphs.size() != 2) bodies.graphs.clear();
  } else if (node.is("Loop")) {
    add("body");
    bodies.skip = 1;
  }
  return bodies;
}

}  // namespace

LayoutProblem::LayoutProblem(Graph& root, const LayoutOptions& options) : options_(options) {
  for_each_graph(root, [&](Graph& g) { graphs_.push_back(&g); });
  assign_roles();
  add_variables();
}

void LayoutProblem::assign_roles() {
  // First what is certain: spatial operators, then transposes, then what carries layouts on.
  for (Graph* graph : graphs_)
    for (Node& node : graph->nodes()) {
      NodeRole& role = roles_[&node];
      role.ports = no_ports(node);
      if (!is_spatial(node) || !layout_rank(node.input(0)) || !layout_rank(node.output(0))) continue;
      role.kind = Kind::spatial;
      role.ports.tie_in(0);
      role.ports.tie_out(0);
      for (const Value* v : tied_values(node, role.ports))
        if (!tags_.fix(v, Layout::channels_first)) role.kind = Kind::opaque;
    }
  for (Graph* graph : graphs_)
    for (Node& node : graph->nodes())
      if (node.is("Transpose")) plan_transpose(node, roles_[&node]);
  for (Graph* graph : graphs_)
    for (Node& node : graph->nodes()) plan(node);
  // Now that layouts are known, rules that depend on them decide.
  for (Graph* graph : graphs_)
    for (Node& node : graph->nodes()) {
      NodeRole& role = roles_[&node];
      if (role.kind != Kind::flexible) continue;
      const std::vector<const Value*> tied = tied_values(node, role.ports);
      role.from = tags_.of(tied.front());
      Ports ports = no_ports(node);
      const bool fits = role.rule->plan(node, role.from, ports);
      role.ports = ports;
      const std::vector<const Value*> left = tied_values(node, ports);
      const bool agree =
          std::ranges::all_of(left, [&](const Value* v) { return tags_.of(v) == role.from; }) && !left.empty();
      if (fits && agree) continue;
      role.kind = Kind::opaque;
      role.ports = no_ports(node);
    }
}

void LayoutProblem::plan_transpose(Node& node, NodeRole& role) {
  const Value *x = node.input(0), *y = node.output(0);
  const Perm perm = perm_of(node);
  if (!layout_rank(x) || layout_rank(y) != layout_rank(x) || perm.empty() || is_constant(x)) return;
  role.kind = Kind::adapting;
  role.ports.tie_in(0);
  role.ports.tie_out(0);
  const std::size_t rank = perm.size();
  const bool to_first = perm == layout_perm(rank, Layout::channels_last, Layout::channels_first);
  const bool to_last = perm == layout_perm(rank, Layout::channels_first, Layout::channels_last);
  if (!to_first && !to_last) return;
  bool fits = tags_.relate(x, y, true);
  if (fits && to_first != to_last) fits = tags_.fix(y, to_first ? Layout::channels_first : Layout::channels_last);
  if (fits) role.kind = Kind::flip;
}

void LayoutProblem::plan(Node& node) {
  NodeRole& role = roles_[&node];
  if (role.kind != Kind::opaque || has_flaw(node)) return;
  if ((node.is("Shape") || node.is("Size")) && can_vary(node.input(0))) {
    role.kind = Kind::adapting;
    role.ports.tie_in(0);
    return;
  }
  if (!bodies_of(node).graphs.empty()) return plan_control_flow(node, role);
  role.rule = layout_rule(node);
  Ports ports = no_ports(node);
  if (!role.rule || !role.rule->plan(node, std::nullopt, ports) || !tie(node, ports)) return;
  role.kind = Kind::flexible;
  role.ports = ports;
}

/// States that the tied values have one layout.
bool LayoutProblem::tie(const Node& node, const Ports& ports) {
  const std::vector<const Value*> values = tied_values(node, ports);
  for (const Value* v : values)
    if (!tags_.relate(values.front(), v, false)) return false;
  return !values.empty();
}

void LayoutProblem::plan_control_flow(Node& node, NodeRole& role) {
  const Bodies bodies = bodies_of(node);
  role.kind = Kind::loop;
  role.variables.assign(node.output_count(), -1);
  const bool is_loop = bodies.skip == 1;
  for (Graph* body : bodies.graphs) inner_outputs_[body].assign(body->output_count(), -1);
  const std::size_t states = is_loop ? std::max<std::size_t>(node.input_count(), 2) - 2 : node.output_count();
  for (std::size_t i = 0; i < std::min(states, node.output_count()); ++i) {
    std::vector<Value*> one{node.output(i)};
    for (Graph* body : bodies.graphs) one.push_back(body->output(bodies.skip + i));
    if (is_loop) {
      one.push_back(node.input(2 + i));
      one.push_back(2 + i < bodies.graphs[0]->inputs().size() ? bodies.graphs[0]->inputs()[2 + i] : nullptr);
    }
    // A value that two bodies or two outputs share would have to be one choice with them: leave those alone.
    const std::size_t rank = layout_rank(one.front());
    const bool fits = rank && std::ranges::all_of(one, [&](Value* v) {
                        return layout_rank(v) == rank && can_vary(v) && tags_.relate(one.front(), v, false);
                      });
    if (!fits) continue;
    role.variables[i] = 0;
    role.ports.tie_out(i);
    for (Graph* body : bodies.graphs) inner_outputs_[body][bodies.skip + i] = 0;
    if (is_loop) {
      role.ports.tie_in(2 + i);
      inner_inputs_[bodies.graphs[0]->inputs()[2 + i]] = 0;
    }
  }
}

void LayoutProblem::add_variables() {
  const auto variable = [&](Layout tag) {
    const int v = cut_.add_vertex();
    when_free_[v] = tag;
    return v;
  };
  for (Graph* graph : graphs_)
    for (Node& node : graph->nodes()) {
      NodeRole& role = roles_[&node];
      if (role.kind == Kind::flexible) role.variables = {variable(role.from)};
      if (role.kind == Kind::flip) role.variables = {variable(tags_.of(node.output(0)))};
      if (role.kind == Kind::adapting) {
        const int in = variable(tags_.of(node.input(0)));
        role.variables = {in, node.is("Transpose") ? variable(tags_.of(node.output(0))) : in};
      }
      if (role.kind != Kind::loop) continue;
      const Bodies bodies = bodies_of(node);
      for (std::size_t i = 0; i < role.variables.size(); ++i) {
        if (role.variables[i] < 0) continue;
        role.variables[i] = variable(tags_.of(node.output(i)));
        for (Graph* body : bodies.graphs) inner_outputs_[body][bodies.skip + i] = role.variables[i];
        if (bodies.skip) inner_inputs_[bodies.graphs[0]->inputs()[2 + i]] = role.variables[i];
      }
    }
}

LayoutChoice LayoutProblem::producer(const Value* value) const {
  const LayoutChoice as_is{-1, tags_.of(value)};
  const Node* node = value->producer();
  if (!node) {
    const auto inner = inner_inputs_.find(value);
    return inner != inner_inputs_.end() ? LayoutChoice{inner->second} : as_is;
  }
  const NodeRole& role = roles_.at(node);
  if (value->output_index() >= role.ports.out.size() || role.ports.out[value->output_index()] != Port::tied)
    return as_is;
  if (role.kind == Kind::spatial) return {-1, options_.wanted ? options_.wanted(*node) : Layout::channels_first};
  if (role.kind == Kind::loop) return {role.variables[value->output_index()]};
  return {role.kind == Kind::adapting ? role.variables[1] : role.variables[0]};
}

LayoutChoice LayoutProblem::consumer(const Value* value, const Use& use) const {
  const LayoutChoice as_is{-1, tags_.of(value)};
  if (!use.node) {
    const auto inner = inner_outputs_.find(use.graph);
    return inner != inner_outputs_.end() && inner->second[use.index] >= 0 ? LayoutChoice{inner->second[use.index]}
                                                                          : as_is;
  }
  const NodeRole& role = roles_.at(use.node);
  if (use.index >= role.ports.in.size() || role.ports.in[use.index] != Port::tied) return as_is;
  if (role.kind == Kind::spatial) return {-1, options_.wanted ? options_.wanted(*use.node) : Layout::channels_first};
  if (role.kind == Kind::loop) return {role.variables[use.index - 2]};
  return {role.variables[0]};
}

std::int64_t LayoutProblem::bytes(const Value* value, const Perm& perm) const {
  return moves_nothing(*value->type.shape, perm) ? 0 : bytes(value);
}

std::int64_t LayoutProblem::bytes(const Value* value) const {
  const Shape& shape = *value->type.shape;
  constexpr std::int64_t kMost = std::int64_t{1} << 36;
  std::int64_t total = std::max<std::int64_t>(1, bits_of(value->type.elem));
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const std::int64_t assumed = i ? options_.assumed_size : options_.assumed_batch;
    total *= std::clamp<std::int64_t>(shape[i].as_int().value_or(assumed), 1, 1 << 20);
    total = std::min(total, kMost);
  }
  return (total + 7) / 8;
}

/// A transposed copy is paid once, if any reader's layout is not the one in which the value is made.
void LayoutProblem::add_value_costs(const Value* value) {
  if (!can_vary(value)) return;
  const Layout tag = tags_.of(value);
  const std::int64_t weight = bytes(value, layout_perm(layout_rank(value), tag, other(tag))) * kPerByte + 1;
  const LayoutChoice made = producer(value);
  std::vector<LayoutChoice> readers;
  for (const Use& use : value->uses()) {
    const LayoutChoice reader = consumer(value, use);
    const bool is_same = reader.variable == made.variable && (made.variable >= 0 || reader.fixed == made.fixed);
    if (!is_same) readers.push_back(reader);
  }
  if (readers.empty()) return;
  // One vertex for "made first, read last", one for the reverse.
  for (const Layout from : {Layout::channels_first, Layout::channels_last}) {
    if (made.variable < 0 && made.fixed != from) continue;
    const int copy = cut_.add_vertex();
    const auto edge = [&](int a, int b, std::int64_t capacity) {
      from == Layout::channels_first ? cut_.add_edge(a, b, capacity) : cut_.add_edge(b, a, capacity);
    };
    const auto terminal = [&](int v, bool is_start, std::int64_t capacity) {
      (from == Layout::channels_first) == is_start ? cut_.add_source_edge(v, capacity)
                                                   : cut_.add_sink_edge(v, capacity);
    };
    if (made.variable >= 0)
      edge(made.variable, copy, weight);
    else
      terminal(copy, true, weight);
    for (const LayoutChoice& reader : readers) {
      if (reader.variable >= 0)
        edge(copy, reader.variable, MinCut::kNever);
      else if (reader.fixed != from)
        terminal(copy, false, MinCut::kNever);
    }
  }
}

/// What permuting a node costs by itself: operands of fewer dimensions, and what the caller says.
void LayoutProblem::add_node_costs(const Node& node) {
  const NodeRole& role = roles_.at(&node);
  if (role.kind != Kind::flexible) return;
  const Value* data = tied_values(node, role.ports).front();
  const Perm perm = layout_perm(layout_rank(data), role.from, other(role.from));
  std::int64_t moved = 0, stays = 0;
  for (std::size_t i = 0; i < role.ports.in.size(); ++i)
    if (role.ports.in[i] == Port::lowered && !is_constant(node.input(i))) {
      const Shape& shape = *node.input(i)->type.shape;
      Shape full(perm.size() - shape.size(), Dim(1));
      full.insert(full.end(), shape.begin(), shape.end());
      if (!moves_nothing(full, perm)) moved += bytes(node.input(i));
    }
  if (options_.penalty) {
    Perm identity(perm.size());
    for (std::size_t i = 0; i < identity.size(); ++i) identity[i] = static_cast<std::int64_t>(i);
    moved += options_.penalty(node, perm);
    stays += options_.penalty(node, identity);
  }
  const bool from_first = role.from == Layout::channels_first;
  const std::int64_t first = from_first ? stays : moved, last = from_first ? moved : stays;
  if (last) cut_.add_source_edge(role.variables[0], last * kPerByte);
  if (first) cut_.add_sink_edge(role.variables[0], first * kPerByte);
}

std::int64_t LayoutProblem::solve() {
  for (Graph* graph : graphs_) {
    for (const Value* v : graph->inputs()) add_value_costs(v);
    for (Node& node : graph->nodes()) {
      for (const Value* v : node.outputs())
        if (v) add_value_costs(v);
      add_node_costs(node);
    }
  }
  return cut_.solve() / kPerByte;
}

Layout LayoutProblem::layout(const LayoutChoice& choice) const {
  if (choice.variable < 0) return choice.fixed;
  if (cut_.is_free(choice.variable)) return when_free_.at(choice.variable);
  return cut_.on_source_side(choice.variable) ? Layout::channels_first : Layout::channels_last;
}

Layout LayoutProblem::of_node(const Node& node) const {
  const NodeRole& role = roles_.at(&node);
  if (role.kind == Kind::spatial) return options_.wanted ? options_.wanted(node) : Layout::channels_first;
  return layout({role.variables.at(0)});
}

}  // namespace ingot::passes
