#pragma once
#include <string>
#include <vector>

#include "ingot/train/dataset.h"
#include "ingot/train/evaluation.h"
#include "ingot/train/training_graph.h"
#include "options.h"

namespace ingot::cli {

struct Global;

/// How a step is made, as train and make-trainable ask for it.
struct StepOptions {
  train::TrainingOptions training;
  std::string loss_graph, optimizer_graph, validation_target;

  /// With the user's own graphs read.
  train::TrainingOptions load(const Global& global) const;
};

void add_step_options(App& app, StepOptions& options);
/// Where examples come from, as train and eval ask for it.
void add_data_options(App& app, std::string& path, train::DatasetOptions& options);

/// A table of all parameters with what was decided of each, and why.
void print_parameters(const train::TrainingGraph& training);
/// A table of the variables of stored algorithms.
void print_state(const std::vector<train::TrainingGraph>& trainings);

void print_evaluation(const char* what, const train::Evaluation& e);

}  // namespace ingot::cli
