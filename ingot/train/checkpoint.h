#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ingot/train/step_runner.h"

namespace ingot::train {

/// Writes the whole state after `step` steps as `<directory>/step-00001234.npz`, whole or not at all, and removes all
/// but the newest `keep`.
void save_checkpoint(const std::string& directory, std::uint64_t step, const StepRunner& runner, std::uint64_t keep);

/// Puts the newest checkpoint that can be read into the runner and returns its number of steps; nothing: there is none.
/// Damaged ones are passed over, with a line in `notes`. Refuses one whose variables are not those of the runner.
std::optional<std::uint64_t> load_checkpoint(const std::string& directory, StepRunner& runner,
                                             std::vector<std::string>& notes);

}  // namespace ingot::train
