#pragma once
#include <optional>

#include "ingot/backends/tflite/operators.h"

namespace ingot::backends::tflite {

/// Scale, zero point and axis of a QuantizeLinear or DequantizeLinear as TFLite's; nothing if they are not constant or
/// of a form that TFLite does not have.
std::optional<Quantization> quantization_of(const Node& node);

/// A quantised constant behind a DequantizeLinear: weights of a quantised network.
struct QuantizedConstant {
  ingot::Tensor tensor;
  Quantization parameters;
};
std::optional<QuantizedConstant> quantized_constant(const Value* value);
/// The same with its axes in another order.
QuantizedConstant permuted(const QuantizedConstant& constant, const std::vector<std::int64_t>& perm);
/// The quantised constant as a tensor, and a DEQUANTIZE behind it, which fuse_quantized takes out again.
std::int32_t emit_quantized(Emitter& e, const QuantizedConstant& constant, const std::string& name);

/// Weights of a product: as above, or the integers alone where the source rounds its activations while it runs.
std::int32_t emit_weights(NodeOut& n, const QuantizedConstant& constant);
/// Whether the node comes from such a product, and its weights are integers.
bool rounds_activations(const NodeOut& n);

/// TFLite's kernels for weights of int8 take activations of int8. Where a graph has such weights beside activations of
/// uint8, the latter become int8 with the same scales and zero points less 128, which changes no number; inputs and
/// outputs of the graph keep their type, with a QUANTIZE beside them. Call it before fuse_quantized.
void prefer_signed(Output& output);
/// DEQUANTIZE -> operator -> QUANTIZE becomes the quantised operator, where TFLite has it with these parameters.
/// Constants whose DEQUANTIZE is left are turned into float constants.
void fuse_quantized(Output& output);
/// DEQUANTIZE of int32, which TFLite does not have and fuse_quantized has left, becomes a cast and a product.
void split_wide_dequantize(Output& output);
/// Operators that only move quantised elements have the same parameters on both sides. Call it after fuse_quantized.
void spread_quantization(Output& output);
/// Operators that hand elements on without looking at them.
bool moves_elements(BuiltinOperator op);
/// RELU and the like become part of the operator before them.
void fuse_activations(Output& output);

}  // namespace ingot::backends::tflite
