// Gradients of If, Loop, Scan and SequenceMap: the same node again, with the bodies' gradients as bodies.
#include "ingot/train/control_flow.h"

#include <algorithm>
#include <unordered_set>

#include "ingot/base/error.h"
#include "ingot/ops/infer.h"
#include "ingot/ops/sequence/elements.h"
#include "ingot/train/autodiff.h"

namespace ingot::train {
namespace {

bool is_real(const Value* v) { return v && v->type.is_tensor() && is_float(v->type.elem); }

Graph& body_of(const Node& node, std::string_view name) {
  const GraphPtr* body = node.attributes.get<GraphPtr>(name);
  if (!body || !*body) throw Error(Code::not_differentiable, "attribute '" + std::string(name) + "' is missing");
  return **body;
}

void infer_again(Node& node) {
  ops::InferSession session;
  ops::infer_node(node, session);
}

/// A gradient as an output of `graph`: made there, zeros where there is none.
void put_out(GraphBuilder& g, Value* gradient, Value* like) {
  if (!gradient) {
    gradient = ops::zeros_like(g, like);
  } else if (&gradient->graph() != &g.graph() || !gradient->producer()) {
    gradient = g.op("Identity", {gradient});
  }
  g.graph().add_output(gradient);
}

/// Whether a value of one type can have the other: no axis is known to differ.
bool may_be_same(const Type& a, const Type& b) {
  if (!a.shape || !b.shape) return true;
  if (a.shape->size() != b.shape->size()) return false;
  for (std::size_t i = 0; i < a.shape->size(); ++i) {
    const Dim &p = (*a.shape)[i], &q = (*b.shape)[i];
    if (p.is_known() && q.is_known() && p.value() != q.value()) return false;
  }
  return true;
}

/// What a branch does, differentiated, as a branch of its own. One whose results have other shapes than the gradients
/// that arrive is never taken: its own gradients are zeros.
GraphPtr branch_gradient(ops::GradContext& c, const Graph& branch, const Values& wanted) {
  GraphPtr copy = branch.clone(&c.g.graph(), *std::make_unique<Graph::ValueMap>());
  std::vector<Seed> seeds;
  bool may_run = true;
  for (std::size_t i = 0; i < copy->output_count(); ++i) {
    if (!c.dy(i)) continue;
    may_run &= may_be_same(copy->output(i)->type, c.dy(i)->type);
    seeds.push_back({copy->output(i), c.dy(i)});
  }
  const Values gradients = may_run ? differentiate(*copy, seeds, wanted) : Values(wanted.size());
  copy->resize_outputs(0);
  GraphBuilder g(*copy);
  for (std::size_t i = 0; i < wanted.size(); ++i) put_out(g, gradients[i], wanted[i]);
  return copy;
}

Values if_gradient(ops::GradContext& c, const Values& reads) {
  Values wanted;
  for (std::size_t i = 1; i < reads.size(); ++i)
    if (c.wants_read(i)) wanted.push_back(reads[i]);
  Values dxs(reads.size());
  if (wanted.empty()) return dxs;
  GraphPtr yes = branch_gradient(c, body_of(c.node, "then_branch"), wanted);
  GraphPtr no = branch_gradient(c, body_of(c.node, "else_branch"), wanted);
  Node* made = c.g.node("If", "", {c.x(0)}, {}, wanted.size());
  made->attributes.append(Attribute("then_branch", AttrValue(std::move(yes))));
  made->attributes.append(Attribute("else_branch", AttrValue(std::move(no))));
  infer_again(*made);
  std::size_t next = 0;
  for (std::size_t i = 1; i < reads.size(); ++i)
    if (c.wants_read(i)) dxs[i] = made->output(next++);
  return dxs;
}

/// How Loop and Scan differ, in one form. Along scanned axes, `reversed` ones run from the end.
struct Rounds {
  struct Axis {
    std::int64_t axis = 0;
    bool is_reversed = false;
  };
  bool is_loop = false;
  std::size_t first_state = 0;     // input of the node with the first state
  std::size_t first_body_in = 0;   // input of the body with the first state
  std::size_t first_body_out = 0;  // output of the body with the first state
  std::size_t states = 0;
  std::vector<Axis> ins, outs;  // what is scanned and put together
};

/// The numbers of inputs and outputs of the node and of its body, which all that follows counts on.
void require_fit(const Node& node, const Graph& body, std::size_t scanned) {
  const bool is_loop = node.is("Loop");
  const std::size_t inputs = is_loop ? std::max<std::size_t>(node.input_count(), 2) : node.input_count();
  const std::size_t others = is_loop ? 2 : scanned;
  const bool has_inputs = body.inputs().size() == inputs && inputs >= others && (is_loop || scanned > 0);
  const std::size_t results = body.output_count() - (is_loop && body.output_count() ? 1 : 0);
  if (has_inputs && (!is_loop || body.output_count()) && results >= inputs - others && node.output_count() <= results)
    return;
  throw Error(Code::bad_subgraph, "the inputs and outputs of the body do not fit those of the node");
}

Rounds read_rounds(const Node& node) {
  const Graph& body = body_of(node, "body");
  const std::int64_t stated = node.attributes.int_or("num_scan_inputs", 0);
  require_fit(node, body, static_cast<std::size_t>(std::max<std::int64_t>(stated, 0)));
  Rounds r;
  r.is_loop = node.is("Loop");
  if (r.is_loop) {
    r.first_state = r.first_body_in = 2;
    r.first_body_out = 1;
    r.states = body.inputs().size() - 2;
    r.outs.resize(body.output_count() - 1 - r.states);
    return r;
  }
  const auto scanned = static_cast<std::size_t>(stated);
  r.states = body.inputs().size() - scanned;
  r.ins.resize(scanned);
  r.outs.resize(body.output_count() - r.states);
  const auto fill = [&](std::vector<Rounds::Axis>& axes, const char* numbers, const char* directions) {
    const auto at = node.attributes.ints_or(numbers, {}), ways = node.attributes.ints_or(directions, {});
    for (std::size_t i = 0; i < axes.size(); ++i)
      axes[i] = {i < at.size() ? at[i] : 0, i < ways.size() && ways[i] != 0};
  };
  fill(r.ins, "scan_input_axes", "scan_input_directions");
  fill(r.outs, "scan_output_axes", "scan_output_directions");
  return r;
}

/// Makes the node put out one more value of each round; returns it, stacked along axis 0.
Value* record(Node& node, Value* of_body, const std::string& base) {
  Graph& body = body_of(node, "body");
  GraphBuilder inner(body);
  body.add_output(inner.op("Identity", {of_body}));
  if (node.is("Scan")) {
    for (const char* name : {"scan_output_axes", "scan_output_directions"}) {
      auto numbers = node.attributes.ints_or(name, {});
      if (numbers.empty()) continue;
      numbers.push_back(0);
      node.attributes.set(Attribute(name, AttrValue(numbers)));
    }
  }
  return node.add_output(node.graph().fresh_name(base));
}

/// The body's nodes with other values as inputs, inside another graph.
void copy_body(const Graph& body, Graph& into, Graph::ValueMap& map) {
  for (const Value* v : body.initializers())
    if (v->initializer && !map.contains(v)) map[v] = into.add_initializer(into.fresh_name(v->name()), *v->initializer);
  const auto order = topological_order(body);
  if (!order) throw Error(Code::not_sorted, "a loop's body has a cycle");
  for (const Node* node : *order) {
    Node* copy = into.add_copy(*node, map);
    for (std::size_t i = 0; i < copy->output_count(); ++i)
      if (copy->output(i) && node->output(i)) copy->output(i)->type = node->output(i)->type;
    ops::InferSession session;
    ops::infer_node(*copy, session);
  }
}

/// Zeros or the gradient that arrives, for a state that is carried backwards.
Value* or_zeros(GraphBuilder& g, Value* gradient, Value* like) {
  return gradient ? gradient : ops::zeros_like(g, like);
}

Values rounds_gradient(ops::GradContext& c, const Values& reads) {
  GraphBuilder& g = c.g;
  Node& node = c.node;
  const Rounds r = read_rounds(node);
  const std::size_t input_count = node.input_count();
  Graph& body = body_of(node, "body");
  const std::string base = node.output() ? node.output()->name() : node.op;
  // What the node leaves out at the end has its place before what is recorded.
  while (node.output_count() + (r.is_loop ? 1 : 0) < body.output_count()) node.add_output({});

  // The forward loop records the state that each round began with, and a Loop the number of each round.
  Values began, numbers;
  for (std::size_t i = 0; i < r.states; ++i) {
    if (!body.inputs()[r.first_body_in + i]->type.is_tensor()) c.fail("a loop's state is no tensor");
    began.push_back(record(node, body.inputs()[r.first_body_in + i], base + "/state"));
  }
  Value* numbered = r.is_loop ? record(node, body.inputs()[0], base + "/round") : nullptr;
  infer_again(node);
  Value* count = nullptr;
  if (r.is_loop)
    count = g.op("Size", {numbered});
  else
    count = g.op("Gather", {g.shape(node.input(r.states)), g.index(r.ins.at(0).axis)});

  // What the backward loop carries: gradients of the states, and sums for what the body captures.
  std::vector<std::size_t> real_states, captures;
  for (std::size_t i = 0; i < r.states; ++i)
    if (is_real(node.output(i)) && is_real(node.input(r.first_state + i))) real_states.push_back(i);
  for (std::size_t i = input_count; i < reads.size(); ++i)
    if (c.wants_read(i)) captures.push_back(i);
  Values carried = {count, nullptr};
  for (const std::size_t i : real_states) carried.push_back(or_zeros(g, c.dy(i), node.output(i)));
  for (const std::size_t i : captures) carried.push_back(or_zeros(g, nullptr, reads[i]));

  auto back = std::make_unique<Graph>(&g.graph());
  back->name = "backwards";
  Value* round = back->add_input(g.graph().fresh_name("round"), Type::tensor(DType::i64, Shape{}));
  Value* goes_on = back->add_input(g.graph().fresh_name("goes_on"), Type::tensor(DType::boolean, Shape{}));
  Values carried_in;
  for (std::size_t i = 2; i < carried.size(); ++i)
    carried_in.push_back(back->add_input(g.graph().fresh_name("carried"), carried[i]->type));
  GraphBuilder inner(*back);
  inner.name_after("backwards");
  Value* last = inner.sub(count, inner.index(1));
  Value* at = inner.sub(last, round);  // the round that is undone
  const auto place = [&](bool is_reversed) { return is_reversed ? round : at; };
  Graph::ValueMap map;
  if (r.is_loop) {
    map[body.inputs()[0]] = at;
    map[body.inputs()[1]] = inner.constant(Tensor::of<bool>({}, {true}));
  }
  for (std::size_t i = 0; i < r.states; ++i)
    map[body.inputs()[r.first_body_in + i]] = inner.op("Gather", {began[i], at});
  for (std::size_t i = 0; i < r.ins.size(); ++i)
    map[body.inputs()[r.states + i]] =
        inner.op("Gather", {node.input(r.states + i), place(r.ins[i].is_reversed)}, {{"axis", r.ins[i].axis}});
  copy_body(body, *back, map);
  const auto copied = [&](Value* v) {
    const auto found = map.find(v);
    return found == map.end() ? v : found->second;
  };

  std::vector<Seed> seeds;
  for (std::size_t k = 0; k < real_states.size(); ++k)
    seeds.push_back({copied(body.output(r.first_body_out + real_states[k])), carried_in[k]});
  for (std::size_t i = 0; i < r.outs.size(); ++i) {
    Value* dy = c.dy(r.states + i);
    if (!dy) continue;
    Value* slice = inner.op("Gather", {dy, place(r.outs[i].is_reversed)}, {{"axis", r.outs[i].axis}});
    seeds.push_back({copied(body.output(r.first_body_out + r.states + i)), slice});
  }
  Values wrt;
  for (const std::size_t i : real_states) wrt.push_back(copied(body.inputs()[r.first_body_in + i]));
  for (const std::size_t i : captures) wrt.push_back(reads[i]);
  std::vector<std::size_t> scanned;
  for (std::size_t i = 0; i < r.ins.size(); ++i)
    if (c.wants_read(r.states + i)) {
      scanned.push_back(i);
      wrt.push_back(copied(body.inputs()[r.states + i]));
    }
  const Values gradients = seeds.empty() ? Values(wrt.size()) : differentiate(*back, seeds, wrt);
  back->add_output(inner.op("Identity", {goes_on}));
  for (std::size_t k = 0; k < wrt.size(); ++k) {
    const bool is_sum = k >= real_states.size() && k < real_states.size() + captures.size();
    Value* gradient = gradients[k];
    if (is_sum) gradient = gradient ? inner.add(carried_in[k], gradient) : carried_in[k];
    put_out(inner, gradient, wrt[k]);
  }

  carried[1] = g.constant(Tensor::of<bool>({}, {true}));
  Node* made = g.node("Loop", "", carried, {}, wrt.size());
  made->attributes.append(Attribute("body", AttrValue(std::move(back))));
  infer_again(*made);
  Values dxs(reads.size());
  for (std::size_t k = 0; k < real_states.size(); ++k) dxs[r.first_state + real_states[k]] = made->output(k);
  for (std::size_t k = 0; k < captures.size(); ++k) dxs[captures[k]] = made->output(real_states.size() + k);
  for (std::size_t k = 0; k < scanned.size(); ++k) {
    // Stacked in the order of the backward rounds, along axis 0.
    Value* dx = made->output(real_states.size() + captures.size() + k);
    const Rounds::Axis& axis = r.ins[scanned[k]];
    if (!axis.is_reversed) {
      constexpr std::int64_t kBeforeFirst = std::numeric_limits<std::int64_t>::min();
      dx = g.op("Slice", {dx, g.ints({-1}), g.ints({kBeforeFirst}), g.ints({0}), g.ints({-1})});
    }
    if (axis.axis != 0) {
      const std::int64_t rank = c.rank(r.states + scanned[k]);
      const std::int64_t to = axis.axis < 0 ? axis.axis + rank : axis.axis;
      std::vector<std::int64_t> perm;
      for (std::int64_t i = 1; i < rank; ++i) perm.push_back(i);
      perm.insert(perm.begin() + to, 0);
      dx = g.transpose(dx, perm);
    }
    dxs[r.states + scanned[k]] = dx;
  }
  return dxs;
}

/// The sum of a sequence's elements, which all have the shape of `like`; zeros for an empty one.
Value* sum_of_elements(GraphBuilder& g, Value* sequence, Value* like) {
  Value* never_empty = g.op("SequenceInsert", {sequence, ops::zeros_like(g, like)});
  Value* stacked = g.op("ConcatFromSequence", {never_empty}, {{"axis", 0}, {"new_axis", 1}});
  return g.reduce_sum(stacked, {0}, false);
}

/// SequenceMap: the body's gradient over the same elements and those of the outputs' gradients.
Values map_gradient(ops::GradContext& c, const Values& reads) {
  GraphBuilder& g = c.g;
  GraphPtr body = body_of(c.node, "body").clone(&g.graph(), *std::make_unique<Graph::ValueMap>());
  if (body->inputs().size() != c.node.input_count()) c.fail("the body does not have the inputs of the node");
  Values inputs = c.node.inputs();
  std::vector<Seed> seeds;
  for (std::size_t i = 0; i < c.node.output_count(); ++i) {
    if (!c.dy(i)) continue;
    if (!body->output(i)) c.fail("the body does not give all outputs of the node");
    inputs.push_back(c.dy(i));
    seeds.push_back({body->output(i), body->add_input(g.graph().fresh_name("weight"), c.dy(i)->type.inner())});
  }
  std::vector<std::size_t> wanted;
  Values wrt;
  for (std::size_t i = 0; i < reads.size(); ++i) {
    if (!c.wants_read(i)) continue;
    wanted.push_back(i);
    wrt.push_back(i < c.node.input_count() ? body->inputs()[i] : reads[i]);
  }
  Values dxs(reads.size());
  if (wanted.empty()) return dxs;
  const Values gradients = differentiate(*body, seeds, wrt);
  body->resize_outputs(0);
  GraphBuilder inner(*body);
  for (std::size_t k = 0; k < wrt.size(); ++k) put_out(inner, gradients[k], wrt[k]);
  Node* made = g.node("SequenceMap", "", inputs, {}, wanted.size());
  made->attributes.append(Attribute("body", AttrValue(std::move(body))));
  infer_again(*made);
  for (std::size_t k = 0; k < wanted.size(); ++k) {
    Value* read = reads[wanted[k]];
    const bool is_mapped = wanted[k] < c.node.input_count() && read->type.is_sequence();
    dxs[wanted[k]] = is_mapped ? made->output(k) : sum_of_elements(g, made->output(k), read);
  }
  return dxs;
}

}  // namespace

bool is_control_flow(const Node& node) {
  return node.is("If") || node.is("Loop") || node.is("Scan") || node.is("SequenceMap");
}

Values captured_values(const Node& node) {
  Values captured;
  std::unordered_set<const Value*> seen;
  std::unordered_set<const Graph*> inside;
  std::vector<Graph*> graphs;
  for_each_subgraph(node, [&](Graph& root) {
    for_each_graph(root, [&](Graph& graph) {
      inside.insert(&graph);
      graphs.push_back(&graph);
    });
  });
  const auto read = [&](Value* v) {
    if (v && !inside.contains(&v->graph()) && seen.insert(v).second) captured.push_back(v);
  };
  for (Graph* graph : graphs) {
    for (const Node& inner : graph->nodes())
      for (Value* v : inner.inputs()) read(v);
    for (Value* v : graph->outputs()) read(v);
  }
  return captured;
}

Values control_flow_gradient(ops::GradContext& c, const Values& reads) {
  if (c.node.is("If")) return if_gradient(c, reads);
  return c.node.is("SequenceMap") ? map_gradient(c, reads) : rounds_gradient(c, reads);
}

}  // namespace ingot::train
