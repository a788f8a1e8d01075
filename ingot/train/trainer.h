#pragma once
#include <optional>
#include <string>
#include <vector>

#include "ingot/train/checkpoint.h"
#include "ingot/train/dataset.h"
#include "ingot/train/evaluation.h"
#include "ingot/train/loop.h"
#include "ingot/train/step_runner.h"

namespace ingot::train {

/// Trains from where the runner's state stands, on batches of the data. Throws Error(Code::diverged), naming the first
/// node at fault, when numbers are no longer finite.
LoopReport run_loop(StepRunner& runner, const std::vector<TrainingGraph>& trainings, const Dataset& data,
                    const LoopOptions& options, const LoopEvents& events);

/// Writes the trained weights and statistics into the model they came from; nothing else changes. With
/// `with_training`, the variables of its training infos follow.
void export_weights(const StepRunner& runner, Model& model, bool with_training = false);

/// A model in training.
///
///   train::TrainingOptions how;
///   how.loss.name = "cross_entropy";
///   how.optimizer.name = "adam";
///   train::Trainer trainer(model, how);
///   trainer.fit(train::load_dataset("train.csv", {.target = "class"}), {.batch = 64, .epochs = 5});
///   driver::save(trainer.trained(), "trained.onnx");
class Trainer {
 public:
  /// Use 1: loss, gradients and optimizer are derived.
  Trainer(const Model& model, const TrainingOptions& options, const engine::SessionOptions& session = {});
  /// The same for one of several processes that share each batch (LoopOptions::ranks), and, if they are to divide the
  /// optimizer's state among them, for which.
  static Trainer shared(const Model& model, const TrainingOptions& options, const engine::SessionOptions& session = {},
                        const Division& division = {});
  /// Use 2: the training infos that the model carries, in this order; none named: all.
  static Trainer stored(const Model& model, const std::vector<std::size_t>& algorithms = {},
                        const engine::SessionOptions& session = {});

  /// One step on inputs and targets by name (see target_name()); returns the loss.
  double step(const std::vector<engine::NamedDatum>& batch);
  LoopReport fit(const Dataset& data, const LoopOptions& options, const LoopEvents& events = {});
  /// The model with the weights as they are now.
  Model trained(bool with_training = false) const;

  const std::vector<TrainingGraph>& graphs() const { return graphs_; }
  const std::string& target_name() const { return graphs_.front().target; }
  StepRunner& runner() { return runner_; }

 private:
  Trainer(const Model& model, std::vector<TrainingGraph> graphs, const engine::SessionOptions& session);

  Model model_;
  std::vector<TrainingGraph> graphs_;
  StepRunner runner_;
  std::optional<double> lr_;  // that the options asked for; schedules start from it
};

}  // namespace ingot::train
