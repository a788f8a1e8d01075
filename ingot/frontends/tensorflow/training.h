#pragma once
#include <string>
#include <utility>
#include <vector>

#include "ingot/frontends/tensorflow/ports.h"
#include "ingot/frontends/tensorflow/translation.h"

namespace ingot::frontends::tensorflow {

/// What a step makes small, by name.
using Losses = std::vector<std::pair<std::string, Value*>>;

/// Translates whatever makes a step, and finds what it makes small.
Losses translate_training(Translation& t);

/// Nodes that inference does not need become the model's training: a step, and how variables begin.
void finish_training(Translation& t, const Losses& losses);

}  // namespace ingot::frontends::tensorflow
