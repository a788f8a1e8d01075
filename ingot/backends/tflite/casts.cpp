// Element types that TFLite computes in, in place of the model's.
#include <fmt/format.h>

#include <algorithm>

#include "ingot/backends/tflite/legalize.h"
#include "ingot/backends/tflite/operators.h"
#include "ingot/backends/tflite/rewrite.h"
#include "ingot/base/error.h"
#include "ingot/ops/builder.h"
#include "ingot/ops/infer.h"
#include "ingot/passes/hand_over.h"

namespace ingot::backends::tflite {
namespace {

DType other_type(DType type, AutoCast allowed) {
  switch (type) {
    case DType::f16:
    case DType::bf16:
      return DType::f32;
    case DType::i8:
    case DType::u8:
    case DType::i16:
    case DType::u16:
      return DType::i32;
    case DType::u32:
      return DType::i64;
    case DType::i64:
      return allowed == AutoCast::all ? DType::i32 : DType::undefined;
    case DType::u64:
      return allowed == AutoCast::all ? DType::i64 : DType::undefined;
    case DType::f64:
      return allowed == AutoCast::all ? DType::f32 : DType::undefined;
    default:
      return DType::undefined;
  }
}

/// Said in other operators, if its types allow it.
bool is_rewritten(const Node& node) { return !row_of(node) && node.domain.empty() && has_rewrite(node.op); }

/// Whether the node can be emitted once values of `from` are `to`; then the casts are in place.
bool cast_around(Node& node, DType from, DType to, const ExportOptions& options) {
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
  } catch (const Error&) {
    take_back();
    return false;
  }
  if (!is_native(node, options) && !is_rewritten(node)) {
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

Tensor as_float(const Tensor& t) {
  const std::vector<double> wide = t.to_doubles();
  const std::vector<float> narrow(wide.begin(), wide.end());
  return Tensor::of<float>(t.dims(), narrow);
}

/// The attributes that say a type, and tensors, in float where they are in double.
bool narrow_attributes(Node& node) {
  bool is_any = false;
  for (Attribute& a : node.attributes) {
    if (auto* t = std::get_if<Tensor>(&a.value); t && t->dtype() == DType::f64) {
      *t = as_float(*t);
      is_any = true;
    }
    auto* type = std::get_if<std::int64_t>(&a.value);
    if (type && (a.name == "to" || a.name == "dtype") && *type == static_cast<std::int64_t>(DType::f64)) {
      *type = static_cast<std::int64_t>(DType::f32);
      is_any = true;
    }
  }
  return is_any;
}

}  // namespace

bool has_doubles(Graph& graph) {
  bool is_any = false;
  const auto note = [&](const Value* v) { is_any |= v && v->type.elem == DType::f64; };
  for_each_graph(graph, [&](Graph& g) {
    for (const Value* v : g.inputs()) note(v);
    for (const Value* v : g.initializers()) note(v);
    for (const Node& node : g.nodes())
      for (const Value* v : node.outputs()) note(v);
  });
  return is_any;
}

std::size_t narrow_doubles(Graph& graph) {
  if (!has_doubles(graph)) return 0;
  std::size_t count = 0;
  for_each_graph(graph, [&](Graph& g) {
    for (Value* v : g.initializers()) {
      if (!v->initializer || v->initializer->dtype() != DType::f64) continue;
      v->initializer = as_float(*v->initializer);
      v->type.elem = DType::f32;
    }
    for (Value* v : g.inputs())
      if (v->type.elem == DType::f64) v->type.elem = DType::f32;
    for (Node& node : g.nodes()) {
      narrow_attributes(node);
      for (Value* v : node.outputs()) {
        if (!v || v->type.elem != DType::f64) continue;
        v->type.elem = DType::f32;
        ++count;
      }
    }
  });
  return count;
}

void cast_for_tflite(Graph& graph, const ExportOptions& options, std::vector<std::string>& notes) {
  if (options.auto_cast == AutoCast::none) return;
  for_each_graph(graph, [&](Graph& g) {
    for (Node& node : g.nodes()) {
      if (is_native(node, options) || (!row_of(node) && !is_rewritten(node))) continue;
      std::vector<DType> types;
      for (const Value* v : node.inputs())
        if (v && std::ranges::find(types, v->type.elem) == types.end()) types.push_back(v->type.elem);
      for (const DType from : types) {
        const DType to = other_type(from, options.auto_cast);
        if (to == DType::undefined || !cast_around(node, from, to, options)) continue;
        notes.push_back(
            fmt::format("{} ({}): computed in {} instead of {}", node.label(), node.op, name_of(to), name_of(from)));
        break;
      }
    }
    // There and back again through a wider type is nothing.
    for (Node& node : g.nodes()) {
      if (!node.is("Cast") || !node.input(0)) continue;
      const Node* before = node.input(0)->producer();
      if (!before || !before->is("Cast")) continue;
      Value* x = before->input(0);
      const DType narrow = x->type.elem, wide = node.input(0)->type.elem;
      const bool widens = (narrow == DType::f32 && wide == DType::f64) ||
                          (narrow == DType::i32 && wide == DType::i64) || (narrow == DType::f16 && wide == DType::f32);
      if (!widens || node.output(0)->type.elem != narrow) continue;
      node.set_input(0, x);
      node.op = "Identity";
      node.attributes = {};
      take_out_identity(node);
    }
  });
}

}  // namespace ingot::backends::tflite
