#pragma once
#include "ingot/train/training_graph.h"

namespace ingot::train {

/// Writes the training graph into the model as training info: the step with its own forward pass, and the bindings. The
/// model must be the one that the graph was made of; it is moved to `opset` along with the step (0: its own, or 21
/// where that cannot say the gradients).
void add_training_info(Model& model, const TrainingGraph& training, std::int64_t opset = 0);

/// Use 2: the step that the model's training info number `which` describes, as it stands: the inference graph and the
/// algorithm in one, Gradient operators expanded. Refuses models without.
TrainingGraph read_training_info(const Model& model, std::size_t which = 0);

}  // namespace ingot::train
