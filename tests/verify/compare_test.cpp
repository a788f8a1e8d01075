// When do two values agree?
#include "ingot/verify/compare.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "ingot/base/float_types.h"

namespace ingot::verify {
namespace {

using ::testing::HasSubstr;

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

Array floats(std::vector<float> values) {
  const auto n = static_cast<std::int64_t>(values.size());
  return Array::of<float>({n}, values);
}

std::string text_of(const Datum& got, const Datum& expected, const Tolerance& t = {}) {
  return difference(got, expected, t).value_or("agree");
}

TEST(Compare, ToleranceIsRelativeToTheExpectedValueAndAbsolute) {
  EXPECT_EQ(text_of(floats({1.0009f}), floats({1})), "agree");
  EXPECT_NE(text_of(floats({1.0011f}), floats({1})), "agree");
  EXPECT_EQ(text_of(floats({0.9e-7f}), floats({0})), "agree");
  EXPECT_NE(text_of(floats({1.1e-7f}), floats({0})), "agree");
}

TEST(Compare, NotFiniteValuesMustStandInTheSamePlaces) {
  EXPECT_EQ(text_of(floats({kNaN, kInf, -kInf}), floats({kNaN, kInf, -kInf})), "agree");
  EXPECT_NE(text_of(floats({1}), floats({kNaN})), "agree");
  EXPECT_NE(text_of(floats({kInf}), floats({-kInf})), "agree");
  EXPECT_NE(text_of(floats({kInf}), floats({1e30f})), "agree");
}

TEST(Compare, TheFirstDifferenceIsNamedWithItsPlace) {
  const Array got = Array::of<float>({2, 2}, {1, 2, 3, 4}), expected = Array::of<float>({2, 2}, {1, 2, 5, 8});
  EXPECT_EQ(text_of(got, expected), "element [1,0] is 3, expected 5; 2 of 4 elements differ, at most by 4");
}

TEST(Compare, TypesAndShapesAreExact) {
  EXPECT_EQ(text_of(floats({1}), Array::of<double>({1}, {1})), "is float[1], expected double[1]");
  EXPECT_EQ(text_of(floats({1}), Array::scalar<float>(1)), "is float[1], expected float");
}

TEST(Compare, IntegersAreExactUnlessStepsAreAllowed) {
  const Array got = Array::of<std::int64_t>({1}, {1'000'001}), expected = Array::of<std::int64_t>({1}, {1'000'000});
  EXPECT_NE(text_of(got, expected), "agree");
  EXPECT_EQ(text_of(got, expected, {.rtol = 0, .atol = 0, .scale = 0, .steps = 1}), "agree");
}

TEST(Compare, NeighboursOfGreatIntegersDiffer) {
  constexpr std::int64_t kGreat = std::int64_t{1} << 60;
  EXPECT_NE(text_of(Array::of<std::int64_t>({1}, {kGreat + 1}), Array::of<std::int64_t>({1}, {kGreat})), "agree");
  EXPECT_NE(text_of(Array::of<std::uint64_t>({1}, {~std::uint64_t{0}}), Array::of<std::uint64_t>({1}, {~std::uint64_t{1}})),
            "agree");
}

TEST(Compare, ScaleIsThatOfTheLargestExpectedValue) {
  const Tolerance scale{.rtol = 0, .atol = 0, .scale = 1e-2, .steps = 0};
  EXPECT_EQ(text_of(floats({0.5f, 100}), floats({0, 100}), scale), "agree");
  EXPECT_NE(text_of(floats({1.5f, 100}), floats({0, 100}), scale), "agree");
}

TEST(Compare, SmallFloatsAreComparedByValue) {
  const Array got = Array::of<Float16>({1}, {Float16(1.0f)}), expected = Array::of<Float16>({1}, {Float16(2.0f)});
  EXPECT_THAT(text_of(got, expected), HasSubstr("is 1, expected 2"));
}

TEST(Compare, SequencesMapsAndOptionalsAreComparedWithin) {
  const Datum empty, one = Sequence{floats({1})}, other = Sequence{floats({2})};
  EXPECT_EQ(text_of(empty, empty), "agree");
  EXPECT_EQ(text_of(empty, one), "is empty, expected a sequence");
  EXPECT_THAT(text_of(one, other), HasSubstr("element 0: element [0] is 1, expected 2"));
  EXPECT_EQ(text_of(Sequence{}, one), "has 0 elements, expected 1");
  const auto map = [](std::int64_t key, float value) {
    return Datum(MapData{.int_keys = {key}, .string_keys = {}, .values = Array::of<float>({1}, {value})});
  };
  EXPECT_EQ(text_of(map(1, 2), map(1, 2)), "agree");
  EXPECT_EQ(text_of(map(1, 2), map(2, 2)), "has other keys");
  EXPECT_NE(text_of(map(1, 2), map(1, 3)), "agree");
}

TEST(Compare, StringsAreExact) {
  const Array got = Array::of<std::string>({1}, {"a"}), expected = Array::of<std::string>({1}, {"b"});
  EXPECT_EQ(text_of(got, expected), "element [0] is 'a', expected 'b'");
}

}  // namespace
}  // namespace ingot::verify
