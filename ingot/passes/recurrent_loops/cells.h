#pragma once
#include "ingot/passes/recurrent_loops/sequence_loop.h"

namespace ingot::passes::recurrent_loops {

// Each replaces the loop by the operator if its round is that cell. False: it is another; nothing has changed.
bool replace_by_rnn(SequenceLoop& loop);
bool replace_by_gru(SequenceLoop& loop);
bool replace_by_lstm(SequenceLoop& loop);

}  // namespace ingot::passes::recurrent_loops
