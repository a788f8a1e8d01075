// Einsum by the operators that have fast kernels.
#include "ingot/engine/rewrites/lower_einsum.h"

#include <algorithm>

#include "ingot/ops/tensor/einsum/body.h"
#include "ingot/passes/decompose.h"

namespace ingot::engine {
namespace {

bool is_float32(const Value* v) { return v && v->type.elem == DType::f32; }
bool is_static(const Value* v) { return static_dims(v->type.shape).has_value(); }

}  // namespace

bool lower_einsum(Graph& graph) {
  bool has_any = false;
  for (Node& node : graph.nodes()) {
    if (!node.is("Einsum")) continue;
    const Values inputs = node.inputs();
    if (!std::ranges::all_of(inputs, is_float32)) continue;
    // Where a size is open, letters that become one axis would have to be multiplied out instead.
    if (std::ranges::all_of(inputs, is_static) || ops::is_einsum_of_matrices(node))
      has_any |= passes::decompose_node(node);
  }
  return has_any;
}

}  // namespace ingot::engine
