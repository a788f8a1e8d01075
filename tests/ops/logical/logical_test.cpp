// Comparisons, truth values, bits, Where, IsInf and IsNaN.
#include <gmock/gmock.h>

#include "tests/ops/op_case.h"
#include "tests/support/refusal.h"

namespace ingot::test {
namespace {

TEST(Compare, GivesBroadcastTruthValues) {
  for (const char* op : {"Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual"}) {
    OpCase c;
    c.op(op, {c.in("float[N,1]"), c.in("float[3]")});
    EXPECT_EQ(c.type(), "bool[N,3]") << op;
  }
}

TEST(Compare, DecidesWhatHoldsForAllSizes) {
  OpCase c;
  Value *a = c.known("N,3,N"), *b = c.known("N,2,M");
  EXPECT_EQ(elements(c.op("Equal", {a, b})), "[1,0,?]");
  EXPECT_EQ(elements(c.op("Less", {a, b})), "[0,0,?]");
  EXPECT_EQ(elements(c.op("LessOrEqual", {a, b})), "[1,0,?]");
  EXPECT_EQ(elements(c.op("Greater", {a, c.ints({-1})})), "[1,1,1]");
  EXPECT_EQ(elements(c.op("GreaterOrEqual", {c.ints({-1}), a})), "[0,0,0]");
}

TEST(Compare, OrEqualIsTwoComparisons) {
  OpCase c(12);
  c.op("GreaterOrEqual", {c.in("float[N]"), c.in("float[N]")});
  c.convert(11);
  EXPECT_EQ(c.nodes(), "Greater Equal Or");
}

TEST(Truth, IsFollowedAsFarAsItIsKnown) {
  OpCase c;
  Value* yes = c.constant(Tensor::of<bool>({2}, {true, false}));
  Value* open = c.op("Equal", {c.known("N,M"), c.ints({3})});
  EXPECT_EQ(elements(open), "unknown");
  Value* half = c.op("Equal", {c.known("N,3"), c.ints({3})});
  EXPECT_EQ(elements(half), "[?,1]");
  EXPECT_EQ(elements(c.op("And", {yes, half})), "[?,0]");
  EXPECT_EQ(elements(c.op("Or", {yes, half})), "[1,1]");
  EXPECT_EQ(elements(c.op("Xor", {yes, half})), "[?,1]");
  EXPECT_EQ(elements(c.op("Not", {half})), "[?,0]");
}

TEST(Where, ChoosesKnownNumbers) {
  OpCase c;
  Value* half = c.op("Equal", {c.known("N,3,N"), c.ints({3})});
  EXPECT_EQ(elements(c.op("Where", {half, c.known("A,B,C"), c.known("X,Y,C")})), "[?,B,C]");
  EXPECT_EQ(c.op("Where", {c.in("bool[N,1]"), c.in("float[3]"), c.in("float")})->type.str(), "float[N,3]");
}

TEST(Where, SelectsBfloat16AsFloatBeforeOpset16) {
  OpCase c(16);
  c.op("Where", {c.in("bool[N]"), c.in("bfloat16[N]"), c.in("bfloat16")});
  c.convert(13);
  EXPECT_EQ(c.nodes(), "Cast Cast Where Cast");
  EXPECT_EQ(c.type(), "bfloat16[N]");
}

TEST(BitShift, HasADirection) {
  OpCase c;
  EXPECT_EQ(c.op("BitShift", {c.in("uint8[N]"), c.in("uint8")}, {{"direction", "LEFT"}})->type.str(), "uint8[N]");
  EXPECT_REFUSED(Code::inference_failed, c.op("BitShift", {c.in("uint8[N]"), c.in("uint8")}, {{"direction", "left"}}));
  EXPECT_REFUSED(Code::inference_failed, c.op("BitShift", {c.in("uint8[N]"), c.in("uint8")}));
}

TEST(BitwiseNot, IsASubtractionInOlderOpsets) {
  OpCase c(18), small(18);
  c.op("BitwiseNot", {c.in("uint32[N]")});
  c.convert(13);
  EXPECT_EQ(c.nodes(), "Sub");
  EXPECT_EQ(c.node("Sub").input(0)->initializer->at<std::uint32_t>(0), UINT32_MAX);
  small.op("BitwiseNot", {small.in("int8[N]")});
  small.convert(13);
  EXPECT_EQ(small.nodes(), "Cast Cast Sub Cast");
}

TEST(IsInf, LooksAtHalvesAsFloats) {
  OpCase c;
  c.op("IsInf", {c.in("float16[N]")}, {{"detect_negative", 0}});
  EXPECT_EQ(c.type(), "bool[N]");
  c.convert(13);
  EXPECT_EQ(c.nodes(), "Cast IsInf");
  EXPECT_EQ(c.node("IsInf").attributes.int_or("detect_negative", 1), 0);
}

}  // namespace
}  // namespace ingot::test
