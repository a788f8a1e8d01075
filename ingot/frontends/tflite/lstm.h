#pragma once
#include <functional>
#include <utility>

#include "ingot/frontends/tflite/recurrent.h"

namespace ingot::frontends::tflite {

/// One direction of an LSTM: where its parameters stand among the operator's inputs, in TFLite's order of the gates
/// input, forget, cell, output.
struct Lstm {
  std::size_t x = 0, w = 1, r = 5, peephole = 9, bias = 12, projection = 16, h = 18, c = 19, norm = 20;
};

/// Bias of gate k (input, forget, cell, output): real, or null.
Value* gate_bias(Op& op, const Lstm& l, std::size_t k);
/// The states after one step, from x, h and c.
using LstmStep = std::function<std::pair<Value*, Value*>(GraphBuilder&, Value*, Value*, Value*)>;
/// A Scan over the steps of a sequence.
Sequence scanned(Op& op, Value* x, Value* h, Value* c, bool is_reverse, const LstmStep& step);
/// The cell in its most general form, of real numbers.
Sequence general_lstm(Op& op, const Lstm& l, Value* x, Value* h, Value* c, bool is_reverse);
/// Whether TFLite computes the cell in integers, in a form that integer_lstm knows.
bool is_integer_lstm(const Op& op, const Lstm& l);
/// That cell to the last bit; all values are as their tensors store them.
Sequence integer_lstm(Op& op, const Lstm& l, Value* x, Value* h, Value* c, bool is_reverse);

}  // namespace ingot::frontends::tflite
