#pragma once
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "ingot/train/training_graph.h"

namespace ingot::train {

struct InitializationOptions {
  /// kaiming: uniform within 1 / sqrt(fan-in), as PyTorch begins; xavier: within sqrt(6 / (fan-in + fan-out)); zeros;
  /// keep: parameters and statistics stay as they are, only the optimizer's variables begin anew.
  std::string scheme = "kaiming";
  std::uint64_t seed = 0;
};

/// Writes how training begins into the info: draws for parameters, zeros for what the optimizer keeps. `names` maps
/// the training graph's variables to those of the info where they differ.
void add_initialization(TrainingInfo& info, Graph& inference, const TrainingGraph& training,
                        const std::unordered_map<std::string, std::string>& names,
                        const InitializationOptions& options);

/// Runs the initializations of all training infos, in order, and puts what they give into the model's initializers.
/// Returns the names of the variables that were set. Refuses models that have none.
std::vector<std::string> initialize(Model& model);

}  // namespace ingot::train
