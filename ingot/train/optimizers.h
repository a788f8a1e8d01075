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

/// Of FTRL, by Keras's words: the power of the learning rate, penalties, what the rate is smoothed by.
struct FtrlOptions {
  double power = -0.5, l1 = 0, l2 = 0, shrinkage = 0, beta = 0;
};
/// Of Adafactor: how the second moment's decay grows, bounds from below of squares and of a parameter's size, and the
/// longest step.
struct AdafactorOptions {
  double decay = -0.8, least_square = 1e-30, least_size = 1e-3, longest = 1;
};

/// How parameters follow their gradients. Numbers left out have the defaults of the flavour.
struct OptimizerOptions {
  /// "adam", or with a flavour "adam@keras": whose formula it is.
  std::string name = "sgd";
  std::optional<double> lr{};
  std::optional<double> momentum{}, weight_decay{}, beta1{}, beta2{}, epsilon{}, rho{};
  double dampening = 0, lr_decay = 0;
  bool amsgrad = false;   // adam, adamw: divided by the largest second moment so far
  bool centered = false;  // rmsprop: divided by the variance
  double first_sum = 0;   // what the sums of squares of adagrad and ftrl begin with
  FtrlOptions ftrl{};
  AdafactorOptions adafactor{};
  std::vector<std::string> no_decay{};  // names with * and ? of parameters that weight decay leaves alone
};

/// sgd, momentum, nesterov, adagrad, rmsprop, adadelta, adam, adamw, adamax, nadam, lamb, lion, ftrl, adafactor.
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
