#pragma once
#include "ingot/ir/model.h"

namespace ingot::train {

bool has_gradients(const Model& model);

/// Puts derivatives, built by the operators' rules, in the place of the model's Gradient nodes, nested ones too
/// (higher derivatives). A model with such nodes is brought to the newest operator sets first; others stay as they
/// are.
void expand_gradients(Model& model);
/// The same for a graph of the newest operator sets with types inferred.
void expand_gradients(Graph& graph);

}  // namespace ingot::train
