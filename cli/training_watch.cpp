// How a training run goes, on the terminal and in files.
#include "training_watch.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "ingot/base/atomic_file.h"
#include "ingot/base/error.h"
#include "ingot/driver/supervisor.h"

namespace ingot::cli {
namespace {

std::string duration_text(double seconds) {
  char text[32];
  const auto whole = static_cast<long>(seconds + 0.5);
  if (whole >= 3600)
    std::snprintf(text, sizeof text, "%ld:%02ld h", whole / 3600, whole / 60 % 60);
  else
    std::snprintf(text, sizeof text, "%ld:%02ld min", whole / 60, whole % 60);
  return text;
}

std::string number(double v) {
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", v);
  return text;
}

}  // namespace

TrainingWatch::TrainingWatch(WatchOptions options) : options_(std::move(options)) {
  if (options_.log.empty()) return;
  log_.open(options_.log, options_.resumes ? std::ios::app : std::ios::trunc);
  if (!log_) throw Error(Code::cannot_write, "the log cannot be written").in_file(options_.log);
}

void TrainingWatch::on_resume(std::uint64_t step) {
  if (!log_.is_open() || !std::filesystem::is_regular_file(options_.log)) return;
  log_.close();
  continue_log_after(step);
  log_.open(options_.log, std::ios::app);
}

bool TrainingWatch::on_step(const train::Progress& p) {
  if (curves_.loss.empty()) curves_.first_step = p.step - 1;
  curves_.loss.push_back(p.loss);
  curves_.norm.push_back(p.norm);
  curves_.rate.push_back(p.lr);
  write({{"step", p.step},
         {"epoch", p.epoch},
         {"loss", p.loss},
         {"gradient_norm", p.norm},
         {"lr", p.lr},
         {"seconds", seconds()}});
  show(p);
  return driver::Supervisor::caught_signal() == 0;
}

void TrainingWatch::on_epoch(const train::EpochEnd& end, const std::optional<train::Evaluation>& judged) {
  Json line{{"epoch", end.epoch}, {"step", end.step}, {"mean_loss", end.mean_loss}};
  std::string text = "epoch " + std::to_string(end.epoch + 1) + ": mean loss " + number(end.mean_loss);
  if (judged) {
    curves_.judged.emplace_back(end.step, judged->loss);
    line["validation_loss"] = judged->loss;
    text += "; held back: loss " + number(judged->loss);
    if (judged->accuracy) {
      line["accuracy"] = *judged->accuracy;
      metric_ = "accuracy " + number(*judged->accuracy);
    } else if (judged->root_mean_square_error) {
      line["rmse"] = *judged->root_mean_square_error;
      metric_ = "rmse " + number(*judged->root_mean_square_error);
    }
    text += ", " + metric_;
  }
  write(line);
  clear();
  if (!options_.is_quiet) std::fprintf(stderr, "%s\n", text.c_str());
}

void TrainingWatch::end() {
  clear();
  if (log_.is_open()) {
    log_.close();
    if (log_.fail()) throw Error(Code::cannot_write, "the log could not be written").in_file(options_.log);
  }
  if (options_.plot.empty()) return;
  AtomicFile file(options_.plot);
  file.write(train::plot_svg(curves_, options_.title));
  file.commit();
}

void TrainingWatch::continue_log_after(std::uint64_t step) const {
  std::ifstream old(options_.log);
  AtomicFile kept(options_.log);
  constexpr std::string_view kKey = "\"step\":";
  for (std::string line; step && std::getline(old, line) && !old.eof();) {
    const std::size_t at = line.find(kKey);
    if (at == std::string::npos || std::strtoull(line.c_str() + at + kKey.size(), nullptr, 10) > step) continue;
    kept.write(line + "\n");
  }
  kept.commit();
}

void TrainingWatch::write(const Json& line) {
  if (log_.is_open()) log_ << line.dump() << "\n" << std::flush;
}

void TrainingWatch::clear() {
  if (is_drawn_) std::fputs("\r\033[K", stderr);
  is_drawn_ = false;
}

/// A line that is redrawn on a terminal; elsewhere one every ten seconds.
void TrainingWatch::show(const train::Progress& p) {
  const double now = seconds();
  const bool is_terminal = isatty(STDERR_FILENO) != 0;
  const bool is_last = p.step == p.step_count;
  if (options_.is_quiet || (!is_last && now - shown_ < (is_terminal ? 0.2 : 10))) return;
  shown_ = now;
  const double rate = static_cast<double>(p.examples) / std::max(now, 1e-9);
  const double left = now / static_cast<double>(curves_.loss.size()) * static_cast<double>(p.step_count - p.step);
  clear();
  std::fprintf(stderr, "step %llu/%llu  epoch %llu  loss %.6g%s%s  %.0f examples/s  %s left%s",
               static_cast<unsigned long long>(p.step), static_cast<unsigned long long>(p.step_count),
               static_cast<unsigned long long>(p.epoch + 1), p.loss, metric_.empty() ? "" : "  ", metric_.c_str(), rate,
               duration_text(left).c_str(), is_terminal && !is_last ? "" : "\n");
  is_drawn_ = is_terminal && !is_last;
}

}  // namespace ingot::cli
