// Gradients of If, Loop, Scan and SequenceMap: the same node again, with the bodies' gradients as bodies.
#include "ingot/train/control_flow.h"

#include <unordered_set>

#include "ingot/ops/sequence/elements.h"
#include "ingot/train/autodiff.h"
#include "ingot/train/loop_gradient.h"
#include "ingot/train/subgraphs.h"

namespace ingot::train {
namespace {

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
  for (std::size_t i = 0; i < wanted.size(); ++i) add_gradient_output(g, gradients[i], wanted[i]);
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
  for (std::size_t k = 0; k < wrt.size(); ++k) add_gradient_output(inner, gradients[k], wrt[k]);
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

Values reads_of(const Node& node) {
  Values reads = node.inputs();
  const Values captured = captured_values(node);
  reads.insert(reads.end(), captured.begin(), captured.end());
  return reads;
}

Values control_flow_gradient(ops::GradContext& c, const Values& reads) {
  if (c.node.is("If")) return if_gradient(c, reads);
  return c.node.is("SequenceMap") ? map_gradient(c, reads) : loop_gradient(c, reads);
}

}  // namespace ingot::train
