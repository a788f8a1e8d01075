#pragma once
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "ingot/engine/session.h"
#include "ingot/train/training_graph.h"

namespace ingot::train {

/// A training graph that is ready to run, with its state.
class StepRunner {
 public:
  explicit StepRunner(const TrainingGraph& training, const engine::SessionOptions& options = {});

  /// One step on a batch: the model's inputs and the target by name. All of the state moves at once.
  /// Returns loss, prediction and, where asked for, the gradient's length.
  std::vector<engine::NamedDatum> step(const std::vector<engine::NamedDatum>& batch);
  double loss() const { return loss_; }
  double norm() const { return norm_; }

  void set_learning_rate(double lr);
  /// Whether the algorithm has a learning rate that is known by name.
  bool has_learning_rate() const { return !lr_.empty(); }

  const std::vector<std::string>& state_names() const { return names_; }
  Array state(const std::string& name) const { return state_.at(name); }
  void set_state(const std::string& name, Array value) { state_.at(name) = std::move(value); }

 private:
  std::unique_ptr<engine::Session> session_;
  std::vector<std::string> names_;
  std::unordered_map<std::string, Array> state_;
  std::string lr_, loss_name_, norm_name_;
  double loss_ = 0, norm_ = 0;
};

}  // namespace ingot::train
