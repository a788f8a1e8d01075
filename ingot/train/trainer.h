#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "ingot/train/dataset.h"
#include "ingot/train/step_runner.h"

namespace ingot::train {

struct LoopOptions {
  std::uint64_t batch = 32;
  std::uint64_t epochs = 1;
  std::uint64_t steps = 0;  // if not 0, this many steps whatever the epochs
  std::uint64_t seed = 0;
  bool shuffles = true;
  std::string schedule = "constant";  // constant, linear, cosine, step
  std::uint64_t warmup = 0;           // steps
  std::string checkpoints;            // directory; empty: none
  std::uint64_t every = 500;          // steps between checkpoints
  std::uint64_t keep = 3;
  bool resumes = false;
};

struct Progress {
  std::uint64_t step = 0, step_count = 0, epoch = 0;
  double loss = 0, norm = 0, lr = 0;
  std::uint64_t examples = 0;  // seen in this run
};

struct LoopReport {
  std::uint64_t steps = 0;
  std::uint64_t resumed_at = 0;
  double first_loss = 0, last_loss = 0;
  bool was_stopped = false;
  std::vector<std::string> notes;
};

/// Trains from where the runner's state stands. `on_step` is told of each step; false ends the run after a checkpoint.
/// Throws Error(Code::diverged) when the loss is not finite.
LoopReport run_loop(StepRunner& runner, const TrainingGraph& training, const Dataset& data, double lr,
                    const LoopOptions& options, const std::function<bool(const Progress&)>& on_step);

/// The learning rate of one step.
double scheduled_rate(const LoopOptions& options, double lr, std::uint64_t step, std::uint64_t step_count);

/// Writes the trained weights and statistics into the model they came from; nothing else changes.
void export_weights(const StepRunner& runner, Model& model);

/// What a model says of data: the mean loss and, where targets are classes, the share it gets right.
struct Evaluation {
  double loss = 0;
  std::optional<double> accuracy;
  std::optional<double> mean_absolute_error, root_mean_square_error;
  std::int64_t examples = 0;
};
Evaluation evaluate(const Model& model, const Dataset& data, const LossOptions& loss, std::uint64_t batch,
                    const std::string& prediction = {});

}  // namespace ingot::train
