#pragma once
#include <optional>
#include <string>
#include <vector>

#include "ingot/train/dataset.h"
#include "ingot/train/losses.h"

namespace ingot {
class Budget;
}

namespace ingot::train {

struct EvaluationOptions {
  LossOptions loss{};
  std::uint64_t batch = 256;
  std::string prediction{};  // an output of the model; empty: the first
  Budget* budget = nullptr;
};

/// What a model says of data: the mean loss and, where targets are classes, the share it gets right.
struct Evaluation {
  double loss = 0;
  std::int64_t examples = 0;
  // Where targets are classes.
  std::optional<double> accuracy, top5, macro_f1;
  std::optional<double> area_under_curve;            // of two classes
  std::vector<std::vector<std::int64_t>> confusion;  // [target][prediction]
  // Where targets are real numbers.
  std::optional<double> mean_absolute_error, root_mean_square_error, explained;  // explained: R squared
};
/// Refuses words as targets where they cannot be the classes of the model: more of them than it has, or fewer, when
/// nothing says which they are. Returns what a user should know, if `allows_fewer`: words that are numbered anew.
std::string require_classes(const Model& model, const Dataset& data, const std::string& prediction, bool allows_fewer);

Evaluation evaluate(const Model& model, const Dataset& data, const EvaluationOptions& options = {});

}  // namespace ingot::train
