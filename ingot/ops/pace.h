#pragma once
#include "ingot/base/budget.h"

namespace ingot::ops {

/// Polls a budget every so many steps of a loop.
class Pace {
 public:
  explicit Pace(const Budget& budget) : budget_(budget) {}
  void step(std::int64_t count) {
    left_ -= count;
    if (left_ > 0) return;
    budget_.poll();
    left_ = kSteps;
  }

 private:
  static constexpr std::int64_t kSteps = 1 << 20;
  const Budget& budget_;
  std::int64_t left_ = kSteps;
};

}  // namespace ingot::ops
