// What the pools compute.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>

#include "tests/ops/values.h"
#include "tests/support/refusal.h"

namespace ingot::test {
namespace {

using Ints = std::vector<std::int64_t>;
using Floats = std::vector<float>;

Array counted(Dims dims) {
  Floats v(static_cast<std::size_t>(tensor_size(dims)));
  std::iota(v.begin(), v.end(), 1.0f);
  return Array::of<float>(std::move(dims), v);
}

Ints indices(const Array& x, const Attrs& attrs) { return run_ops("MaxPool", {x}, attrs, 2)[1].array()->to_ints(); }

TEST(MaxPoolKernel, TakesTheLargestOfEachWindow) {
  const Array x = Array::of<float>({1, 1, 6}, {3, 1, 2, 9, 5, 4});
  EXPECT_EQ(values(run_op("MaxPool", {x}, {{"kernel_shape", Ints{2}}, {"strides", Ints{2}}})), (Floats{3, 9, 5}));
  EXPECT_EQ(values(run_op("MaxPool", {x}, {{"kernel_shape", Ints{2}}, {"dilations", Ints{2}}})), (Floats{3, 9, 5, 9}));
}

TEST(MaxPoolKernel, CountsPaddingAsLessThanAnything) {
  const Array x = Array::of<float>({1, 1, 2}, {-3, -4});
  EXPECT_EQ(values(run_op("MaxPool", {x}, {{"kernel_shape", Ints{2}}, {"pads", Ints{1, 1}}})), (Floats{-3, -3, -4}));
}

TEST(MaxPoolKernel, RoundsUpInCeilModeButStartsNoWindowInThePadding) {
  const Attrs ceil = {{"kernel_shape", Ints{2}}, {"strides", Ints{2}}, {"ceil_mode", 1}};
  EXPECT_EQ(values(run_op("MaxPool", {counted({1, 1, 5})}, ceil)), (Floats{2, 4, 5}));
  const Attrs padded = {{"kernel_shape", Ints{1}}, {"strides", Ints{2}}, {"ceil_mode", 1}, {"pads", Ints{0, 1}}};
  EXPECT_EQ(values(run_op("MaxPool", {counted({1, 1, 2})}, padded)), Floats{1});
}

TEST(MaxPoolKernel, TellsWhereTheLargestStood) {
  const Attrs attrs = {{"kernel_shape", Ints{2, 2}}};
  EXPECT_EQ(indices(counted({1, 2, 2, 3}), attrs), (Ints{4, 5, 10, 11}));
  const Attrs columns = {{"kernel_shape", Ints{2, 2}}, {"storage_order", 1}};
  EXPECT_EQ(indices(counted({1, 2, 2, 3}), columns), (Ints{3, 5, 9, 11}));
}

TEST(MaxPoolKernel, TakesTheFirstOfEquals) {
  EXPECT_EQ(indices(Array::of<float>({1, 1, 3}, {7, 7, 7}), {{"kernel_shape", Ints{3}}}), Ints{0});
}

TEST(MaxPoolKernel, KeepsNotANumber) {
  const Array x = Array::of<float>({1, 1, 3}, {1, std::nanf(""), 3});
  EXPECT_TRUE(std::isnan(values(run_op("MaxPool", {x}, {{"kernel_shape", Ints{3}}})).front()));
  EXPECT_EQ(indices(x, {{"kernel_shape", Ints{3}}}), Ints{1});
}

TEST(MaxPoolKernel, TakesSmallIntegers) {
  const Array x = Array::of<std::int8_t>({1, 1, 2}, {-128, -127});
  const Attrs attrs = {{"kernel_shape", Ints{2}}, {"pads", Ints{1, 0}}};
  EXPECT_EQ(values<std::int8_t>(run_op("MaxPool", {x}, attrs)), (std::vector<std::int8_t>{-128, -127}));
  const Array u = Array::of<std::uint8_t>({1, 1, 2}, {200, 100});
  EXPECT_EQ(values<std::uint8_t>(run_op("MaxPool", {u}, {{"kernel_shape", Ints{2}}})), std::vector<std::uint8_t>{200});
}

TEST(MaxPoolKernel, TakesEmptyBatches) {
  EXPECT_EQ(run_op("MaxPool", {Array(DType::f32, {0, 3, 4})}, {{"kernel_shape", Ints{2}}}).dims(), (Dims{0, 3, 3}));
}

TEST(MaxPoolKernel, RefusesWhatDoesNotFit) {
  const auto huge = std::numeric_limits<std::int64_t>::max();
  EXPECT_REFUSED(Code::inference_failed, run_op("MaxPool", {counted({1, 1, 2})}, {{"kernel_shape", Ints{3}}}));
  EXPECT_REFUSED(Code::inference_failed, run_op("MaxPool", {counted({1, 1, 2})}, {{"kernel_shape", Ints{1, 1}}}));
  EXPECT_REFUSED(Code::execution_failed, run_op("MaxPool", {counted({2})}, {{"kernel_shape", Ints{1}}}));
  const Attrs wide = {{"kernel_shape", Ints{huge}}, {"pads", Ints{huge, huge}}};
  EXPECT_REFUSED(Code::execution_failed, run_op("MaxPool", {counted({1, 1, 2})}, wide));
  const Attrs order = {{"kernel_shape", Ints{1}}, {"storage_order", 2}};
  EXPECT_REFUSED(Code::execution_failed, run_op("MaxPool", {counted({1, 1, 2})}, order));
}

TEST(AveragePoolKernel, LeavesPaddingOutUnlessAsked) {
  const Attrs without = {{"kernel_shape", Ints{2}}, {"pads", Ints{1, 1}}};
  EXPECT_EQ(values(run_op("AveragePool", {counted({1, 1, 2})}, without)), (Floats{1, 1.5f, 2}));
  const Attrs with = {{"kernel_shape", Ints{2}}, {"pads", Ints{1, 1}}, {"count_include_pad", 1}};
  EXPECT_EQ(values(run_op("AveragePool", {counted({1, 1, 2})}, with)), (Floats{0.5f, 1.5f, 1}));
}

TEST(AveragePoolKernel, NeverCountsBeyondThePadding) {
  // 0 1 2 3 0 |: the last window has one tap in the padding and one beyond it.
  const Attrs attrs = {{"kernel_shape", Ints{3}},
                       {"strides", Ints{3}},
                       {"pads", Ints{1, 1}},
                       {"ceil_mode", 1},
                       {"count_include_pad", 1}};
  EXPECT_EQ(values(run_op("AveragePool", {counted({1, 1, 3})}, attrs)), (Floats{1, 1.5f}));
}

TEST(AveragePoolKernel, Dilates) {
  const Attrs attrs = {{"kernel_shape", Ints{2}}, {"dilations", Ints{2}}};
  EXPECT_EQ(values(run_op("AveragePool", {counted({1, 1, 4})}, attrs)), (Floats{2, 3}));
}

TEST(LpPoolKernel, TakesTheNormOfEachWindow) {
  const Array x = Array::of<float>({1, 1, 3}, {3, -4, 0});
  EXPECT_EQ(values(run_op("LpPool", {x}, {{"kernel_shape", Ints{2}}})), (Floats{5, 4}));
  EXPECT_EQ(values(run_op("LpPool", {x}, {{"kernel_shape", Ints{2}}, {"p", 1}})), (Floats{7, 4}));
}

TEST(GlobalPoolKernels, CoverAllSpatialAxes) {
  const Array x = Array::of<float>({1, 2, 1, 2}, {3, -4, 5, 7});
  EXPECT_EQ(run_op("GlobalMaxPool", {x}).dims(), (Dims{1, 2, 1, 1}));
  EXPECT_EQ(values(run_op("GlobalMaxPool", {x})), (Floats{3, 7}));
  EXPECT_EQ(values(run_op("GlobalAveragePool", {x})), (Floats{-0.5f, 6}));
  EXPECT_EQ(values(run_op("GlobalLpPool", {x}, {{"p", 1}})), (Floats{7, 12}));
}

TEST(GlobalPoolKernels, RefuseInputsWithoutChannels) {
  EXPECT_REFUSED(Code::execution_failed, run_op("GlobalMaxPool", {counted({2})}));
}

}  // namespace
}  // namespace ingot::test
