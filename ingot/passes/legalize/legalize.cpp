// Turns a model into one that a target has.
#include "ingot/passes/legalize/legalize.h"

#include <fmt/format.h>

#include <algorithm>

#include "ingot/base/error.h"
#include "ingot/ir/operator_pattern.h"
#include "ingot/ops/generator/constant.h"
#include "ingot/ops/infer.h"
#include "ingot/ops/well_formed.h"
#include "ingot/passes/convert_version.h"
#include "ingot/passes/decompose.h"
#include "ingot/passes/fold.h"
#include "ingot/passes/inline_functions.h"
#include "ingot/passes/legalize/casts.h"
#include "ingot/passes/legalize/identities.h"
#include "ingot/passes/legalize/infinities.h"
#include "ingot/passes/legalize/narrow.h"
#include "ingot/passes/legalize/rewrites.h"
#include "ingot/passes/legalize/sequences.h"
#include "ingot/passes/sort_nodes.h"
#include "ingot/passes/widen.h"

namespace ingot::passes::legalize {
namespace {

/// Types and sizes that nobody knew: of nodes that stood before what they read, or behind what is a constant now.
void infer_again(Graph& graph) {
  bool is_any_open = false;
  for_each_graph(graph, [&](const Graph& g) {
    for (const Node& node : g.nodes())
      for (const Value* v : node.outputs()) is_any_open |= v && (!v->type || (v->type.is_tensor() && !v->type.shape));
  });
  if (!is_any_open) return;
  ops::InferSession session;
  session.on_error = [](const Node&, const Error&) {};
  ops::infer_graph(graph, session);
}

bool is_half(DType dtype) { return dtype == DType::f16 || dtype == DType::bf16; }

void fix_defaults(Graph& graph, std::vector<std::string>& notes) {
  for (const Value* v : graph.initializers())
    if (v->is_input()) notes.push_back(fmt::format("input '{}' has a default and is now a constant", v->name()));
  graph.close_defaults();
}

/// The target's rewrites, its own first.
std::vector<const Rewrite*> rewrites_of(const Target& target) {
  std::vector<const Rewrite*> rows;
  for (const Rewrite& row : target.own_rewrites) rows.push_back(&row);
  for (const std::string_view name : target.rewrites) {
    const std::size_t before = rows.size();
    for (const Rewrite& row : shared_rewrites())
      if (row.name == name) rows.push_back(&row);
    if (rows.size() == before)
      throw Error(Code::broken_invariant,
                  fmt::format("{} names a rewrite '{}', which is not there", target.title, name));
  }
  return rows;
}

/// Where a target has no halves at all, not even casts from and to them, all of them are floats, inputs and outputs
/// too.
void widen_for_target(Model& model, const Target& target, const Options& options, std::vector<std::string>& notes) {
  if (target.has_halves || options.auto_cast == CastRule::none) return;
  std::vector<const Value*> ports;
  for (const Value* v : model.graph->inputs())
    if (!v->initializer && is_half(v->type.elem)) ports.push_back(v);
  for (const Value* v : model.graph->outputs())
    if (is_half(v->type.elem)) ports.push_back(v);
  const std::size_t count = widen_halves(model);
  if (count) notes.push_back(fmt::format("{} values of float16 or bfloat16 are float", count));
  for (const Value* v : ports)
    notes.push_back(fmt::format("{} '{}' is now {}", v->is_input() ? "input" : "output", v->name(), v->type.str()));
}

class Rounds {
 public:
  Rounds(Graph& graph, const Target& target, const Options& options, std::vector<std::string>& notes)
      : graph_(graph), target_(target), options_(options), notes_(notes), rewrites_(rewrites_of(target)) {
    fold_.keeps = target.keeps_computed;
  }

  /// Until nothing changes.
  void run() {
    const bool may_narrow = !target_.has_doubles && !has_doubles(graph_);
    std::size_t narrowed = 0;
    constexpr int kMostRounds = 24;  // a circle of rewrites would be a mistake, but must end
    for (int round = 0; round < kMostRounds; ++round) {
      std::size_t changed = resolve_sequences(graph_);
      changed += once();
      changed += fold_constants(graph_, fold_);
      if (changed) infer_again(graph_);
      if (may_narrow) narrowed += narrow_doubles(graph_);
      if (!changed) break;
    }
    if (narrowed)
      notes_.push_back(
          fmt::format("what operators compute inside in double is computed in float ({} values)", narrowed));
  }

 private:
  /// One level deep: what comes out is looked at again when its constants are folded.
  std::size_t once() {
    std::size_t changed = 0;
    std::vector<Graph*> graphs;
    for_each_graph(graph_, [&](Graph& g) { graphs.push_back(&g); });
    std::reverse(graphs.begin(), graphs.end());  // loops are unrolled with what their bodies have become
    for (Graph* g : graphs)
      for (Node& node : g->nodes()) {
        if (node.is("Constant"))
          ops::spell_out_constant(node);
        else if (does_nothing(node) && !stays_whole(node))
          changed += take_out_nothing(node);
        else if (refusal_of(node, target_, options_))
          changed += is_rewritten(node) || is_decomposed(node);
      }
    return changed;
  }

  bool is_rewritten(Node& node) {
    return std::ranges::any_of(rewrites_, [&](const Rewrite* row) {
      return row->op == node.op && row->domain == node.domain && apply(*row, node, target_, notes_);
    });
  }

  bool is_decomposed(Node& node) const { return !stays_whole(node) && decompose_node(node); }

  bool stays_whole(const Node& node) const { return target_.keeps_whole && target_.keeps_whole(node); }

  Graph& graph_;
  const Target& target_;
  const Options& options_;
  std::vector<std::string>& notes_;
  std::vector<const Rewrite*> rewrites_;
  FoldOptions fold_;
};

}  // namespace

std::optional<Refusal> refusal_of(const Node& node, const Target& target, const Options& options) {
  if (node.is("Constant")) return std::nullopt;
  for (const std::string& allowed : options.allow_custom)
    if (OperatorPattern::parse(allowed).matches(node.op, node.domain)) return std::nullopt;
  return target.refuses(node);
}

bool has_rewrite(const Target& target, std::string_view op, std::string_view domain) {
  return std::ranges::any_of(rewrites_of(target),
                             [&](const Rewrite* row) { return row->op == op && row->domain == domain; });
}

Report to_target(Model& model, const Target& target, const Options& options) {
  Report report;
  inline_functions(model, nullptr, target.keeps_call);
  model.training.clear();
  Graph& graph = *model.graph;
  sort_nodes(graph);           // types are inferred in this order
  canonicalize_graphs(model);  // what stays a call is not looked into
  ops::require_well_formed(graph);
  infer_again(graph);
  widen_for_target(model, target, options, report.notes);
  if (target.prepare) target.prepare(graph, report.notes);
  if (!target.has_defaults) fix_defaults(graph, report.notes);
  Rounds(graph, target, options, report.notes).run();
  if (!target.has_infinities) keep_infinities(graph);
  cast_for_target(graph, target, options, report.notes);
  Rounds(graph, target, options, report.notes).run();
  report.obstacles = obstacles_of(graph, target, options);
  return report;
}

LayoutReport lay_out(Graph& graph, const Target& target, const Options& options, std::vector<std::string>& notes) {
  const auto may_change = [&](const Value* v) { return !target.keeps_layout || !target.keeps_layout(*v); };
  const auto note = [&](std::string_view what, const Value* v) {
    notes.push_back(fmt::format("{} '{}' is now {}", what, v->name(), v->type.str()));
  };
  if (options.inputs_as == Layout::channels_last)
    for (std::size_t i = 0; i < graph.inputs().size(); ++i)
      if (may_change(graph.inputs()[i]) && set_input_layout(graph, i, Layout::channels_first, Layout::channels_last))
        note("input", graph.inputs()[i]);
  if (options.outputs_as == Layout::channels_last)
    for (std::size_t i = 0; i < graph.output_count(); ++i)
      if (may_change(graph.output(i)) && set_output_layout(graph, i, Layout::channels_first, Layout::channels_last))
        note("output", graph.output(i));
  return choose_layout(graph, target.layout);
}

}  // namespace ingot::passes::legalize
