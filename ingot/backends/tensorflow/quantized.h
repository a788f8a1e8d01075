#pragma once
#include <optional>
#include <vector>

#include "ingot/backends/tensorflow/operators.h"

namespace ingot::backends::tensorflow {

/// The numbers that a quantised tensor can hold, as TensorFlow's FakeQuant operators are told them.
struct FakeGrid {
  std::vector<float> scales, lows, highs;  // one, or one for each channel
  std::int64_t axis = -1;                  // of the channels
  DType type = DType::u8;
  friend bool operator==(const FakeGrid&, const FakeGrid&) = default;
};

/// Of a QuantizeLinear or DequantizeLinear; nothing: parameters are computed, or of a form that FakeQuant does not
/// have.
std::optional<FakeGrid> fake_grid(const Node& node);

/// Whether a DequantizeLinear makes the weights of products, and of nothing else, from a constant.
bool holds_weights(const Node& dequantize);
/// A constant behind such a node, as the floats that it means.
struct QuantizedWeights {
  ingot::Tensor floats;
  FakeGrid grid;
};
std::optional<QuantizedWeights> quantized_weights(const Value* value);

/// Floats rounded to the grid.
Ref fake_quantized(Emitter& e, Ref x, std::size_t rank, const FakeGrid& grid);

}  // namespace ingot::backends::tensorflow
