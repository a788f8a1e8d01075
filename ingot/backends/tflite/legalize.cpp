// Brings a graph into a form whose operators TFLite has.
#include "ingot/backends/tflite/legalize.h"

#include <algorithm>

#include "ingot/backends/tflite/operators.h"
#include "ingot/backends/tflite/rewrite.h"
#include "ingot/base/error.h"
#include "ingot/ir/operator_pattern.h"
#include "ingot/ir/source_notes.h"
#include "ingot/ops/infer.h"
#include "ingot/passes/decompose.h"
#include "ingot/passes/fold.h"

namespace ingot::backends::tflite {
namespace {

/// Takes a node out whose output 0 is its input 0, unless it carries a name from outside to outside.
bool take_out(Node& node) {
  Value *x = node.input(0), *y = node.output(0);
  if (!x || !y || x->type.elem != y->type.elem) return false;
  const bool names_output = std::ranges::any_of(y->uses(), [](const Use& u) { return !u.node; });
  if (names_output) {
    bool x_has_name = !x->producer() || &x->graph() != &node.graph();
    for (const Use& use : x->uses()) x_has_name |= !use.node;
    if (x_has_name) return false;
  }
  replace_node(node, {x});
  return true;
}

/// The short forms of a Constant (value_ints, value_float, ...) become a tensor, which is what all others look for.
void spell_out(Node& constant) {
  const Attributes& a = constant.attributes;
  std::optional<Tensor> value;
  if (const auto* i = a.get<std::int64_t>("value_int")) value = Tensor::scalar<std::int64_t>(*i);
  if (const auto* f = a.get<float>("value_float")) value = Tensor::scalar<float>(*f);
  if (const auto* is = a.get<std::vector<std::int64_t>>("value_ints")) value = Tensor::ints(*is);
  if (const auto* fs = a.get<std::vector<float>>("value_floats"))
    value = Tensor::of<float>({static_cast<std::int64_t>(fs->size())}, *fs);
  if (!value) return;
  constant.attributes = {};
  constant.attributes.set(Attribute("value", AttrValue(std::move(*value))));
}

bool is_plain_dropout(const Node& node) {
  if (node.output(1) && !node.output(1)->uses().empty()) return false;
  const Tensor* training = node.input(2) ? ops::constant_of(node.input(2)) : nullptr;
  return !node.input(2) || (training && training->to_ints() == std::vector<std::int64_t>{0});
}

/// A node that does nothing; it is taken out where its names allow it.
bool is_nothing(const Node& node) {
  if (node.is("Identity")) return true;
  if (node.is("Cast") || node.is("CastLike")) return node.input(0)->type.elem == node.output(0)->type.elem;
  if (node.is("Max") || node.is("Min") || node.is("Sum") || node.is("Mean")) return node.input_count() == 1;
  return node.is("Dropout") && is_plain_dropout(node);
}

bool take_out_nothing(Node& node) {
  const bool was_identity = node.is("Identity");
  node.resize_inputs(1);
  node.op = "Identity";
  node.attributes = {};
  node.resize_outputs(1);
  return take_out_identity(node) || !was_identity;
}

/// A Resize by scales or sizes that are computed: its decomposition computes all sizes, which TFLite's kernels do not
/// survive.
bool keeps_sizes_open(const Node& node) {
  const auto is_computed = [&](std::size_t i) { return node.input(i) && !ops::constant_of(node.input(i)); };
  return node.is("Resize") && (is_computed(2) || is_computed(3));
}

/// One level deep: what comes out is looked at again when its constants are folded.
std::size_t legalize_once(Graph& graph, const ExportOptions& options, std::vector<std::string>& notes) {
  std::size_t changed = 0;
  std::vector<Graph*> graphs;
  for_each_graph(graph, [&](Graph& g) { graphs.push_back(&g); });
  std::reverse(graphs.begin(), graphs.end());  // loops are unrolled with what their bodies have become
  for (Graph* g : graphs) {
    for (Node& node : g->nodes()) {
      if (node.is("Constant")) {
        spell_out(node);
      } else if (is_nothing(node)) {
        changed += take_out_nothing(node);
      } else if (!is_native(node, options)) {
        changed += rewrite_node(node, notes) || (!keeps_sizes_open(node) && passes::decompose_node(node));
      }
    }
  }
  return changed;
}

}  // namespace

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

bool take_out_identity(Node& node) {
  Value *x = node.input(0), *y = node.output(0);
  const bool names_output = std::ranges::any_of(y->uses(), [](const Use& u) { return !u.node; });
  if (!names_output) return take_out(node);
  bool x_has_name = !x->producer() || &x->graph() != &node.graph() || x->is_declared;
  for (const Use& use : x->uses()) x_has_name |= !use.node;
  if (x_has_name) return false;
  Graph& graph = node.graph();
  const std::vector<Use> uses(y->uses().begin(), y->uses().end());
  for (const Use& use : uses) use.node ? use.node->set_input(use.index, x) : use.graph->set_output(use.index, x);
  std::string name = y->name();
  const bool is_declared = y->is_declared;
  graph.erase(&node);
  graph.rename(x, std::move(name));
  x->is_declared = is_declared;
  return true;
}

bool is_native(const Node& node, const ExportOptions& options) {
  if (node.is("Constant")) return true;
  for (const std::string& allowed : options.allow_custom) {
    if (OperatorPattern::parse(allowed).matches(node.op, node.domain)) return true;
    if (comes_from(node, "CUSTOM:" + allowed) && !note_of(node.metadata, kCustomOptions).empty()) return true;
  }
  const bool may_be_native = options.native_lstm || comes_from(node, "UNIDIRECTIONAL_SEQUENCE_LSTM");
  return refusal(node).empty() && (!node.is("LSTM") || may_be_native);
}

std::size_t legalize(Graph& graph, const ExportOptions& options, std::vector<std::string>& notes) {
  passes::FoldOptions fold;
  fold.keeps = [](const Node& n) { return n.is("DequantizeLinear"); };
  const bool may_narrow = !has_doubles(graph);
  std::size_t total = 0, narrowed = 0;
  constexpr int kMostRounds = 24;  // a circle of rewrites would be a mistake, but must end
  for (int round = 0; round < kMostRounds; ++round) {
    std::size_t changed = resolve_sequences(graph);
    changed += legalize_once(graph, options, notes);
    total += changed;
    changed += passes::fold_constants(graph, fold);
    if (changed) infer_again(graph);
    if (may_narrow) narrowed += narrow_doubles(graph);
    if (!changed) break;
  }
  if (narrowed)
    notes.push_back("what operators compute inside in double is computed in float (" + std::to_string(narrowed) +
                    " values)");
  return total;
}

}  // namespace ingot::backends::tflite
