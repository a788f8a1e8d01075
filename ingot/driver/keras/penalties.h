#pragma once
#include <string>
#include <vector>

#include "ingot/frontends/keras/import.h"
#include "ingot/train/training_graph.h"

namespace ingot::driver::keras {

/// The name of the output that add_penalty makes.
inline constexpr const char* kPenalty = "keras_penalty";

/// What regularizers of weights and activities add to the loss, as one more output of the model; false: nothing does.
/// Refuses regularizers that are Python code.
bool add_penalty(Model& model, const frontends::keras::Imported& imported);

/// The constraints of the parameters, applied to what each step makes of them. Refuses those that are Python code.
void constrain(train::TrainingGraph& training, const std::vector<frontends::keras::Parameter>& parameters);

}  // namespace ingot::driver::keras
