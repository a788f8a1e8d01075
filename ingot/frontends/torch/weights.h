#pragma once
#include <string>
#include <vector>

#include "ingot/formats/torch/safetensors.h"
#include "ingot/formats/torch/saved.h"
#include "ingot/ir/model.h"

namespace ingot::frontends::torch {

/// A model of weights alone: the tensors of a state dictionary, however deep they lie in it, by their dotted names.
/// Refuses pickled modules, whose meaning is Python code.
Model import_weights(const formats::torch::Saved& saved, Budget* budget);
Model import_weights(const formats::torch::Safetensors& content);

/// Puts weights into a model whose initializers have their names, whatever stands before these ("state_dict.",
/// "module."). Refuses weights of other shapes, all at once, and files that have none of the model's names. Returns
/// what the reader of a report should know.
std::vector<std::string> put_weights(Model& model, const Model& weights);

/// The weights of a model, for a file of weights.
formats::torch::Safetensors weights_of(const Model& model);

}  // namespace ingot::frontends::torch
