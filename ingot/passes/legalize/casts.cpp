// Element types that a target computes in, in place of the model's.
#include "ingot/passes/legalize/casts.h"

#include <fmt/format.h>

#include <algorithm>

#include "ingot/base/error.h"
#include "ingot/ops/builder.h"
#include "ingot/ops/infer.h"
#include "ingot/passes/hand_over.h"
#include "ingot/passes/legalize/identities.h"

namespace ingot::passes::legalize {
namespace {

/// Said in other operators, if its types allow it.
bool is_rewritten(const Node& node, const Refusal& refusal, const Target& target) {
  return refusal.kind == Refusal::Kind::unknown_operator && node.domain.empty() &&
         has_rewrite(target, node.op, node.domain);
}

/// Whether the target has the node, or a rewrite for it, once values of `from` are `to`; then the casts are in place.
bool cast_around(Node& node, DType from, DType to, const Target& target, const Options& options) {
  Graph& graph = node.graph();
  std::vector<Node*> casts;
  const Values old = node.inputs();
  std::vector<Type> types;
  for (const Value* v : node.outputs()) types.push_back(v ? v->type : Type{});
  for (std::size_t i = 0; i < old.size(); ++i) {
    if (!old[i] || old[i]->type.elem != from) continue;
    GraphBuilder g(graph, &node);
    g.name_after(node);
    Value* cast = g.cast(old[i], to);
    casts.push_back(cast->producer());
    node.set_input(i, cast);
  }
  const auto take_back = [&] {
    for (std::size_t i = 0; i < old.size(); ++i) node.set_input(i, old[i]);
    for (Node* cast : casts) graph.erase(cast);
    for (std::size_t i = 0; i < node.output_count(); ++i)
      if (node.output(i)) node.output(i)->type = types[i];
  };
  if (casts.empty()) return false;
  try {
    ops::InferSession session;
    for (Value* v : node.outputs())
      if (v) v->type.elem = v->type.elem == from ? to : v->type.elem;
    ops::infer_node(node, session);
  } catch (const Error& error) {
    take_back();
    if (error.exit_code() == 5) throw;
    return false;
  }
  if (const auto refusal = refusal_of(node, target, options); refusal && !is_rewritten(node, *refusal, target)) {
    take_back();
    return false;
  }
  for (std::size_t i = 0; i < node.output_count(); ++i) {
    Value* y = node.output(i);
    if (!y || types[i].elem != from || y->type.elem != to) continue;
    const std::vector<Use> uses(y->uses().begin(), y->uses().end());
    GraphBuilder g(graph, node.next());
    g.name_after(node);
    Value* back = g.cast(y, from);
    passes::hand_over(y, back, uses);
  }
  return true;
}

void cast_where_refused(Node& node, const Target& target, const Options& options, std::vector<std::string>& notes) {
  const auto refusal = refusal_of(node, target, options);
  if (!refusal) return;
  if (refusal->kind == Refusal::Kind::unknown_operator && !is_rewritten(node, *refusal, target)) return;
  std::vector<DType> types;
  for (const Value* v : node.inputs())
    if (v && std::ranges::find(types, v->type.elem) == types.end()) types.push_back(v->type.elem);
  for (const DType from : types)
    for (const TypeCast& cast : target.casts) {
      if (cast.from != from || (cast.loses_digits && options.auto_cast != CastRule::all)) continue;
      if (!cast_around(node, from, cast.to, target, options)) continue;
      notes.push_back(
          fmt::format("{} ({}): computed in {} instead of {}", node.label(), node.op, name_of(cast.to), name_of(from)));
      return;
    }
}

/// There and back again through a wider type is nothing.
void take_out_detour(Node& node) {
  if (!node.is("Cast") || !node.input(0)) return;
  const Node* before = node.input(0)->producer();
  if (!before || !before->is("Cast")) return;
  Value* x = before->input(0);
  const DType narrow = x->type.elem, wide = node.input(0)->type.elem;
  const bool widens = (narrow == DType::f32 && wide == DType::f64) || (narrow == DType::i32 && wide == DType::i64) ||
                      (narrow == DType::f16 && wide == DType::f32);
  if (!widens || node.output(0)->type.elem != narrow) return;
  node.set_input(0, x);
  node.op = "Identity";
  node.attributes = {};
  take_out_identity(node);
}

}  // namespace

void cast_for_target(Graph& graph, const Target& target, const Options& options, std::vector<std::string>& notes) {
  if (options.auto_cast == CastRule::none) return;
  for_each_graph(graph, [&](Graph& g) {
    for (Node& node : g.nodes()) cast_where_refused(node, target, options, notes);
    for (Node& node : g.nodes()) take_out_detour(node);
  });
}

}  // namespace ingot::passes::legalize
