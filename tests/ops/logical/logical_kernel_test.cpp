// Comparisons, truth values and bits at run time.
#include <gmock/gmock.h>

#include <limits>

#include "tests/ops/values.h"

namespace ingot::test {
namespace {

using testing::ElementsAre;

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

TEST(Compare, IsFalseForNaN) {
  const Array x = floats({1, kNaN, 2}), y = floats({1, kNaN, 1});
  EXPECT_THAT(values<bool>(run_op("Equal", {x, y})), ElementsAre(true, false, false));
  EXPECT_THAT(values<bool>(run_op("GreaterOrEqual", {x, y})), ElementsAre(true, false, true));
  EXPECT_THAT(values<bool>(run_op("LessOrEqual", {x, y})), ElementsAre(true, false, false));
}

TEST(Compare, KnowsUnsignedNumbersBeyondTheSigned) {
  const Array x = Array::scalar(std::numeric_limits<std::uint64_t>::max()), y = Array::scalar(std::uint64_t{1});
  EXPECT_THAT(values<bool>(run_op("Greater", {x, y})), ElementsAre(true));
}

TEST(Equal, ComparesStringsAndTruth) {
  const Array x = Array::of<std::string>({2}, {"a", "b"}), y = Array::of<std::string>({1}, {"b"});
  EXPECT_THAT(values<bool>(run_op("Equal", {x, y})), ElementsAre(false, true));
  EXPECT_THAT(values<bool>(run_op("Equal", {Array::scalar(true), Array::scalar(false)})), ElementsAre(false));
}

TEST(Truth, HasItsTables) {
  const Array x = Array::of<bool>({4}, {false, false, true, true}),
              y = Array::of<bool>({4}, {false, true, false, true});
  EXPECT_THAT(values<bool>(run_op("And", {x, y})), ElementsAre(false, false, false, true));
  EXPECT_THAT(values<bool>(run_op("Or", {x, y})), ElementsAre(false, true, true, true));
  EXPECT_THAT(values<bool>(run_op("Xor", {x, y})), ElementsAre(false, true, true, false));
  EXPECT_THAT(values<bool>(run_op("Not", {x})), ElementsAre(true, true, false, false));
}

TEST(BitShift, LosesAllBitsAtTheWidth) {
  const Array x = Array::of<std::uint8_t>({3}, {255, 255, 255}), y = Array::of<std::uint8_t>({3}, {1, 7, 200});
  EXPECT_THAT(values<std::uint8_t>(run_op("BitShift", {x, y}, {{"direction", "LEFT"}})), ElementsAre(254, 128, 0));
  EXPECT_THAT(values<std::uint8_t>(run_op("BitShift", {x, y}, {{"direction", "RIGHT"}})), ElementsAre(127, 1, 0));
}

TEST(Bitwise, WorksOnSignedNumbers) {
  const Array x = ints({-1, 6}), y = ints({5, 3});
  EXPECT_THAT(values<std::int64_t>(run_op("BitwiseAnd", {x, y})), ElementsAre(5, 2));
  EXPECT_THAT(values<std::int64_t>(run_op("BitwiseOr", {x, y})), ElementsAre(-1, 7));
  EXPECT_THAT(values<std::int64_t>(run_op("BitwiseXor", {x, y})), ElementsAre(-6, 5));
  EXPECT_THAT(values<std::int64_t>(run_op("BitwiseNot", {x})), ElementsAre(0, -7));
}

TEST(IsInf, SeeksTheSignsAskedFor) {
  const Array x = floats({-kInf, kInf, kNaN, 1});
  EXPECT_THAT(values<bool>(run_op("IsInf", {x})), ElementsAre(true, true, false, false));
  EXPECT_THAT(values<bool>(run_op("IsInf", {x}, {{"detect_negative", 0}})), ElementsAre(false, true, false, false));
  EXPECT_THAT(values<bool>(run_op("IsNaN", {x})), ElementsAre(false, false, true, false));
}

TEST(Where, BroadcastsAllThree) {
  const Array condition = Array::of<bool>({2, 1}, {true, false});
  const Array x = Array::of<std::string>({2}, {"a", "b"}), y = Array::of<std::string>({1}, {"z"});
  const Array z = run_op("Where", {condition, x, y});
  EXPECT_EQ(z.dims(), (Dims{2, 2}));
  EXPECT_THAT(values<std::string>(z), ElementsAre("a", "b", "z", "z"));
}

}  // namespace
}  // namespace ingot::test
