#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "ingot/train/loop.h"
#include "ingot/train/step_runner.h"

namespace ingot::train {

/// What a loop knows beside the state of the algorithm.
struct LoopState {
  std::uint64_t step = 0;  // steps done
  double epoch_loss = 0;   // sum of the losses of this epoch's steps
  double best = 0;         // smallest judgement so far
  std::uint64_t judgements = 0;
  std::uint64_t since_best = 0;  // judgements
  double plateau = 1;            // factor on the learning rate
  std::uint64_t since_drop = 0;  // judgements since the best or the last drop of the rate
};

/// Finds the value of a variable that other processes may hold.
using Fetch = std::function<Array(const std::string& name)>;

/// Writes everything after `loop.step` steps as `<directory>/step-00001234.npz`, whole or not at all, and removes all
/// but the newest `keep`.
void save_checkpoint(const std::string& directory, const LoopState& loop, const StepRunner& runner,
                     const RunSettings& settings, std::uint64_t keep, const Fetch& fetch = {});
/// The same under the name best.npz.
void save_best(const std::string& directory, const LoopState& loop, const StepRunner& runner,
               const RunSettings& settings, const Fetch& fetch = {});

/// Puts the newest checkpoint that can be read into the runner and returns where the loop was; nothing: there is none.
/// Damaged ones are passed over, with a line in `notes`. Refuses one whose variables are not those of the runner, and,
/// unless `forced`, one that was made with other settings, naming them.
std::optional<LoopState> load_checkpoint(const std::string& directory, StepRunner& runner, const RunSettings& settings,
                                         bool forced, std::vector<std::string>& notes);
/// The state of best.npz, empty where another process holds it; nothing if it is not there or, with a line in `notes`, damaged.
std::optional<std::vector<Array>> load_best(const std::string& directory, const StepRunner& runner,
                                            std::vector<std::string>& notes);

}  // namespace ingot::train
