#pragma once
#include "ingot/ops/infer.h"
#include "ingot/ops/steps.h"

namespace ingot::ops {

/// Infers RNN, GRU and LSTM: X [seq, batch, in], W [dirs, gates*hidden, in], R [dirs, gates*hidden, hidden].
void infer_recurrent(InferContext& c, std::int64_t gates);

/// Until 6, output_sequence said whether Y was wanted; since then it is an optional output like others.
void drop_output_sequence(StepContext& c);
/// Until 13, the sequence was always the first axis.
void undo_batch_first(StepContext& c);

}  // namespace ingot::ops
