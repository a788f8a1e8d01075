// Variants of a model that must give the same results.
#include "ingot/verify/test_variant.h"

namespace ingot::verify {
namespace {

/// `stem` names the dimensions; without one they are unknown.
Type hidden(const Type& type, UnknownShapes how, const std::string& stem) {
  Type result = type;
  if (type.element) result.element = std::make_shared<const Type>(hidden(type.inner(), how, ""));
  if (type.shape) {
    if (how == UnknownShapes::rank)
      result.shape.reset();
    else
      for (std::size_t i = 0; i < result.shape->size(); ++i)
        (*result.shape)[i] = stem.empty() ? Dim() : Dim::symbol(stem + "_" + std::to_string(i));
  }
  result.notes.reset();
  return result;
}

}  // namespace

void hide_shapes(Model& model, UnknownShapes how) {
  if (how == UnknownShapes::none) return;
  Graph& graph = *model.graph;
  for (std::size_t i = 0; i < graph.inputs().size(); ++i) {
    Value* input = graph.inputs()[i];
    if (!input->initializer && !input->sparse_initializer)
      input->type = hidden(input->type, how, "in" + std::to_string(i));
  }
  for (Node& node : graph.nodes())
    for (Value* v : node.outputs()) {
      if (!v) continue;
      bool is_output = false;
      for (const Use& use : v->uses()) is_output |= !use.node && use.graph == &graph;
      if (is_output) {
        v->type = hidden(v->type, how, "");
      } else {
        v->type = {};
        v->is_declared = false;
      }
    }
}

}  // namespace ingot::verify
