#pragma once
#include <string_view>
#include <vector>

#include "ingot/ops/builder.h"

namespace ingot::ops {

// Weights of recurrent cells: frameworks keep the gates of a cell side by side in orders of their own.

/// ONNX's orders: of an LSTM input, output, forget and cell; of a GRU update, reset and hidden.
inline constexpr std::string_view kLstmGates = "iofc", kGruGates = "zrh";

/// Where each gate of `wanted` stands in `stored`, an order of the same letters: gate_order("ifco", kLstmGates) is
/// {0, 3, 1, 2}.
std::vector<std::int64_t> gate_order(std::string_view stored, std::string_view wanted);

/// The parts of an axis, one of the same size for each entry of `order`, in that order.
Value* reordered_gates(GraphBuilder& g, Value* weights, const std::vector<std::int64_t>& order, std::int64_t axis);

/// Weights as frameworks multiply by them, [inputs, gates * units], in ONNX's form, [1, gates * units, inputs].
Value* onnx_weights(GraphBuilder& g, Value* weights, const std::vector<std::int64_t>& order);

/// ONNX's bias, [1, 2 * gates * units]: that of the input, then that of the state. Each is [gates * units], in the
/// order given, or null for zeros.
Value* onnx_bias(GraphBuilder& g, Value* input, Value* state, const std::vector<std::int64_t>& order,
                 std::int64_t units, DType elem);

}  // namespace ingot::ops
