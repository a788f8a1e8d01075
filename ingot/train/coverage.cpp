// The table of what the tests of gradients ran.
#include "ingot/train/coverage.h"

namespace ingot::train {
namespace {

constexpr GradientCoverage kCoverage[] = {
#include "ingot/train/coverage_data.inc"
};

}  // namespace

std::span<const GradientCoverage> gradient_coverage() { return kCoverage; }

}  // namespace ingot::train
