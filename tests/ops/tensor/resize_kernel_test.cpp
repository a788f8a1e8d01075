// Resize: modes, coordinate transformations, policies.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/ops/values.h"
#include "tests/support/refusal.h"

namespace ingot::test {
namespace {

using Floats = std::vector<float>;
using Ints = std::vector<std::int64_t>;

Floats scaled(const Array& x, const Floats& scales, Attrs attrs) {
  const Array s = Array::of<float>({static_cast<std::int64_t>(scales.size())}, scales);
  return values<float>(run_op("Resize", {x, {}, s}, attrs));
}

TEST(ResizeKernel, TakesTheNearestByItsMode) {
  const auto result = [](const char* mode) {
    return scaled(counted({4}), {0.5}, {{"mode", "nearest"}, {"nearest_mode", mode}});
  };
  // Places 0.5 and 2.5
  EXPECT_EQ(result("round_prefer_floor"), (Floats{0, 2}));
  EXPECT_EQ(result("round_prefer_ceil"), (Floats{1, 3}));
  EXPECT_EQ(result("floor"), (Floats{0, 2}));
  EXPECT_EQ(result("ceil"), (Floats{1, 3}));
}

TEST(ResizeKernel, TakesTheDecimalThatAFloatWasWrittenFor) {
  // 2 / 0.4 is 5, and less in double, as the float 0.4 is more.
  const Attrs attrs{{"mode", "nearest"}, {"coordinate_transformation_mode", "asymmetric"}, {"nearest_mode", "floor"}};
  EXPECT_EQ(scaled(counted({9}), {0.4f}, attrs), (Floats{0, 2, 5}));
  // 49 * (1 / 49) is less than 1 in double: sizes are exact.
  for (std::int64_t size = 1; size < 200; ++size) {
    const Array x = counted({size}), to = Array::of<std::int64_t>({1}, {size * 3});
    const Floats y = values<float>(run_op("Resize", {x, {}, {}, to}, attrs));
    for (std::size_t i = 0; i < y.size(); ++i) EXPECT_EQ(y[i], static_cast<float>(i / 3)) << size;
  }
}

TEST(ResizeKernel, InterpolatesByTheCoordinates) {
  const auto result = [](const char* coordinates) {
    return scaled(counted({2}), {2}, {{"mode", "linear"}, {"coordinate_transformation_mode", coordinates}});
  };
  EXPECT_EQ(result("half_pixel"), (Floats{0, 0.25, 0.75, 1}));
  EXPECT_EQ(result("pytorch_half_pixel"), (Floats{0, 0.25, 0.75, 1}));
  EXPECT_EQ(result("half_pixel_symmetric"), (Floats{0, 0.25, 0.75, 1}));
  EXPECT_EQ(result("asymmetric"), (Floats{0, 0.5, 1, 1}));
  EXPECT_EQ(result("align_corners"), (Floats{0, 1.0f / 3, 2.0f / 3, 1}));
}

TEST(ResizeKernel, CropsAndExtrapolates) {
  const Array roi = Array::of<float>({2}, {0.5f, 2.0f});
  const Array y = run_op(
      "Resize", {counted({3}), roi, {}, ints({3})},
      {{"mode", "linear"}, {"coordinate_transformation_mode", "tf_crop_and_resize"}, {"extrapolation_value", 7.0}});
  EXPECT_EQ(values<float>(y), (Floats{1, 7, 7}));  // places 1, 2.5, 4
}

TEST(ResizeKernel, WidensTheFilterAgainstAliasing) {
  // At 0.5 the linear filter reaches twice as far: weights 1/8 3/8 3/8 1/8.
  const Floats y = scaled(counted({4}), {0.5}, {{"mode", "linear"}, {"antialias", 1}});
  EXPECT_FLOAT_EQ(y[0], 0 * 0.5f + 0.375f * 1 + 0.125f * 2);
}

TEST(ResizeKernel, LeavesOutWhatIsOutside) {
  const Floats y = scaled(counted({2}), {2}, {{"mode", "linear"}, {"exclude_outside", 1}});
  EXPECT_EQ(y, (Floats{0, 0.25, 0.75, 1}));
  const Floats z = scaled(Array::of<float>({1}, {3}), {3}, {{"mode", "cubic"}, {"exclude_outside", 1}});
  for (const float v : z) EXPECT_FLOAT_EQ(v, 3);
}

TEST(ResizeKernel, KeepsTheAspectRatio) {
  const auto dims = [](const char* policy) {
    return run_op("Resize", {counted({2, 4}), {}, {}, ints({7, 8})}, {{"keep_aspect_ratio_policy", policy}}).dims();
  };
  EXPECT_EQ(dims("stretch"), (Dims{7, 8}));
  EXPECT_EQ(dims("not_larger"), (Dims{4, 8}));
  EXPECT_EQ(dims("not_smaller"), (Dims{7, 14}));
}

TEST(ResizeKernel, TakesSomeAxesOfAnyRankAndType) {
  const Array x = Array::of<std::string>({1, 2}, {"a", "b"});
  EXPECT_EQ(values<std::string>(run_op("Resize", {x, {}, {}, ints({4})}, {{"axes", Ints{1}}})),
            (std::vector<std::string>{"a", "a", "b", "b"}));
  const Array u = Array::of<std::uint8_t>({2}, {0, 255});
  EXPECT_EQ(values<std::uint8_t>(run_op("Resize", {u, {}, {}, ints({4})}, {{"mode", "linear"}})),
            (std::vector<std::uint8_t>{0, 63, 191, 255}));
  EXPECT_EQ(
      run_op("Resize", {counted({1, 1, 1, 2, 2, 2}), {}, {}, ints({1, 1, 1, 3, 3, 3})}, {{"mode", "cubic"}}).dims(),
      (Dims{1, 1, 1, 3, 3, 3}));
}

TEST(ResizeKernel, RefusesWhatCannotBe) {
  EXPECT_REFUSED(Code::execution_failed, scaled(counted({2}), {-1}, {}));
  EXPECT_REFUSED(Code::execution_failed, scaled(counted({2}), {std::nanf("")}, {}));
  EXPECT_REFUSED(Code::execution_failed, scaled(counted({2}), {1e30f}, {}));
  EXPECT_REFUSED(Code::execution_failed, run_op("Resize", {counted({0}), {}, {}, ints({2})}));
  EXPECT_REFUSED(Code::execution_failed, run_op("Resize", {counted({2}), {}, {}, ints({-2})}));
  EXPECT_EQ(run_op("Resize", {counted({2}), {}, {}, ints({0})}).dims(), Dims{0});
}

}  // namespace
}  // namespace ingot::test
