#pragma once
#include "ingot/frontends/tflite/recurrent.h"

namespace ingot::frontends::tflite {

/// One direction of an LSTM: where its parameters stand among the operator's inputs, in TFLite's order of the gates
/// input, forget, cell, output.
struct Lstm {
  std::size_t x = 0, w = 1, r = 5, peephole = 9, bias = 12, projection = 16, h = 18, c = 19, norm = 20;
};

/// Bias of gate k (input, forget, cell, output): real, or null.
Value* gate_bias(Op& op, const Lstm& l, std::size_t k);
/// A Scan over the cell in its most general form, as TFLite computes it.
Sequence general_lstm(Op& op, const Lstm& l, Value* x, Value* h, Value* c, bool is_reverse);

}  // namespace ingot::frontends::tflite
