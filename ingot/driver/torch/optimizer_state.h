#pragma once
#include <string>
#include <vector>

#include "ingot/driver/load.h"
#include "ingot/formats/torch/saved.h"
#include "ingot/frontends/torch/import.h"

namespace ingot::driver::torch {

/// What an optimizer's state_dict() holds, alone or as a part of a checkpoint, becomes the model's training
/// information: its settings, its moments, its number of steps. The loss is the one that the options name. Refuses
/// settings that have no translation and states of other parameters.
void add_optimizer(Imported& imported, const formats::torch::Saved& saved,
                   const std::vector<frontends::torch::Parameter>& parameters, const LoadOptions& options);

}  // namespace ingot::driver::torch
