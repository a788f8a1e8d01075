#pragma once
#include <span>

#include "ingot/ops/rnn/activation.h"
#include "ingot/ops/steps.h"

namespace ingot::ops {

/// One step of a recurrent layer while it is written as nodes, for all sequences of a batch at once. All tables have
/// a column for each unit of each gate, gate after gate.
struct RecurrentCell {
  GraphBuilder& g;
  std::int64_t size;     // units
  Value *hidden, *cell;  // [batch, units], the state before the step; cell is LSTM's
  Value* input;          // [batch, gates * units]: W x and the input's bias
  Value* recurrence;     // [units, gates * units]
  Value* bias;           // [gates * units], of the recurrence; null: none
  Value* peephole;       // [3 * units]; null: none
  std::span<const RecurrentActivation> activations;
  std::optional<float> clip;

  /// The columns of some gates of a table with two axes, or of a vector.
  Value* gates(Value* table, std::int64_t first, std::int64_t count = 1) const;
  /// A function of the layer, which sees nothing beyond the clip.
  Value* activate(std::size_t function, Value* x) const;
};

/// What the state is after a step: hidden and, for LSTM, cell.
using CellStep = Values (*)(const DecomposeContext&, const RecurrentCell&);

/// A recurrent layer as a Scan over its steps; {} where the number of units is not known.
Values recurrent_by_scan(DecomposeContext& c, std::int64_t gates, bool with_cell,
                         const std::vector<std::string>& activations, CellStep step);

}  // namespace ingot::ops
