// How far apart two tensors are, and how far they may be.
#include "ingot/verify/agreement.h"

#include <gtest/gtest.h>

#include <limits>

#include "ingot/verify/alignment.h"
#include "ingot/verify/small_parts.h"

namespace ingot {
namespace {

using verify::distance;
using verify::Distance;
using verify::threshold_for;

Array floats(const std::vector<float>& values) {
  return Array::of<float>({static_cast<std::int64_t>(values.size())}, values);
}

TEST(Distance, OfFloatsIsTheLargestDifferenceBesideTheScale) {
  const auto d = distance(floats({1, -8, 2}), floats({1, -8.5, 2.25}));
  ASSERT_TRUE(d);
  EXPECT_EQ(d->unit, Distance::Unit::absolute);
  EXPECT_EQ(d->value, 0.5);
  EXPECT_EQ(d->scale, 8);
  EXPECT_EQ(d->worst, 1);
  EXPECT_EQ(d->differ, 2);
}

TEST(Distance, IsInfiniteWhereOnlyOneIsFinite) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(distance(floats({nan, 1}), floats({nan, 1}))->value, 0);
  EXPECT_EQ(distance(floats({nan, 1}), floats({0, 1}))->value, std::numeric_limits<double>::infinity());
  EXPECT_EQ(distance(floats({1}), floats({nan}))->worst, 0);
}

TEST(Distance, OfQuantisedValuesLeavesOutOneInAThousand) {
  std::vector<std::int8_t> a(2000, 0), b(2000, 0);
  b[7] = 90;
  b[8] = 90;
  EXPECT_EQ(distance(Array::of<std::int8_t>({2000}, a), Array::of<std::int8_t>({2000}, b))->value, 0);
  b[9] = 3;
  const auto d = distance(Array::of<std::int8_t>({2000}, a), Array::of<std::int8_t>({2000}, b));
  EXPECT_EQ(d->value, 3);
  EXPECT_EQ(d->unit, Distance::Unit::steps);
  EXPECT_EQ(d->worst, 7);
}

TEST(Distance, OfOtherIntegersCountsElementsWhateverTheirWidth) {
  const auto d = distance(Array::of<std::int64_t>({3}, {1, 2, 3}), Array::of<std::int32_t>({3}, {1, 2, 900}));
  ASSERT_TRUE(d);
  EXPECT_EQ(d->unit, Distance::Unit::elements);
  EXPECT_EQ(d->value, 1);
}

TEST(Distance, NeedsTheSameShapeAndKindOfNumbers) {
  EXPECT_FALSE(distance(floats({1, 2}), floats({1})));
  EXPECT_FALSE(distance(floats({1}), Array::of<std::int32_t>({1}, {1})));
}

TEST(Threshold, OfFloatsGrowsWithTheScaleAndWithTheModelsNoise) {
  const auto d = distance(floats({100}), floats({100.01f}));
  EXPECT_NEAR(threshold_for(*d).value, 1e-3, 1e-9);
  const auto noise = distance(floats({100}), floats({100.005f}));
  const auto t = threshold_for(*d, {.own = noise});
  EXPECT_NEAR(t.value, 0.02, 1e-4);
  EXPECT_NE(t.source.find("rounding noise"), std::string::npos) << t.source;
  EXPECT_NE(threshold_for(*d).source.find("float"), std::string::npos);
}

TEST(Threshold, OfIndicesIsZeroUnlessRoundingMovesThem) {
  const Array a = Array::of<std::int64_t>({3}, {1, 2, 3}), b = Array::of<std::int64_t>({3}, {1, 2, 4});
  EXPECT_EQ(threshold_for(*distance(a, b)).value, 0);
  const auto t = threshold_for(*distance(a, b), {.own = distance(a, b)});
  EXPECT_EQ(t.value, 3);  // there are no more
  EXPECT_EQ(t.largest, 4);
}

TEST(Threshold, OfIntegersHoldsForTheirValuesToo) {
  // Rounding moves all of them by one: another model's are not the same for that.
  const Array a = Array::of<std::int32_t>({3}, {1000, 2000, 3000});
  const auto noise = distance(a, Array::of<std::int32_t>({3}, {1001, 2001, 3001}));
  const auto near = distance(a, Array::of<std::int32_t>({3}, {1002, 1998, 3000}));
  const auto far = distance(a, Array::of<std::int32_t>({3}, {-9000, 2000, 3000}));
  EXPECT_TRUE(verify::is_within(*near, threshold_for(*near, {.own = noise})));
  EXPECT_FALSE(verify::is_within(*far, threshold_for(*far, {.own = noise})));
  EXPECT_EQ(far->largest, 10000);
}

TEST(Threshold, IsLittleMoreThanTheNoiseOfBoth) {
  const auto noise = distance(floats({100}), floats({100.00005f}));
  const verify::Noise both{.own = noise, .in_a = 4e-5, .in_b = 5e-5};
  const auto apart = distance(floats({100}), floats({100.0005f}));  // 5e-6 of the scale: less than 1e-5
  EXPECT_TRUE(verify::is_within(*apart, threshold_for(*apart)));
  EXPECT_FALSE(verify::is_within(*apart, threshold_for(*apart, both)));
  const auto near = distance(floats({100}), floats({100.00008f}));
  EXPECT_TRUE(verify::is_within(*near, threshold_for(*near, both)));
}

TEST(Threshold, CountsTheOtherRuntimesNoiseUpToAPoint) {
  const auto own = distance(floats({1}), floats({1.000003f}));
  const auto apart = distance(floats({1}), floats({1.000022f}));
  EXPECT_FALSE(verify::is_within(*apart, threshold_for(*apart, {.own = own})));
  EXPECT_TRUE(verify::is_within(*apart, threshold_for(*apart, {.own = own, .in_a = 2.1e-5, .in_b = 3e-6})));
  // What is far from its own model in double is no noise: the model is read wrongly.
  const auto wrong = distance(floats({1}), floats({1.1f}));
  EXPECT_FALSE(verify::is_within(*wrong, threshold_for(*wrong, {.own = own, .in_a = 0.1, .in_b = 3e-6})));
}

TEST(Threshold, OfBoundedFunctionsIsThatOfTheirRange) {
  const auto apart = distance(floats({0}), floats({1.6e-9f}));
  EXPECT_FALSE(verify::is_within(*apart, threshold_for(*apart)));
  EXPECT_TRUE(verify::is_within(*apart, threshold_for(*apart, {.range = 1})));
}

TEST(SmallParts, OfBoundedFunctionsAreJudgedByTheirRangeToo) {
  // A sigmoid that gives next to nothing everywhere; one runtime computes it to 2^-24 of 1.
  const Array exact = Array::of<float>({4, 2}, {7e-4f, 1.00e-6f, 7e-4f, 1.00e-6f, 7e-4f, 1.00e-6f, 7e-4f, 1.00e-6f});
  const Array a = Array::of<float>({4, 2}, {7e-4f, 9.54e-7f, 7e-4f, 1.00e-6f, 7e-4f, 1.00e-6f, 7e-4f, 1.00e-6f});
  const Array wrong = Array::of<float>({4, 2}, {7e-4f, 2.00e-6f, 7e-4f, 1.00e-6f, 7e-4f, 1.00e-6f, 7e-4f, 1.00e-6f});
  EXPECT_TRUE(verify::find_small_part({a, exact, exact, exact}));
  EXPECT_FALSE(verify::find_small_part({a, exact, exact, exact, 1}));
  EXPECT_TRUE(verify::find_small_part({wrong, exact, exact, exact, 1}));
}

TEST(Alignment, MovesChannelsWhereTheShapesSaySo) {
  const Array a = Array::of<float>({1, 2, 2, 3}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11});
  std::vector<std::string> changes;
  const auto moved = verify::fitted(a, verify::ChannelPlace::unstated, Type::tensor(DType::f32, Shape{1, 3, 2, 2}),
                                    verify::ChannelPlace::unstated, changes);
  ASSERT_TRUE(moved);
  EXPECT_EQ(moved->to_doubles(), (std::vector<double>{0, 3, 6, 9, 1, 4, 7, 10, 2, 5, 8, 11}));
  EXPECT_EQ(changes.size(), 1u);
}

TEST(Alignment, MovesChannelsWhereTheModelsSaySoThoughTheShapesDoNot) {
  const Array a = Array::of<float>({1, 2, 2}, {0, 1, 2, 3});
  std::vector<std::string> changes;
  const auto moved = verify::fitted(a, verify::ChannelPlace::last, Type::tensor(DType::f32, Shape{1, 2, 2}),
                                    verify::ChannelPlace::first, changes);
  EXPECT_EQ(moved->to_doubles(), (std::vector<double>{0, 2, 1, 3}));
}

TEST(Alignment, ReadsLayoutsThatAModelStates) {
  Model model;
  model.metadata = {{"ingot.layout.x", "NHWC"}, {"ingot.layout.y", "NCHW"}, {"ingot.layout.z", "?"}};
  EXPECT_EQ(verify::stated_place(model, "x"), verify::ChannelPlace::last);
  EXPECT_EQ(verify::stated_place(model, "y"), verify::ChannelPlace::first);
  EXPECT_EQ(verify::stated_place(model, "z"), verify::ChannelPlace::unstated);
  EXPECT_EQ(verify::stated_place(model, "nobody"), verify::ChannelPlace::unstated);
}

TEST(Alignment, RefusesWhatDoesNotFit) {
  std::vector<std::string> changes;
  EXPECT_FALSE(verify::fitted(floats({1, 2}), {}, Type::tensor(DType::f32, Shape{3}), {}, changes));
  EXPECT_FALSE(verify::fitted(floats({1, 2}), {}, Type::tensor(DType::i32, Shape{2}), {}, changes));
  EXPECT_TRUE(verify::fitted(floats({1, 2}), {}, Type::tensor(DType::f32, Shape{1, 2}), {}, changes));
}

}  // namespace
}  // namespace ingot
