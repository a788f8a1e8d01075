// Another batch: inputs get it, and constants that carry the old one follow.
#include "ingot/passes/change_batch.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <unordered_set>

#include "ingot/base/error.h"
#include "ingot/ops/builder.h"
#include "ingot/passes/batch_rules.h"
#include "ingot/passes/canonicalize.h"
#include "ingot/passes/fold.h"
#include "ingot/passes/infer.h"
#include "ingot/passes/infer_calls.h"

namespace ingot::passes {
namespace {

bool has_batch_axis(const Value& v) {
  return !v.initializer && v.type.is_tensor() && v.type.shape && !v.type.shape->empty();
}

/// What the batch is as the model stands: the first dimension of the first input that has more than one.
const Dim* old_batch(const Graph& graph) {
  for (const Value* v : graph.inputs())
    if (has_batch_axis(*v) && v->type.shape->size() > 1) return &v->type.shape->front();
  for (const Value* v : graph.inputs())
    if (has_batch_axis(*v)) return &v->type.shape->front();
  return nullptr;
}

/// The inputs that share it. A lone dimension of one is more often a number for all examples.
Values batched_inputs(const Graph& graph, const Dim& old) {
  Values found;
  const bool is_one = old.is_known() && old.value() == 1;
  for (Value* v : graph.inputs())
    if (has_batch_axis(*v) && v->type.shape->front() == old && (!is_one || v->type.shape->size() > 1))
      found.push_back(v);
  return found;
}

/// Shapes that a file states of what nodes make are those of the old batch.
void forget_shapes(const Model& model) {
  for (const GraphPlace& place : all_graphs(model))
    for (Node& node : place.graph->nodes())
      for (Value* v : node.outputs())
        if (v) {
          v->type.shape.reset();
          v->known_ints.reset();
        }
}

void set_batch(const Values& inputs, const Dim& batch) {
  for (Value* v : inputs) v->type.shape->front() = batch;
}

[[noreturn]] void refuse_batch(const std::string& why) {
  throw Error(Code::unsupported_setting, "the batch cannot be changed: " + why)
      .hint("export the model with a batch that is open");
}

/// Follows the batch through a copy in the newest operator sets, and finds what has to change.
std::vector<BatchPatch> find_patches(const Model& model, const Values& inputs, std::int64_t old, BatchGuess guess) {
  Model probe = model.clone();
  const BatchAxis axis{Dim::symbol("ingot.batch"), old, guess};
  Values marked;
  for (const Value* v : inputs) marked.push_back(probe.graph->find(v->name()));
  set_batch(marked, axis.batch);
  probe.graph->close_defaults();  // a shape that the caller may give is taken as its default says
  forget_shapes(probe);
  ops::InferSession session;
  session.on_error = [](const Node&, const Error&) {};
  prepare(session, probe);
  std::vector<Obstacle> obstacles;
  canonicalize(probe, session, obstacles);
  InferOptions tolerant;
  tolerant.tolerate_errors = true;
  infer(probe, tolerant);
  FoldOptions by_kernels;  // states are often made by nodes; sizes that are stated are those of the old batch
  by_kernels.is_for_running = true;
  fold_constants(*probe.graph, by_kernels);
  forget_shapes(probe);
  if (const auto order = topological_order(*probe.graph))  // files may have nodes in any order
    for (Node* node : *order) probe.graph->move_before(node, nullptr);
  const auto infer_or_refuse = [&](Node& node) {
    try {
      ops::infer_node(node, session);
    } catch (const Error& error) {
      if (error.exit_code() == 5) throw;
      refuse_batch(fmt::format("node '{}' ({}): {}", node.name, node.op, error.message()));
    }
  };
  std::vector<BatchPatch> patches;
  for (Node& node : probe.graph->nodes()) {
    for (BatchPatch& patch : batch_patches(node, axis)) {
      for (Node* added : apply(patch, node, marked.front(), Dim())) infer_or_refuse(*added);
      patches.push_back(std::move(patch));
    }
    infer_or_refuse(node);
  }
  for (std::size_t i = 0; i < probe.graph->output_count(); ++i) {
    const Value* v = probe.graph->output(i);
    if (!v->type.shape || v->type.shape->empty()) continue;
    // What cannot be known, running both models tells.
    const Shape& shape = *v->type.shape;
    const auto batched = std::ranges::count_if(shape, [&](const Dim& d) { return axis.is_in(d); });
    const bool is_known = std::ranges::all_of(shape, [&](const Dim& d) { return d.is_known() || axis.is_in(d); });
    if (batched > 1 || (batched == 0 && is_known))
      refuse_batch(fmt::format("output '{}' would be {}", v->name(), v->type.str()));
  }
  return patches;
}

/// Outputs keep a rank where inference finds none.
void infer_outputs(Model& model, const std::vector<std::optional<Shape>>& before, const Dim& old, const Dim& batch) {
  InferOptions tolerant;
  tolerant.tolerate_errors = true;
  infer(model, tolerant);
  for (std::size_t i = 0; i < before.size(); ++i) {
    Value* v = model.graph->output(i);
    if (!before[i]) continue;
    const bool is_lost = !v->type.shape;
    if (is_lost) v->type.shape = before[i];
    if (before[i]->empty() || before[i]->front() != old || v->type.shape->size() != before[i]->size()) continue;
    Dim& first = v->type.shape->front();
    const BatchAxis axis{batch, old.as_int().value_or(0)};
    if (is_lost || !(first.is_known() || axis.is_in(first))) first = batch;
  }
}

}  // namespace

std::optional<std::int64_t> fixed_batch(const Model& model) {
  const Dim* old = old_batch(*model.graph);
  return old ? old->as_int() : std::nullopt;
}

std::vector<std::string> change_batch(Model& model, const Dim& batch, BatchGuess guess) {
  Graph& graph = *model.graph;
  const Dim* found = old_batch(graph);
  if (!found) throw Error(Code::bad_usage, "no input has a batch: none is a tensor whose dimensions are known");
  const Dim old = *found;
  const Values inputs = batched_inputs(graph, old);
  std::vector<std::optional<Shape>> outputs;
  for (std::size_t i = 0; i < graph.output_count(); ++i) outputs.push_back(graph.output(i)->type.shape);
  std::vector<std::string> lines;
  std::unordered_set<const Value*> replaced;
  if (old.is_known() && old.value() <= 0) refuse_batch(fmt::format("the model fixes it as {}", old.str()));
  if (old.is_known() && !(old == batch))
    for (const BatchPatch& patch : find_patches(model, inputs, old.value(), guess)) {
      Value* made = graph.find(patch.output);
      Node* node = made ? made->producer() : nullptr;
      if (!node || node->op != patch.op || node->input_count() <= patch.input)
        refuse_batch(fmt::format("operator {} that makes '{}' is of an old version", patch.op, patch.output));
      replaced.insert(node->input(patch.input));
      apply(patch, *node, inputs.front(), batch);
      lines.push_back(fmt::format("batch: {} at '{}' ({})", patch.what(), patch.output, patch.op));
    }
  set_batch(inputs, batch);
  graph.erase_inputs_if([&](const Value& v) { return replaced.contains(&v) && v.initializer && v.uses().empty(); });
  forget_shapes(model);
  infer_outputs(model, outputs, old, batch);
  return lines;
}

}  // namespace ingot::passes
