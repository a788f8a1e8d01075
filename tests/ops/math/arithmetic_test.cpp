// Add, Sub, Mul, Div, Mod, Pow: shapes, shape arithmetic and the broadcasting of old operator sets.
#include <gmock/gmock.h>

#include "tests/ops/op_case.h"

namespace ingot::test {
namespace {

TEST(Arithmetic, BroadcastsSymbolicShapes) {
  OpCase c;
  c.op("Add", {c.in("float[N,1,4]"), c.in("float[3,1]")});
  EXPECT_EQ(c.type(), "float[N,3,4]");
}

TEST(Arithmetic, KeepsTheElementTypeWhenARankIsUnknown) {
  OpCase c;
  c.op("Mul", {c.in("float16[...]"), c.in("float16[3]")});
  EXPECT_EQ(c.type(), "float16[...]");
}

TEST(Arithmetic, RefusesShapesThatDoNotBroadcast) {
  OpCase c;
  EXPECT_EQ(refusal([&] {
              c.op("Sub", {c.in("float[2,3]"), c.in("float[4]")});
            }),
            "dimensions 3 and 4 cannot be broadcast");
}

TEST(Arithmetic, SurvivesMissingInputs) {
  OpCase c;
  EXPECT_EQ(refusal([&] { c.op("Add", {}); }), "");
  EXPECT_EQ(refusal([&] { c.op("Div", {c.ints({1})}); }), "");
  EXPECT_EQ(refusal([&] { c.op("Mod", {nullptr, c.ints({1})}); }), "");
}

TEST(Arithmetic, FollowsKnownIntegers) {
  OpCase c;
  Value* x = c.known("N,6");
  EXPECT_EQ(elements(c.op("Add", {x, c.ints({1})})), "[N + 1,7]");
  EXPECT_EQ(elements(c.op("Sub", {x, x})), "[0,0]");
  EXPECT_EQ(elements(c.op("Mul", {x, c.ints({2, -1})})), "[2*N,-6]");
  EXPECT_EQ(elements(c.op("Div", {x, c.ints({2})})), "[floor(N/2),3]");
  EXPECT_EQ(elements(c.op("Mod", {x, c.ints({4})})), "[mod(N, 4),2]");
  EXPECT_EQ(elements(c.op("Pow", {x, c.ints({2})})), "[N*N,36]");
}

TEST(Arithmetic, DividesIntegersTowardsZero) {
  OpCase c;
  EXPECT_EQ(elements(c.op("Div", {c.ints({-7, 7, -6}), c.ints({2, -2, 2})})), "[-3,-3,-3]");
  EXPECT_EQ(elements(c.op("Div", {c.ints({1, 4}), c.ints({0, 2})})), "[?,2]");
  EXPECT_EQ(elements(c.op("Div", {c.ints({INT64_MIN, 4}), c.ints({-1, 2})})), "[?,2]");
}

TEST(Arithmetic, GivesTheRemainderTheSignThatFmodAsksFor) {
  OpCase c;
  EXPECT_EQ(elements(c.op("Mod", {c.ints({-7, 7}), c.ints({3, -3})})), "[2,-2]");
  EXPECT_EQ(elements(c.op("Mod", {c.ints({-7, 7}), c.ints({3, -3})}, {{"fmod", 1}})), "[-1,1]");
  EXPECT_EQ(refusal([&] { c.op("Mod", {c.in("float[2]"), c.in("float[2]")}); }), "floating inputs need fmod = 1");
}

TEST(Arithmetic, DoesNotFollowIntegersThatWrap) {
  OpCase c;
  Value* most = c.constant(Tensor::of<std::int32_t>({2}, {INT32_MAX, 5}));
  Value* one = c.constant(Tensor::of<std::int32_t>({1}, {1}));
  EXPECT_EQ(elements(c.op("Add", {most, one})), "[?,6]");
  Value* small = c.constant(Tensor::of<std::uint8_t>({2}, {1, 3}));
  EXPECT_EQ(elements(c.op("Sub", {small, c.constant(Tensor::scalar<std::uint8_t>(2))})), "[?,1]");
}

TEST(Arithmetic, FollowsWholeNumbersThroughFloatingTypes) {
  OpCase c;
  Value* x = c.op("Cast", {c.known("N,5")}, {{"to", DType::f32}});
  Value* doubled = c.op("Mul", {x, c.constant(Tensor::scalar(2.0f))});
  EXPECT_EQ(elements(doubled), "[2*N,10]");
  EXPECT_EQ(elements(c.op("Cast", {c.op("Floor", {doubled})}, {{"to", DType::i64}})), "[2*N,10]");
  EXPECT_EQ(elements(c.op("Div", {doubled, c.constant(Tensor::scalar(4.0f))})), "unknown");
  EXPECT_EQ(elements(c.op("Mul", {x, c.constant(Tensor::of<float>({2}, {0.5f, 3.0f}))})), "[?,15]");
}

TEST(Arithmetic, BroadcastsFromAnAxisBeforeOpset7) {
  OpCase c(6);
  c.op("Add", {c.in("float[2,3,4,5]"), c.in("float[3,4]")}, {{"axis", 1}, {"broadcast", 1}});
  c.convert(12);
  EXPECT_EQ(c.nodes(), "Unsqueeze Add");
  EXPECT_EQ(c.node("Add").attributes.size(), 0u);
  EXPECT_EQ(c.node("Unsqueeze").attributes.ints_or("axes", {}), (std::vector<std::int64_t>{2}));
}

TEST(Arithmetic, MatchesTheLastAxesWithoutAnAxisBeforeOpset7) {
  OpCase c(6);
  c.op("Mul", {c.in("float[2,3,4]"), c.in("float[3,4]")}, {{"broadcast", 1}});
  c.convert(14);
  EXPECT_EQ(c.nodes(), "Mul");
  EXPECT_EQ(c.node("Mul").attributes.size(), 0u);
}

TEST(Arithmetic, FindsTheAxisForOpset6) {
  OpCase c(13);
  c.op("Sub", {c.in("float[N,3,4,5]"), c.in("float[3,1,1]")});
  c.convert(6);
  EXPECT_EQ(c.nodes(), "Squeeze Sub");
  EXPECT_EQ(c.node("Sub").attributes.int_or("axis", -1), 1);
  EXPECT_EQ(c.node("Sub").attributes.int_or("broadcast", 0), 1);
}

TEST(Arithmetic, SwapsWhatCommutesForOpset6) {
  OpCase add(13), sub(13);
  add.op("Add", {add.in("float[3]"), add.in("float[2,3]")});
  add.convert(6);
  EXPECT_EQ(add.node("Add").input(0)->type.str(), "float[2,3]");
  sub.op("Sub", {sub.in("float[3]"), sub.in("float[2,3]")});
  EXPECT_THAT(refusal([&] { sub.convert(6); }), testing::HasSubstr("operator set 6 cannot broadcast these shapes"));
}

TEST(Arithmetic, GoesThroughInt32WhereOlderOpsetsLackSmallIntegers) {
  OpCase c(14);
  c.op("Add", {c.in("int8[N]"), c.in("int8[N]")});
  c.convert(13);
  EXPECT_EQ(c.nodes(), "Cast Cast Add Cast");
  EXPECT_EQ(c.type(), "int8[N]");
}

TEST(Arithmetic, CastsTheExponentForOpset7) {
  OpCase c(12);
  c.op("Pow", {c.in("float[N]"), c.in("int64")});
  c.convert(11);
  EXPECT_EQ(c.nodes(), "Cast Pow");
}

}  // namespace
}  // namespace ingot::test
