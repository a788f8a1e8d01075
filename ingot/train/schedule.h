#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace ingot::train {

/// How the learning rate changes: a name and its numbers, as "cosine", "step:500,0.5" or "multistep:100,200,0.1".
class Schedule {
 public:
  /// Refuses unknown names and numbers that make no sense.
  explicit Schedule(const std::string& text = "constant", std::uint64_t warmup = 0);

  /// The rate of one step out of `step_count`, before plateaus.
  double rate(double lr, std::uint64_t step, std::uint64_t step_count) const;
  /// Whether epochs without progress lower the rate: after so many of them, by this factor.
  bool waits_for_plateaus() const { return name_ == "plateau"; }
  std::uint64_t plateau_epochs() const { return static_cast<std::uint64_t>(number(0, 3)); }
  double plateau_factor() const { return number(1, 0.1); }

 private:
  double number(std::size_t i, double fallback) const { return i < numbers_.size() ? numbers_[i] : fallback; }

  std::string name_;
  std::vector<double> numbers_;
  std::uint64_t warmup_;
};

}  // namespace ingot::train
