#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ingot/engine/profile.h"

namespace ingot::train {

class Ranks;

/// Settings that must be the same when a run goes on: "batch" -> "64", ... Only kLength may change: a run may go on for
/// longer than it was meant to.
inline constexpr const char* kLength = "length";
using RunSettings = std::vector<std::pair<std::string, std::string>>;

struct LoopOptions {
  std::uint64_t batch = 32;
  std::uint64_t epochs = 1;
  std::uint64_t steps = 0;  // if not 0, this many steps whatever the epochs
  std::uint64_t seed = 0;
  bool shuffles = true;
  std::optional<double> lr{};         // absent: the algorithm's own stays
  std::string schedule = "constant";  // see Schedule
  std::uint64_t warmup = 0;           // steps
  std::string checkpoints{};          // directory; empty: none
  std::string every = "500";          // between checkpoints: "500", "500steps", "1epoch", "10min"
  std::uint64_t keep = 3;
  bool resumes = false, resumes_by_force = false;
  std::uint64_t patience = 0;          // judgements without progress after which the run ends; 0: it does not
  double min_delta = 0;                // what counts as progress
  bool restores_best = false;          // the best state is the last
  RunSettings settings{};              // compared when a run goes on
  Ranks* ranks = nullptr;              // who share each batch; null: nobody else does
  engine::Profile* profile = nullptr;  // filled with what each node did in the ten steps after the first
};

struct Progress {
  std::uint64_t step = 0, step_count = 0, epoch = 0;
  double loss = 0, norm = 0, lr = 0;
  std::uint64_t examples = 0;  // seen in this run
};

struct EpochEnd {
  std::uint64_t epoch = 0;  // from 0
  std::uint64_t step = 0;   // steps done
  double mean_loss = 0;     // of its steps
};

struct LoopEvents {
  /// Told, before the first step, after which step a run that resumes goes on; 0: there is nothing to resume.
  std::function<void(std::uint64_t step)> on_resume{};
  /// Told of each step; false ends the run after a checkpoint.
  std::function<bool(const Progress&)> on_step{};
  /// Told of each epoch that ends; what it gives is judged: smaller is better. Without, the mean loss is.
  std::function<double(const EpochEnd&)> on_epoch{};
  /// Told at once what a user should know, such as of a damaged checkpoint. Without, it is in the report.
  std::function<void(const std::string&)> on_note{};
};

struct LoopReport {
  std::uint64_t steps = 0;
  std::uint64_t resumed_at = 0;
  double first_loss = 0, last_loss = 0;
  bool was_complete = false;       // the checkpoint had all steps behind it
  bool was_stopped = false;        // by on_step
  bool ended_early = false;        // for lack of progress
  std::optional<double> restored;  // the judgement of the state that was put back
  std::vector<std::string> notes;
};

}  // namespace ingot::train
