#pragma once
#include "ingot/train/ranks.h"
#include "ingot/train/step_runner.h"

namespace ingot::train {

/// State that ranks divide among them. All of them call the same.
class Shards {
 public:
  Shards(StepRunner& runner, Ranks& ranks, const TrainingGraph& updates)
      : runner_(runner), ranks_(ranks), updates_(updates) {}

  bool are_divided() const { return !updates_.owners.empty(); }
  /// After a step: the parameters that others moved.
  void share_parameters();
  /// The value of a variable, whoever holds it.
  Array fetch(const std::string& name);

 private:
  StepRunner& runner_;
  Ranks& ranks_;
  const TrainingGraph& updates_;
};

}  // namespace ingot::train
