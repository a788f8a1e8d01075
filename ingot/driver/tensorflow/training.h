#pragma once
#include <string>
#include <vector>

#include "ingot/backends/tensorflow/saved_model.h"
#include "ingot/ir/model.h"

namespace ingot::driver::tensorflow {

/// All that the training information of a model changes or reads as a variable, with the values that the file has.
std::vector<backends::tensorflow::SavedVariable> training_variables(const Model& model);

/// The model alone, with inputs where it has initializers that are variables.
Model with_inputs_for(const Model& model, const std::vector<backends::tensorflow::SavedVariable>& variables);

/// Adds the signatures 'train', one step that gives the loss, and, where the model says how training begins, 'init'.
/// Of several algorithms the second is 'train_2'.
void add_training(const Model& model, const backends::tensorflow::ExportOptions& options,
                  std::vector<backends::tensorflow::SignatureGraph>& graphs, std::vector<std::string>& notes);

}  // namespace ingot::driver::tensorflow
