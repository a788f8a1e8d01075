#pragma once
#include "ingot/ir/model.h"

namespace ingot::passes {

/// Loops that are nothing but an LSTM, a GRU or a plain recurrent cell over all steps of a sequence become the
/// operator, in the model's graph and in its functions; subgraphs stay. A loop that differs in anything stays. The
/// model must be of the newest operator set, with types inferred. Returns how many loops were replaced.
std::size_t recognise_recurrent_loops(Model& model);

}  // namespace ingot::passes
