#pragma once
#include <chrono>
#include <cstdint>
#include <fstream>
#include <optional>
#include <string>

#include "ingot/base/json.h"
#include "ingot/train/evaluation.h"
#include "ingot/train/loop.h"
#include "ingot/train/plot.h"

namespace ingot::cli {

struct WatchOptions {
  std::string log, plot;  // files; empty: none
  std::string title;      // of the plot
  bool resumes = false;   // the log is continued
  bool is_quiet = false;
};

/// Shows and records how a training run goes.
class TrainingWatch {
 public:
  explicit TrainingWatch(WatchOptions options);

  /// Lines of steps that the run which goes on has still to do, and a line that was not finished, go.
  void on_resume(std::uint64_t step);
  /// False: a signal asks for the end.
  bool on_step(const train::Progress& p);
  void on_epoch(const train::EpochEnd& end, const std::optional<train::Evaluation>& judged);
  /// Closes the log and writes the plot.
  void end();
  std::string sparkline() const { return train::sparkline(curves_.loss, 60); }

 private:
  using Clock = std::chrono::steady_clock;

  double seconds() const { return std::chrono::duration<double>(Clock::now() - begin_).count(); }
  void continue_log_after(std::uint64_t step) const;
  void write(const Json& line);
  void clear();
  void show(const train::Progress& p);

  WatchOptions options_;
  bool is_drawn_ = false;
  std::ofstream log_;
  train::Curves curves_;
  std::string metric_;
  Clock::time_point begin_ = Clock::now();
  double shown_ = -10;
};

}  // namespace ingot::cli
