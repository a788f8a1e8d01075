#pragma once
#include "ingot/train/ranks.h"
#include "ingot/train/step_runner.h"

namespace ingot::train {

/// Makes gradients, statistics and loss of the part that was just run those of the whole batch: the mean over all
/// ranks, of which this one counts by `weight`. The weights of all ranks add up to 1.
void exchange(StepRunner& runner, Ranks& ranks, const TrainingGraph& gradients, double weight);

}  // namespace ingot::train
