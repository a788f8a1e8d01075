// Gradients for inference: forces from energies, saliency, guidance.
#include "ingot/train/gradient_model.h"

#include <unordered_set>

#include "ingot/base/error.h"
#include "ingot/ops/builder.h"
#include "ingot/ops/infer.h"
#include "ingot/ops/well_formed.h"
#include "ingot/passes/canonicalize.h"
#include "ingot/passes/inline_functions.h"
#include "ingot/train/autodiff.h"
#include "ingot/train/control_flow.h"
#include "ingot/train/expand_gradients.h"

namespace ingot::train {
namespace {

Value* find_real(Graph& graph, const std::string& name) {
  Value* v = graph.find(name);
  if (!v) throw Error(Code::unknown_name, "the model has no value '" + name + "'");
  if (!is_float(v->type.elem))
    throw Error(Code::not_differentiable, "'" + name + "' is " + v->type.str() + ": only real numbers have gradients");
  return v;
}

Values find_all(Graph& graph, const std::vector<std::string>& names) {
  Values found;
  for (const std::string& name : names) found.push_back(find_real(graph, name));
  return found;
}

/// All that depends on `seed`, moved into a body that a Scan runs once per element of `of`.
Values jacobian(Graph& graph, const std::string& of_name, const std::vector<std::string>& names,
                const std::vector<std::string>& stops) {
  Value* of = find_real(graph, of_name);
  Value* seed = graph.add_input(graph.fresh_name("seed"), of->type);
  const Values rows = differentiate(of, find_all(graph, names), seed, stops);
  of = graph.find(of_name);
  Values wrt = find_all(graph, names);

  auto body = std::make_unique<Graph>(&graph);
  body->name = "row";
  GraphBuilder b(*body);
  b.name_after("jacobian");
  Value* one_hot = body->add_input(graph.fresh_name("one_hot"), Type::tensor(of->type.elem, Shape{Dim()}));
  Graph::ValueMap map;
  map[seed] = b.op("Reshape", {one_hot, b.op("Shape", {of})});
  std::unordered_set<const Value*> depends{seed};
  std::vector<Node*> moved;
  const auto order = topological_order(graph);
  if (!order) throw Error(Code::not_sorted, "the gradient graph has a cycle");
  for (Node* node : *order) {
    bool reads_seed = false;
    for (const Value* v : reads_of(*node)) reads_seed |= v && depends.contains(v);
    if (!reads_seed) continue;
    for (const Value* v : node->outputs())
      if (v) depends.insert(v);
    Node* copy = body->add_copy(*node, map);
    for (std::size_t i = 0; i < copy->output_count(); ++i)
      if (copy->output(i)) copy->output(i)->type = node->output(i)->type;
    moved.push_back(node);
  }
  for (Value* row : rows) {
    const auto found = map.find(row);
    Value* out = found == map.end() ? b.op("Identity", {row}) : found->second;
    if (!out->producer()) out = b.op("Identity", {out});
    body->add_output(out);
  }
  GraphBuilder g(graph);
  g.name_after("jacobian");
  Value* size = g.op("Reshape", {g.op("Size", {of}), g.ints({1})});
  Value* square = g.op("Concat", {size, size}, {{"axis", 0}});
  Value* blank = g.op("Expand", {g.scalar(0, of->type.elem), square});
  Value* identity = g.op("EyeLike", {blank});
  Node* scan = g.node("Scan", "", {identity}, {{"num_scan_inputs", 1}}, rows.size());
  scan->attributes.append(Attribute("body", AttrValue(GraphPtr(std::move(body)))));
  ops::InferSession session;
  ops::infer_node(*scan, session);
  Values made;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    Value* of_dims = g.shape(of);
    Value* dims = g.op("Concat", {of_dims, g.shape(wrt[i])}, {{"axis", 0}});
    made.push_back(g.op("Reshape", {scan->output(i), dims}));
  }
  for (auto node = moved.rbegin(); node != moved.rend(); ++node) graph.erase(*node);
  graph.erase_inputs_if([&](const Value& v) { return &v == seed; });
  return made;
}

/// The gradient along a direction, differentiated again.
Values hessian_vector(Graph& graph, const std::string& of_name, const std::vector<std::string>& names,
                      const std::vector<std::string>& stops) {
  const Values first = differentiate(find_real(graph, of_name), find_all(graph, names), nullptr, stops);
  GraphBuilder g(graph);
  g.name_after("hessian");
  Value* along = nullptr;
  for (std::size_t i = 0; i < names.size(); ++i) {
    Value* v = graph.add_input(graph.fresh_name("v/" + names[i]), graph.find(names[i])->type);
    v->is_declared = true;
    Value* part = g.op("ReduceSum", {g.mul(first[i], v)}, {{"keepdims", 0}});
    along = along ? g.add(along, part) : part;
  }
  return differentiate(along, find_all(graph, names), nullptr, stops);
}

}  // namespace

Model gradient_model(const Model& model, const GradientModelOptions& options) {
  using Kind = GradientModelOptions::Kind;
  Model made = model.clone();
  made.training.clear();
  passes::inline_functions(made);
  passes::canonicalize(made);
  expand_gradients(*made.graph);
  ops::require_well_formed(*made.graph);
  Graph& graph = *made.graph;
  if (options.of.empty() && graph.output_count() == 0) throw Error(Code::bad_usage, "the model has no outputs");
  const std::string of = options.of.empty() ? graph.output(0)->name() : options.of;
  std::vector<std::string> names = options.wrt;
  if (names.empty())
    for (const Value* v : graph.inputs())
      if (!v->initializer && is_float(v->type.elem)) names.push_back(v->name());
  if (names.empty())
    throw Error(Code::not_differentiable, "no input of the model holds real numbers")
        .hint("name the values to differentiate by: parameters and inner values are allowed too");
  const Values results = options.kind == Kind::jacobian ? jacobian(graph, of, names, options.stops)
                         : options.kind == Kind::hessian_vector
                             ? hessian_vector(graph, of, names, options.stops)
                             : differentiate(find_real(graph, of), find_all(graph, names), nullptr, options.stops);
  if (!options.keeps_forward) graph.resize_outputs(0);
  GraphBuilder g(graph);
  for (std::size_t i = 0; i < names.size(); ++i) {
    Value* out = g.op("Identity", {results[i]});
    const std::string name =
        options.kind == Kind::hessian_vector ? "H" + of + "v/" + names[i] : "d" + of + "/d" + names[i];
    graph.rename(out, graph.fresh_name(name));
    out->producer()->name = out->name();
    graph.add_output(out);
  }
  return made;
}

}  // namespace ingot::train
