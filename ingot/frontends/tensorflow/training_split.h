#pragma once
#include "ingot/frontends/tensorflow/training.h"

namespace ingot::frontends::tensorflow {

/// Moves the nodes that inference does not need into an algorithm, with inputs and variables that only it reads.
TrainingInfo split_training(Graph& main, Variables& variables, const Losses& losses);

}  // namespace ingot::frontends::tensorflow
