// Schedules of the learning rate.
#include "ingot/train/schedule.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numbers>

#include "ingot/base/error.h"

namespace ingot::train {
namespace {

struct Row {
  std::string_view name;
  std::size_t fewest, most;  // numbers
};
constexpr Row kSchedules[] = {
    {"constant", 0, 0},    {"linear", 0, 1},     {"cosine", 0, 1},    {"step", 0, 2},    {"multistep", 1, 64},
    {"exponential", 0, 1}, {"polynomial", 0, 1}, {"one-cycle", 0, 1}, {"plateau", 0, 2},
};
constexpr const char* kForms =
    "constant, linear[:END], cosine[:CYCLES], step[:STEPS,FACTOR], multistep:STEP,...[,FACTOR], exponential[:END], "
    "polynomial[:POWER], one-cycle[:RISE], plateau[:EPOCHS,FACTOR]";

}  // namespace

Schedule::Schedule(const std::string& text, std::uint64_t warmup)
    : name_(text.substr(0, text.find(':'))), warmup_(warmup) {
  const auto row = std::ranges::find(kSchedules, std::string_view(name_), &Row::name);
  if (row == std::end(kSchedules))
    throw Error(Code::bad_usage, "there is no schedule '" + name_ + "'").hint(std::string("schedules: ") + kForms);
  std::string_view rest =
      text.size() > name_.size() ? std::string_view(text).substr(name_.size() + 1) : std::string_view();
  while (!rest.empty()) {
    const std::size_t comma = std::min(rest.find(','), rest.size());
    double value = 0;
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + comma, value);
    if (error != std::errc() || end != rest.data() + comma || !(value >= 0))
      throw Error(Code::bad_usage, "'" + text + "' is not a schedule").hint(std::string("schedules: ") + kForms);
    numbers_.push_back(value);
    rest = comma == rest.size() ? std::string_view() : rest.substr(comma + 1);
  }
  if (numbers_.size() < row->fewest || numbers_.size() > row->most)
    throw Error(Code::bad_usage,
                "schedule '" + name_ + "' does not take " + std::to_string(numbers_.size()) + " numbers")
        .hint(std::string("schedules: ") + kForms);
}

double Schedule::rate(double lr, std::uint64_t step, std::uint64_t step_count) const {
  if (step < warmup_) return lr * static_cast<double>(step + 1) / static_cast<double>(warmup_);
  const auto at = static_cast<double>(step - warmup_);
  const double whole = static_cast<double>(std::max<std::uint64_t>(step_count - std::min(warmup_, step_count), 1));
  const double part = std::min(at / whole, 1.0);
  if (name_ == "linear") return lr * (1 - part * (1 - number(0, 0)));
  if (name_ == "cosine") {
    const double cycles = std::max(number(0, 1), 1.0);
    const double turn = part * cycles - std::floor(part * cycles);
    return lr * (1 + std::cos(std::numbers::pi * turn)) / 2;
  }
  if (name_ == "step") {
    const double every = number(0, std::ceil(whole / 3));
    return lr * std::pow(number(1, 0.1), std::floor(at / std::max(every, 1.0)));
  }
  if (name_ == "multistep") {
    // A last number below 1 is the factor.
    const bool has_factor = numbers_.back() < 1;
    double rate = lr;
    for (std::size_t i = 0; i + (has_factor ? 1 : 0) < numbers_.size(); ++i)
      if (static_cast<double>(step) >= numbers_[i]) rate *= has_factor ? numbers_.back() : 0.1;
    return rate;
  }
  if (name_ == "exponential") return lr * std::pow(number(0, 0.01), part);
  if (name_ == "polynomial") return lr * std::pow(1 - part, number(0, 2));
  if (name_ == "one-cycle") {
    constexpr double kStart = 1.0 / 25, kEnd = 1e-4;
    const double rise = std::clamp(number(0, 0.3), 1e-6, 1 - 1e-6);
    const double from = part < rise ? kStart : 1, to = part < rise ? 1 : kEnd;
    const double along = part < rise ? part / rise : (part - rise) / (1 - rise);
    return lr * (to + (from - to) * (1 + std::cos(std::numbers::pi * along)) / 2);
  }
  return lr;
}

}  // namespace ingot::train
