#pragma once
#include <span>
#include <string_view>

namespace ingot::train {

/// How many derivatives of one operator the tests compare.
struct GradientCoverage {
  std::string_view domain, op;
  int differences;   // with central differences in double precision
  int torch;         // with those of PyTorch
  int second_order;  // of the gradient itself, with central differences
};

/// Written by the tests from what they ran (tests/train/coverage_test.cpp), sorted by name.
std::span<const GradientCoverage> gradient_coverage();

}  // namespace ingot::train
