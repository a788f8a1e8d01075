// QuantizeLinear and DequantizeLinear: operators of TFLite, and parameters of tensors.
#include <algorithm>

#include "ingot/backends/tflite/quantized.h"
#include "ingot/backends/tflite/rows.h"
#include "ingot/ir/source_notes.h"
#include "ingot/ops/infer.h"
#include "ingot/passes/layout/axes.h"

namespace ingot::backends::tflite {
namespace {

using Op = BuiltinOperator;

Refused refuse_parameters(const Node& n, DType type) {
  if (!quantization_of(n)) return Refusal{Kind::not_constant, "scale or zero point are computed, or per block"};
  if (type != DType::i8 && type != DType::u8 && type != DType::i16 && type != DType::i32 && type != DType::i4)
    return Refusal{Kind::attribute_value, "TFLite does not quantise to this type"};
  const Quantization q = *quantization_of(n);
  if (type == DType::i16 && std::ranges::any_of(q.zero_point, [](std::int64_t z) { return z != 0; }))
    return Refusal{Kind::attribute_value, "TFLite quantises to 16 bits around 0"};
  return {};
}

}  // namespace

std::optional<Quantization> quantization_of(const Node& node) {
  const Tensor* scale = node.input(1) ? ops::constant_of(node.input(1)) : nullptr;
  const Tensor* zero = node.input(2) ? ops::constant_of(node.input(2)) : nullptr;
  if (!scale || scale->dtype() != DType::f32 || scale->rank() > 1 || (node.input(2) && !zero)) return std::nullopt;
  if (node.attributes.int_or("block_size", 0)) return std::nullopt;
  Quantization q;
  q.scale = scale->to_vector<float>();
  if (zero) {
    if (zero->dtype() == DType::f32) return std::nullopt;
    for (const double z : zero->to_doubles()) q.zero_point.push_back(static_cast<std::int64_t>(z));
  }
  q.zero_point.resize(q.scale.size(), 0);
  const auto& shape = node.input(0)->type.shape;
  if (q.scale.size() > 1) {
    if (!shape) return std::nullopt;
    std::int64_t axis = node.attributes.int_or("axis", 1);
    if (axis < 0) axis += static_cast<std::int64_t>(shape->size());
    q.quantized_dimension = static_cast<std::int32_t>(axis);
  }
  return q;
}

Refused refuse_quantize(const Node& n) {
  Refused why = needs_types(n, {DType::f32});
  return why ? why : refuse_parameters(n, n.output(0)->type.elem);
}
Refused refuse_dequantize(const Node& n) {
  if (n.output(0)->type.elem != DType::f32) return Refusal{Kind::attribute_value, "TFLite dequantises to float"};
  return refuse_parameters(n, n.input(0)->type.elem);
}

void emit_quantize(NodeOut& n) {
  const std::int32_t y = n.out();
  n.e.quantize(y, *quantization_of(n.node));
  n.e.add(Op::QUANTIZE, {n.in(0)}, {y});
}

void emit_dequantize(NodeOut& n) {
  const Quantization q = *quantization_of(n.node);
  std::int32_t x = n.in(0);
  const auto& known = n.e.subgraph().tensors[static_cast<std::size_t>(x)].quantization;
  const auto is_same = [&] {
    return known->scale == q.scale && known->zero_point == q.zero_point &&
           (q.scale.size() == 1 || known->quantized_dimension == q.quantized_dimension);
  };
  if (known && !is_same()) {  // the same bytes under other parameters
    const std::int32_t again = reshaped(n.e, x, n.elem(), n.shape());
    x = again;
  }
  n.e.quantize(x, q);
  n.e.add(Op::DEQUANTIZE, {x}, {n.out()}, Options(Op::DEQUANTIZE), 2);
}

std::optional<QuantizedConstant> quantized_constant(const Value* value) {
  const Node* node = value ? value->producer() : nullptr;
  if (!node || !node->is("DequantizeLinear")) return std::nullopt;
  const Tensor* t = ops::constant_of(node->input(0));
  const auto q = quantization_of(*node);
  if (!t || !q || !tensor_type_of(t->dtype())) return std::nullopt;
  return QuantizedConstant{*t, *q};
}

QuantizedConstant permuted(const QuantizedConstant& constant, const std::vector<std::int64_t>& perm) {
  QuantizedConstant made{passes::transposed(constant.tensor, perm), constant.parameters};
  if (made.parameters.scale.size() > 1)
    made.parameters.quantized_dimension =
        static_cast<std::int32_t>(passes::moved_axis(perm, constant.parameters.quantized_dimension));
  return made;
}

std::int32_t emit_quantized(Emitter& e, const QuantizedConstant& constant, const std::string& name) {
  const std::int32_t q = e.constant(constant.tensor, name);
  e.quantize(q, constant.parameters);
  const std::int32_t wide = e.temporary(DType::f32, constant.tensor.dims());
  e.add(Op::DEQUANTIZE, {q}, {wide}, Options(Op::DEQUANTIZE), 2);
  return wide;
}

bool rounds_activations(const NodeOut& n) {
  const auto q = quantized_constant(n.node.input(1));
  return q && q->tensor.dtype() == DType::i8 && !note_of(n.node.metadata, kDynamicRange).empty();
}

std::int32_t emit_weights(NodeOut& n, const QuantizedConstant& constant) {
  const std::string& name = n.node.input(1)->name();
  if (!rounds_activations(n)) return emit_quantized(n.e, constant, name);
  ++n.e.output().rounded_products;
  const std::int32_t weights = n.e.constant(constant.tensor, name);
  n.e.quantize(weights, constant.parameters);
  return weights;
}

}  // namespace ingot::backends::tflite
