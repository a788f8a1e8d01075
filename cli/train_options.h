#pragma once
#include <string>

#include "ingot/train/trainer.h"
#include "ingot/train/training_graph.h"

namespace CLI {
class App;
}

namespace ingot::cli {

/// How a step is made: loss, optimizer and parameters, as train and make-trainable ask for them.
void add_step_options(CLI::App& app, train::TrainingOptions& options);
/// Where examples come from, as train and eval ask for it.
void add_data_options(CLI::App& app, std::string& path, train::DatasetOptions& options);

/// A table of all parameters with what was decided of each, and why.
void print_parameters(const train::TrainingGraph& training);

}  // namespace ingot::cli
