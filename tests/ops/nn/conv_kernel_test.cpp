// What Conv and ConvTranspose compute.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>

#include "tests/ops/op_case.h"
#include "tests/ops/typed.h"
#include "tests/support/refusal.h"

namespace ingot::test {
namespace {

using Ints = std::vector<std::int64_t>;

std::vector<float> numbers_of(const Array& a) { return {a.data<float>().begin(), a.data<float>().end()}; }

/// first, first + 1, ...
Array counted(Dims dims, float first = 1) {
  std::vector<float> v(static_cast<std::size_t>(tensor_size(dims)));
  std::iota(v.begin(), v.end(), first);
  return Array::of<float>(std::move(dims), v);
}

Array ones(Dims dims) {
  const std::vector<float> v(static_cast<std::size_t>(tensor_size(dims)), 1.0f);
  return Array::of<float>(std::move(dims), v);
}

TEST(ConvKernel, SlidesOverOneAxis) {
  const Array w = Array::of<float>({1, 1, 3}, {1, 10, 100});
  const Array y = run_op("Conv", {counted({1, 1, 5}), w});
  EXPECT_EQ(y.dims(), (Dims{1, 1, 3}));
  EXPECT_EQ(numbers_of(y), (std::vector<float>{321, 432, 543}));
}

TEST(ConvKernel, PadsStridesAndDilates) {
  const Array w = Array::of<float>({1, 1, 2}, {1, 10});
  const Attrs attrs = {{"pads", Ints{1, 2}}, {"strides", Ints{2}}, {"dilations", Ints{3}}};
  // 0 1 2 3 4 5 0 0, windows at 0, 2 and 4 with taps 3 apart.
  EXPECT_EQ(numbers_of(run_op("Conv", {counted({1, 1, 5}), w}, attrs)), (std::vector<float>{30, 52, 4}));
}

TEST(ConvKernel, SplitsOddPaddingAsAutoPadSays) {
  const Array x = counted({1, 1, 2}), w = Array::of<float>({1, 1, 2}, {1, 10});
  EXPECT_EQ(numbers_of(run_op("Conv", {x, w}, {{"auto_pad", "SAME_UPPER"}})), (std::vector<float>{21, 2}));
  EXPECT_EQ(numbers_of(run_op("Conv", {x, w}, {{"auto_pad", "SAME_LOWER"}})), (std::vector<float>{10, 21}));
  EXPECT_EQ(numbers_of(run_op("Conv", {x, w}, {{"auto_pad", "VALID"}})), std::vector<float>{21});
}

TEST(ConvKernel, AddsChannelsOfAGroupAndTheBias) {
  const Array x = Array::of<float>({1, 4, 1}, {1, 2, 3, 4}), w = Array::of<float>({2, 2, 1}, {1, 10, 1, 10});
  const Array bias = Array::of<float>({2}, {1000, 2000});
  EXPECT_EQ(numbers_of(run_op("Conv", {x, w, bias}, {{"group", 2}})), (std::vector<float>{1021, 2043}));
}

TEST(ConvKernel, WorksInFourSpatialAxes) {
  const Array y = run_op("Conv", {ones({1, 1, 2, 2, 2, 3}), ones({1, 1, 2, 2, 2, 2})});
  EXPECT_EQ(y.dims(), (Dims{1, 1, 1, 1, 1, 2}));
  EXPECT_EQ(numbers_of(y), (std::vector<float>{16, 16}));
}

TEST(ConvKernel, KeepsBatchesApart) {
  EXPECT_EQ(numbers_of(run_op("Conv", {counted({2, 1, 2}), ones({2, 1, 2})})), (std::vector<float>{3, 3, 7, 7}));
}

TEST(ConvKernel, TakesEveryFloatType) {
  for (const DType dtype : {DType::f16, DType::bf16, DType::f64}) {
    const Array x = typed(counted({1, 1, 3}), dtype);
    const Array y = run_op("Conv", {x, typed(ones({1, 1, 3}), dtype)});
    EXPECT_EQ(y.dtype(), dtype);
    EXPECT_EQ(y.to_doubles(), std::vector<double>{6});
  }
}

TEST(ConvKernel, LeavesPaddingOutOfInfiniteWeights) {
  const float inf = std::numeric_limits<float>::infinity();
  const Array y = run_op("Conv", {ones({1, 1, 1}), Array::of<float>({1, 1, 3}, {inf, 1, inf})}, {{"pads", Ints{1, 1}}});
  EXPECT_EQ(numbers_of(y), std::vector<float>{1});
}

TEST(ConvKernel, GivesTheBiasWhereNothingIsAdded) {
  const Array bias = Array::of<float>({2}, {3, 4});
  EXPECT_EQ(run_op("Conv", {Array(DType::f32, {0, 1, 3}), ones({2, 1, 3}), bias}).dims(), (Dims{0, 2, 1}));
  const Array y = run_op("Conv", {Array(DType::f32, {1, 0, 3}), Array(DType::f32, {2, 0, 3}), bias});
  EXPECT_EQ(numbers_of(y), (std::vector<float>{3, 4}));
}

TEST(ConvKernel, RefusesWhatDoesNotFit) {
  const Array x = ones({1, 2, 3});
  EXPECT_REFUSED(Code::execution_failed, run_op("Conv", {x, ones({1, 1, 1})}));
  EXPECT_REFUSED(Code::inference_failed, run_op("Conv", {x, ones({1, 2, 4})}));
  EXPECT_REFUSED(Code::execution_failed, run_op("Conv", {x, ones({1, 2, 1}), ones({2})}));
  EXPECT_REFUSED(Code::execution_failed, run_op("Conv", {ones({1, 2}), ones({1, 2, 1})}));
  const auto huge = std::numeric_limits<std::int64_t>::max();
  EXPECT_REFUSED(Code::execution_failed, run_op("Conv", {x, ones({1, 2, 1})}, {{"pads", Ints{huge, huge}}}));
  EXPECT_REFUSED(Code::execution_failed, run_op("Conv", {x, ones({1, 2, 3})}, {{"dilations", Ints{huge}}}));
}

TEST(ConvTransposeKernel, SpreadsEachElementOverAWindow) {
  const Array w = Array::of<float>({1, 1, 3}, {1, 10, 100});
  const Array y = run_op("ConvTranspose", {counted({1, 1, 3}), w});
  EXPECT_EQ(numbers_of(y), (std::vector<float>{1, 12, 123, 230, 300}));
}

TEST(ConvTransposeKernel, StridesDilatesAndCutsPadding) {
  const Array w = Array::of<float>({1, 1, 2}, {1, 10});
  // At 0 and 3 in steps of 3, taps 2 apart: 1 0 10 2 0 20.
  const Attrs attrs = {{"strides", Ints{3}}, {"dilations", Ints{2}}, {"pads", Ints{1, 2}}};
  EXPECT_EQ(numbers_of(run_op("ConvTranspose", {counted({1, 1, 2}), w}, attrs)), (std::vector<float>{0, 10, 2}));
}

TEST(ConvTransposeKernel, AddsOutputPaddingAtTheEnd) {
  const Attrs attrs = {{"strides", Ints{2}}, {"output_padding", Ints{1}}};
  EXPECT_EQ(numbers_of(run_op("ConvTranspose", {counted({1, 1, 2}), ones({1, 1, 1})}, attrs)),
            (std::vector<float>{1, 0, 2, 0}));
}

TEST(ConvTransposeKernel, CutsToTheStatedSize) {
  const Array x = counted({1, 1, 2}), w = Array::of<float>({1, 1, 3}, {1, 10, 100});
  // All of it is 1 12 120 200.
  EXPECT_EQ(numbers_of(run_op("ConvTranspose", {x, w}, {{"output_shape", Ints{3}}})),
            (std::vector<float>{12, 120, 200}));
  EXPECT_EQ(numbers_of(run_op("ConvTranspose", {x, w}, {{"output_shape", Ints{3}}, {"auto_pad", "SAME_UPPER"}})),
            (std::vector<float>{1, 12, 120}));
  EXPECT_EQ(numbers_of(run_op("ConvTranspose", {x, w}, {{"output_shape", Ints{5}}})),
            (std::vector<float>{1, 12, 120, 200, 0}));
  EXPECT_EQ(numbers_of(run_op("ConvTranspose", {x, w}, {{"auto_pad", "SAME_LOWER"}})), (std::vector<float>{12, 120}));
}

TEST(ConvTransposeKernel, KeepsGroupsApart) {
  const Array x = Array::of<float>({1, 2, 1}, {1, 2}), w = Array::of<float>({2, 2, 1}, {1, 10, 100, 1000});
  const Array y = run_op("ConvTranspose", {x, w, ones({4})}, {{"group", 2}});
  EXPECT_EQ(y.dims(), (Dims{1, 4, 1}));
  EXPECT_EQ(numbers_of(y), (std::vector<float>{2, 11, 201, 2001}));
}

TEST(ConvTransposeKernel, RefusesWhatDoesNotFit) {
  const auto huge = std::numeric_limits<std::int64_t>::max();
  const Array x = ones({1, 2, 3});
  EXPECT_REFUSED(Code::execution_failed, run_op("ConvTranspose", {x, ones({1, 1, 1})}));
  EXPECT_REFUSED(Code::execution_failed, run_op("ConvTranspose", {x, ones({2, 1, 1})}, {{"pads", Ints{3, 3}}}));
  EXPECT_REFUSED(Code::execution_failed, run_op("ConvTranspose", {x, ones({2, 1, 1})}, {{"strides", Ints{huge}}}));
  EXPECT_REFUSED(Code::execution_failed, run_op("ConvTranspose", {x, ones({2, 1, 1})}, {{"output_shape", Ints{huge}}}));
}

}  // namespace
}  // namespace ingot::test
