#pragma once
#include <optional>
#include <string>
#include <vector>

#include "ingot/base/bytes.h"

namespace ingot {
class Model;
class Value;
}  // namespace ingot

namespace ingot::train {

/// How parameters follow their gradients. Numbers left out have the defaults of the flavour.
struct OptimizerOptions {
  /// "adam", or with a flavour "adam@keras": whose formula it is.
  std::string name = "sgd";
  std::optional<double> lr{};
  std::optional<double> momentum{}, weight_decay{}, beta1{}, beta2{}, epsilon{}, rho{};
  double dampening = 0, lr_decay = 0;
  std::vector<std::string> no_decay{};  // names with * and ? of parameters that weight decay leaves alone
};

/// sgd, momentum, nesterov, adagrad, rmsprop, adadelta, adam, adamw, adamax, nadam, lamb, lion.
const std::vector<std::string>& optimizer_names();

/// The learning rate of the options, or the optimizer's own.
double learning_rate(const OptimizerOptions& options);

/// A variable that lives from step to step: an initializer of the graph, and the value it has after the step.
struct StateVariable {
  Value* now = nullptr;
  Value* next = nullptr;
};

/// Zeros, which take memory only where they are written.
Bytes zero_bytes(std::size_t size);

/// Extends the graph by one step of the optimizer. `lr` is a double, `step` an int64 that counts from 0. Returns the
/// parameters' new values in order, then the optimizer's own variables, which become initializers named
/// "train/<parameter>/<slot>".
std::vector<StateVariable> add_optimizer(const OptimizerOptions& options, const std::vector<Value*>& parameters,
                                         const std::vector<Value*>& gradients, Value* lr, Value* step);
/// The same by a user's own model, as TrainingOptions::optimizer_graph describes it.
std::vector<StateVariable> add_optimizer(const Model& optimizer, const std::vector<Value*>& parameters,
                                         const std::vector<Value*>& gradients, Value* lr, Value* step);

}  // namespace ingot::train
