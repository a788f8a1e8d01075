#pragma once
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "ingot/engine/session.h"
#include "ingot/train/training_graph.h"

namespace ingot::train {

/// Training graphs that are ready to run, with their state. Several are algorithms of one model: a step runs each in
/// turn, and variables of one name are one.
class StepRunner {
 public:
  explicit StepRunner(const TrainingGraph& training, const engine::SessionOptions& options = {});
  explicit StepRunner(const std::vector<TrainingGraph>& trainings, const engine::SessionOptions& options = {});

  /// One step on a batch: the model's inputs and the target by name. All of an algorithm's state moves at once.
  /// Returns loss, prediction and, where asked for, the gradient's length, of the last algorithm.
  std::vector<engine::NamedDatum> step(const std::vector<engine::NamedDatum>& batch);
  /// Of the last algorithm that has one.
  double loss() const { return losses_[loss_part_]; }
  void set_loss(double loss) { losses_[loss_part_] = loss; }
  const std::vector<double>& losses() const { return losses_; }
  double norm() const { return norm_; }
  /// Whether losses, the gradient's length and all parameters are finite numbers.
  bool is_finite() const;
  /// After a step whose numbers are not: the first node that made one out of finite ones, as the same step tells when
  /// it is run again with everything in sight. Empty: none is found.
  std::string first_not_finite(const std::vector<engine::NamedDatum>& batch) const;

  /// What the next step draws, in place of the successor of what the last one drew.
  void set_draw(std::uint64_t draw) { draw_ = draw; }
  /// Called between two algorithms of a step, when the first has moved its state; it may change that.
  void set_exchange(std::function<void()> exchange) { exchange_ = std::move(exchange); }
  /// Told of what the first algorithm of a step makes of its state as soon as it is known.
  using Watch = std::function<void(const std::string& name, const Array& next)>;
  void set_watch(Watch watch) { watch_ = std::move(watch); }
  /// Called at the end of a step, when all state has moved; it may change that.
  void set_after(std::function<void()> after) { after_ = std::move(after); }
  /// Filled by the steps from now on with what each node did; null: no more.
  void set_profile(engine::Profile* profile) { profile_ = profile; }

  void set_learning_rate(double lr);
  /// Whether an algorithm has a learning rate that is known by name.
  bool has_learning_rate() const;

  /// All that changes, parameters first; of what several processes divide among them, also what others hold.
  const std::vector<std::string>& state_names() const { return names_; }
  bool has_state(const std::string& name) const { return state_.contains(name); }
  Array state(const std::string& name) const { return state_.at(name); }
  void set_state(const std::string& name, const Array& value) { adopt(name, value); }

 private:
  struct Part {
    Model step;
    std::unique_ptr<engine::Session> session;
    std::vector<std::string> changes;  // names of state, in the order of the last outputs
    std::unordered_set<std::string> inputs;
    std::string lr, loss, norm;
  };
  using State = std::unordered_map<std::string, Array>;
  /// Memory of the runner's own, which steps may write over while nobody else looks at it.
  void adopt(const std::string& name, const Array& value);
  void allow_writing(engine::InPlace& in_place);
  static std::vector<engine::NamedDatum> feed(const Part& part, const std::vector<engine::NamedDatum>& batch,
                                              const State& state);

  engine::SessionOptions options_;
  std::vector<Part> parts_;
  std::vector<std::string> names_, parameters_;
  State state_, before_;
  std::unordered_map<std::string, std::shared_ptr<Array>> owned_;
  std::unordered_set<std::string> written_;  // what the last step wrote over
  bool was_refused_ = false;                 // the last step: its gradients are not finite
  bool has_written_well_ = true;             // it wrote finite parameters
  engine::Profile* profile_ = nullptr;
  std::vector<double> losses_;
  std::size_t loss_part_ = 0;
  std::function<void()> exchange_, after_;
  Watch watch_;
  double norm_ = 0;
  std::uint64_t draw_ = 1;
};

}  // namespace ingot::train
