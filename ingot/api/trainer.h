#pragma once
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "ingot/api/session.h"
#include "ingot/train/dataset.h"
#include "ingot/train/loop.h"
#include "ingot/train/training_graph.h"

namespace ingot {

/// A model in training. Not for use by several threads at once.
///
///   ingot::TrainingOptions how;
///   how.loss.name = "cross_entropy";
///   how.optimizer.name = "adam";
///   ingot::Trainer trainer(model, how);
///   trainer.fit(data, {.batch = 64, .epochs = 5});
///   ingot::save(trainer.trained(), "trained.onnx");
class Trainer {
 public:
  /// Loss, gradients and optimizer are derived.
  Trainer(const Model& model, const train::TrainingOptions& options, const SessionOptions& session = {});
  /// The training infos that the model carries, in this order; none named: all.
  static Trainer stored(const Model& model, const std::vector<std::size_t>& algorithms = {},
                        const SessionOptions& session = {});
  Trainer(Trainer&&) noexcept;
  Trainer& operator=(Trainer&&) noexcept;
  ~Trainer();

  /// One step on inputs and targets by name (see target_name()); returns the loss.
  double step(const std::vector<NamedDatum>& batch);
  /// Trains from where it stands. Throws Error(Code::diverged), naming the first node at fault, when numbers are no
  /// longer finite.
  train::LoopReport fit(const train::Dataset& data, const train::LoopOptions& options,
                        const train::LoopEvents& events = {});
  /// The model with the weights as they are now.
  Model trained(bool with_training = false) const;
  /// The input that takes the targets.
  const std::string& target_name() const;
  /// What a user should know of how the model is trained, a line each.
  std::vector<std::string> notes() const;

 private:
  struct State;
  explicit Trainer(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace ingot
