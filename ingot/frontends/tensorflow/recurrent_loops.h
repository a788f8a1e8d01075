#pragma once
#include "ingot/ir/graph.h"

namespace ingot::frontends::tensorflow {

/// Loops that are nothing but an LSTM, a GRU or a plain recurrent cell over all steps of a sequence become the
/// operator. A loop that differs in anything stays. Gives how many were replaced.
std::size_t recognise_recurrent_loops(Graph& graph);

}  // namespace ingot::frontends::tensorflow
