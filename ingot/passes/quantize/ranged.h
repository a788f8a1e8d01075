#pragma once
#include "ingot/ir/model.h"
#include "ingot/passes/quantize/quantize.h"

namespace ingot::passes::quantize_parts {

/// By ranges: QuantizeLinear and DequantizeLinear around the nodes chosen.
QuantizeReport quantize_by_ranges(Graph& graph, const QuantizeOptions& options, const ValueRanges& ranges);
/// The values whose ranges that takes.
std::vector<const Value*> values_with_ranges(const Graph& graph, const QuantizeOptions& options);

/// By the range of each run: MatMulInteger and ConvInteger behind DynamicQuantizeLinear.
QuantizeReport quantize_dynamically(Graph& graph, const QuantizeOptions& options);

/// Weights alone: DequantizeLinear before the product, or MatMulNBits.
QuantizeReport quantize_weights(Model& model, const QuantizeOptions& options);

/// Operators between DequantizeLinear and QuantizeLinear become those that take integers, where there are such.
void to_integer_operators(Model& model);

}  // namespace ingot::passes::quantize_parts
