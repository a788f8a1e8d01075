// PyTorch as a target: predicate, rewrites, what stays.
#include "ingot/backends/torch/target.h"

#include "ingot/backends/torch/operators.h"

namespace ingot::backends::torch {
namespace {

using passes::legalize::Target;

/// What the reader takes the tensor for is nothing that gradients should move.
bool is_no_weight(const Use& use) {
  if (!use.node) return false;
  const std::string& op = use.node->op;
  if (op == "BatchNormalization") return use.index >= 3;
  if (op == "QuantizeLinear" || op == "DequantizeLinear" || op == "Resize" || op == "RotaryEmbedding" || op == "Clip" ||
      op == "Dropout")
    return use.index >= 1;
  return op == "OneHot" || (op == "Pad" && use.index == 2);
}

bool is_parameter(const Value& value) {
  const Tensor& tensor = *value.initializer;
  const DType dtype = tensor.dtype();
  const bool is_trained_type =
      dtype == DType::f32 || dtype == DType::f64 || dtype == DType::f16 || dtype == DType::bf16;
  if (!is_trained_type || tensor.rank() == 0) return false;
  for (const Use& use : value.uses())
    if (is_no_weight(use)) return false;
  return true;
}

/// Scales, axes and the like are folded; what is larger is a weight.
bool is_large(const Value* value) {
  constexpr std::int64_t kMostFolded = 8;
  return value && value->initializer && value->initializer->size() > kMostFolded;
}

constexpr std::string_view kRewrites[] = {
    "batch-normalization-as-line", "eye-as-constant", "forest-by-tensors",      "global-pool-by-reduction",
    "integer-products-in-float",   "known-branch",    "last-extremum-reversed", "max-pool-with-places",
    "resize-by-matrices",          "resize-computed", "small-floats-by-cast"};

}  // namespace

Holdings holdings_of(const Graph& graph) {
  Holdings made;
  for (const Value* value : graph.initializers())
    if (value->initializer) (is_parameter(*value) ? made.parameters : made.buffers).insert(value->name());
  return made;
}

Target target_for(const Holdings& holdings) {
  Target target;
  target.title = "PyTorch";
  target.refuses = refusal;
  target.has_port = has_type;
  target.rewrites.assign(std::begin(kRewrites), std::end(kRewrites));
  target.keeps_whole = [](const Node& node) { return node.is("Dropout") && !refusal(node); };  // live in training
  target.keeps_computed = [holdings](const Node& node) {
    if (!node.output() || !is_float(node.output()->type.elem)) return false;
    for (const Value* input : node.inputs())
      if (is_large(input) && holdings.has(input->name())) return true;
    return false;
  };
  target.has_defaults = false;
  return target;
}

}  // namespace ingot::backends::torch
