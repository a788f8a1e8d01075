// Doubles that only decompositions brought in.
#include "ingot/passes/legalize/narrow.h"

namespace ingot::passes::legalize {
namespace {

Tensor as_float(const Tensor& t) {
  const std::vector<double> wide = t.to_doubles();
  const std::vector<float> narrow(wide.begin(), wide.end());
  return Tensor::of<float>(t.dims(), narrow);
}

/// The attributes that say a type, and tensors, in float where they are in double.
void narrow_attributes(Node& node) {
  for (Attribute& a : node.attributes) {
    if (auto* t = std::get_if<Tensor>(&a.value); t && t->dtype() == DType::f64) *t = as_float(*t);
    auto* type = std::get_if<std::int64_t>(&a.value);
    if (type && (a.name == "to" || a.name == "dtype") && *type == static_cast<std::int64_t>(DType::f64))
      *type = static_cast<std::int64_t>(DType::f32);
  }
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

}  // namespace ingot::passes::legalize
