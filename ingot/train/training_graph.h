#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "ingot/ir/opaque_model.h"
#include "ingot/train/losses.h"
#include "ingot/train/optimizers.h"
#include "ingot/train/parameters.h"

namespace ingot::train {

struct TrainingOptions {
  LossOptions loss{};
  OptimizerOptions optimizer{};
  ParameterOptions parameters{};
  std::string prediction{};             // an output of the model; empty: the first
  std::string penalty{};                // an output of the model, one number, that is added to the loss; empty: none
  double clip_norm = 0;                 // longest gradient over all parameters; 0: no limit
  double clip_tensor = 0;               // the same for each parameter alone
  double clip_value = 0;                // largest element of a gradient
  std::uint64_t accumulate = 1;         // gradients of so many batches make one step
  std::vector<std::string> stops = {};  // values through which no gradient flows back
  bool reports_norm = true;             // the length of the gradient is an output
  bool recomputes = false;              // activations are computed again instead of kept
  bool keeps_gradient_op = false;       // one Gradient operator instead of its expansion: to be stored, not to be run
  /// A loss of the user's own: inputs 'prediction' and 'target' (or two in this order), one real number out.
  std::shared_ptr<const Model> loss_graph{};
  /// An optimizer of the user's own: inputs 'parameter' and 'gradient', 'lr' and 'step' if it likes, and any others
  /// are its variables, zero at first or as their defaults say; outputs 'parameter.next' and '<variable>.next'.
  std::shared_ptr<const Model> optimizer_graph{};
};

/// One training step as a graph: what changes from step to step are initializers that have a successor.
struct TrainingGraph {
  struct State {
    std::string name;  // an initializer
    std::string next;  // the value it has after the step
  };
  Model model;  // of the newest operator sets; outputs: loss, prediction, and gradient norm if asked for
  std::vector<State> state;
  std::size_t parameter_count = 0;  // the first so many of `state`
  std::string loss, prediction, target, norm;
  std::string lr, step;              // variables of the algorithm; empty: it has none that are known
  std::vector<std::string> shared;   // initializers that other algorithms of the same model change
  std::vector<std::string> passing;  // variables that mean nothing after the step
  /// Where several processes divide the state among them: whose each variable is (others are everybody's), and who this
  /// is. Only the owner moves a variable; an optimizer's own variables nobody else holds.
  std::unordered_map<std::string, int> owners;
  int own_rank = 0;
  std::vector<ParameterChoice> parameters;
  std::vector<std::string> notes;  // what a user should know
};

/// Whether the process that the graph is for moves a variable.
bool moves(const TrainingGraph& training, const std::string& name);

/// Use 1: the model in training mode, with loss, gradients and optimizer.
TrainingGraph make_training_graph(const Model& model, const TrainingOptions& options);

/// The same in two: the first gives loss, statistics and gradients, which are variables, the second
/// moves the parameters by these. Between the two, gradients can be changed, such as by those of other processes.
/// If these divide the optimizer's state among them, each moves parameters of about the same size in all.
struct Division {
  int rank = 0, count = 1;
};
std::vector<TrainingGraph> make_separate_graphs(const Model& model, const TrainingOptions& options,
                                                const Division& division = {});

/// The same as one ordinary graph that any runtime runs: the state comes in under its names and goes out under these
/// with ".next" at the end, after loss and prediction.
Model step_graph(const TrainingGraph& training);
/// The output of a step graph that becomes the input of this name in the next step.
std::string next_name(const std::string& state);

}  // namespace ingot::train
