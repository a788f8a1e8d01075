#pragma once
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "ingot/train/checkpoint.h"
#include "ingot/train/dataset.h"
#include "ingot/train/evaluation.h"
#include "ingot/train/step_runner.h"

namespace ingot::train {

struct LoopOptions {
  std::uint64_t batch = 32;
  std::uint64_t epochs = 1;
  std::uint64_t steps = 0;  // if not 0, this many steps whatever the epochs
  std::uint64_t seed = 0;
  bool shuffles = true;
  std::optional<double> lr;           // absent: the algorithm's own stays
  std::string schedule = "constant";  // see Schedule
  std::uint64_t warmup = 0;           // steps
  std::string checkpoints;            // directory; empty: none
  std::string every = "500";          // between checkpoints: "500", "500steps", "1epoch", "10min"
  std::uint64_t keep = 3;
  bool resumes = false, resumes_by_force = false;
  std::uint64_t patience = 0;          // judgements without progress after which the run ends; 0: it does not
  double min_delta = 0;                // what counts as progress
  bool restores_best = false;          // the best state is the last
  RunSettings settings;                // compared when a run goes on
  engine::Profile* profile = nullptr;  // filled with what each node did in the ten steps after the first
};

struct Progress {
  std::uint64_t step = 0, step_count = 0, epoch = 0;
  double loss = 0, norm = 0, lr = 0;
  std::uint64_t examples = 0;  // seen in this run
};

struct EpochEnd {
  std::uint64_t epoch = 0;  // from 0
  std::uint64_t step = 0;   // steps done
  double mean_loss = 0;     // of its steps
};

struct LoopEvents {
  /// Told of each step; false ends the run after a checkpoint.
  std::function<bool(const Progress&)> on_step;
  /// Told of each epoch that ends; what it gives is judged: smaller is better. Without, the mean loss is.
  std::function<double(const EpochEnd&)> on_epoch;
  /// Told at once what a user should know, such as of a damaged checkpoint. Without, it is in the report.
  std::function<void(const std::string&)> on_note;
};

struct LoopReport {
  std::uint64_t steps = 0;
  std::uint64_t resumed_at = 0;
  double first_loss = 0, last_loss = 0;
  bool was_stopped = false;        // by on_step
  bool ended_early = false;        // for lack of progress
  std::optional<double> restored;  // the judgement of the state that was put back
  std::vector<std::string> notes;
};

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
