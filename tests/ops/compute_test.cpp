// What reference kernels share: conversion between element types, broadcasting, moved elements.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "ingot/base/float_types.h"
#include "tests/ops/values.h"
#include "tests/support/refusal.h"

namespace ingot::test {
namespace {

TEST(Kernels, BroadcastBothOperands) {
  const Array x = Array::of<float>({2, 1}, {1, 2}), y = Array::of<float>({3}, {10, 20, 30});
  const Array z = run_op("Add", {x, y});
  EXPECT_EQ(z.dims(), (Dims{2, 3}));
  EXPECT_EQ(values<float>(z), (std::vector<float>{11, 21, 31, 12, 22, 32}));
}

TEST(Kernels, TakeScalarsAndEmptyArrays) {
  EXPECT_EQ(values<float>(run_op("Mul", {Array::scalar(2.0f), Array::scalar(3.0f)})), std::vector<float>{6});
  EXPECT_EQ(run_op("Mul", {Array::of<float>({0, 3}, {}), Array::scalar(3.0f)}).dims(), (Dims{0, 3}));
}

TEST(Kernels, WrapIntegersAndRefuseDivisionByZero) {
  const auto most = std::numeric_limits<std::int32_t>::max(), least = std::numeric_limits<std::int32_t>::min();
  EXPECT_EQ(values<std::int32_t>(run_op("Add", {Array::scalar(most), Array::scalar(1)})), std::vector{least});
  EXPECT_EQ(values<std::int32_t>(run_op("Div", {Array::scalar(least), Array::scalar(-1)})), std::vector{least});
  EXPECT_REFUSED(Code::execution_failed, run_op("Div", {Array::scalar(1), Array::scalar(0)}));
}

TEST(Kernels, ComputeSmallFloatsInFloat) {
  Array x(DType::f16, {1}), y(DType::f16, {1});
  x.mutable_data<Float16>()[0] = Float16(1.0f);
  y.mutable_data<Float16>()[0] = Float16(0.0009765625f);
  const Array z = run_op("Add", {x, y});
  EXPECT_EQ(static_cast<float>(z.data<Float16>()[0]), 1.0009765625f);
}

TEST(Kernels, MoveStrings) {
  const Array x = Array::of<std::string>({2, 2}, {"a", "b", "c", "d"});
  EXPECT_EQ(values<std::string>(run_op("Transpose", {x})), (std::vector<std::string>{"a", "c", "b", "d"}));
}

}  // namespace
}  // namespace ingot::test
