#pragma once
#include "ingot/train/initialization.h"
#include "ingot/train/training_graph.h"

namespace ingot::train {

/// Writes the training graph into the model as training info: the step with its own forward pass, and the bindings. The
/// model must be the one that the graph was made of; it is moved to `opset` along with the step (0: its own, or 21
/// where that cannot say the gradients). With `initialization`, how training begins is written too.
void add_training_info(Model& model, const TrainingGraph& training, std::int64_t opset = 0,
                       const InitializationOptions* initialization = nullptr);

struct MakeTrainableOptions {
  TrainingOptions training{};
  InitializationOptions initialization{};
  std::int64_t opset = 0;  // 0: the model's own where it is able
};
/// The model with everything that training it needs written into it.
Model make_trainable(const Model& model, const MakeTrainableOptions& options = {});

/// Use 2: the step that the model's training info number `which` describes, as it stands: the inference graph and the
/// algorithm in one, Gradient operators expanded. Refuses models without, and broken ones with the place.
/// Of a model with several, variables of the algorithm's own are named as own_variable says.
TrainingGraph read_training_info(const Model& model, std::size_t which = 0);

/// Without training information, its operator sets are no longer imported.
void drop_unused_domains(Model& model);

/// The name of an algorithm's own variable among those of all algorithms of the model.
std::string own_variable(const Model& model, std::size_t which, const std::string& name);

}  // namespace ingot::train
