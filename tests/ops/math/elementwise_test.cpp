// Functions of one number, activations, Clip, PRelu, Max and its kin.
#include <gmock/gmock.h>

#include <limits>

#include "tests/ops/op_case.h"

namespace ingot::test {
namespace {

TEST(Elementwise, KeepsTypeAndShape) {
  for (const char* op :
       {"Abs",  "Acos", "Ceil",  "Celu", "Cosh",   "Elu",     "Erf",      "Gelu", "HardSwish", "LeakyRelu", "Log",
        "Mish", "Relu", "Round", "Selu", "Shrink", "Sigmoid", "Softplus", "Sqrt", "Swish",     "Tanh"}) {
    OpCase c;
    c.op(op, {c.in("double[N,?,3]")});
    EXPECT_EQ(c.type(), "double[N,?,3]") << op;
    OpCase unknown;
    unknown.op(op, {unknown.in("double[...]")});
    EXPECT_EQ(unknown.type(), "double[...]") << op;
    OpCase absent;
    EXPECT_EQ(refusal([&] { absent.op(op, {}); }), "") << op;
  }
}

TEST(Elementwise, FollowsKnownNumbers) {
  OpCase c;
  Value* x = c.known("N,-3,0");
  EXPECT_EQ(elements(c.op("Abs", {x})), "[N,3,0]");
  EXPECT_EQ(elements(c.op("Neg", {x})), "[-N,3,0]");
  EXPECT_EQ(elements(c.op("Sign", {x})), "[?,-1,0]");
  EXPECT_EQ(elements(c.op("Relu", {x})), "[N,0,0]");
  EXPECT_EQ(elements(c.op("Max", {x, c.ints({2}), c.ints({1})})), "[max(2, N),2,2]");
  EXPECT_EQ(elements(c.op("Min", {x, c.ints({0})})), "[0,-3,0]");
  EXPECT_EQ(elements(c.op("Clip", {x, c.ints({0}), c.ints({0})})), "[0,0,0]");
}

TEST(Elementwise, ComputesBfloat16InFloatWhereOlderOpsetsLackIt) {
  OpCase c(22);
  c.op("Sin", {c.in("bfloat16[N]")});
  c.convert(13);
  EXPECT_EQ(c.nodes(), "Cast Sin Cast");
  EXPECT_EQ(c.type(), "bfloat16[N]");
}

TEST(Activation, DecomposesInItsOwnType) {
  for (const char* op : {"Celu", "Elu", "Gelu", "HardSigmoid", "HardSwish", "LeakyRelu", "Mish", "Relu", "Selu",
                         "Shrink", "Softplus", "Softsign", "Swish", "ThresholdedRelu"}) {
    for (const char* type : {"float[N,3]", "float16[N,3]", "bfloat16[...]", "double"}) {
      OpCase c;
      c.op(op, {c.in(type)});
      EXPECT_TRUE(c.decompose()) << op;
      EXPECT_EQ(c.type(), type) << op;
      EXPECT_NE(c.nodes(), op);
    }
  }
}

TEST(Activation, WithoutAnElementTypeIsLeftAlone) {
  OpCase c;
  c.op("Elu", {c.in("?[...]")});
  EXPECT_FALSE(c.decompose());
  EXPECT_EQ(c.nodes(), "Elu");
}

TEST(Activation, ReachesOpset13) {
  for (const char* op : {"Gelu", "HardSwish", "Mish", "Swish", "Celu"}) {
    OpCase c;
    c.op(op, {c.in("float16[N]")});
    c.convert(13);
    EXPECT_EQ(c.type(), "float16[N]") << op;
  }
  OpCase glu;
  glu.op("SwiGLU", {glu.in("float[N]"), glu.in("float[N]")}, {{"alpha", 0.5f}});
  glu.convert(13);
  EXPECT_EQ(glu.nodes(), "Mul Sigmoid Mul Mul");
  OpCase relu;
  relu.op("Relu", {relu.in("int8[N]")});
  relu.convert(13);
  EXPECT_EQ(relu.nodes(), "Max");
}

TEST(Gelu, KnowsItsTwoForms) {
  OpCase c;
  EXPECT_EQ(refusal([&] {
              c.op("Gelu", {c.in("float[1]")}, {{"approximate", "fast"}});
            }),
            "approximate is neither 'none' nor 'tanh'");
  OpCase exact, approximate;
  exact.op("Gelu", {exact.in("float[N]")});
  approximate.op("Gelu", {approximate.in("float[N]")}, {{"approximate", "tanh"}});
  ASSERT_TRUE(exact.decompose() && approximate.decompose());
  EXPECT_EQ(exact.nodes(), "Div Erf Mul Add Mul");
  EXPECT_EQ(approximate.nodes(), "Pow Mul Add Mul Tanh Mul Add Mul");
}

TEST(SwiGLU, WantsInputsOfOneShape) {
  OpCase c;
  EXPECT_EQ(c.op("SwiGLU", {c.in("float[?,3]"), c.in("float[N,3]")})->type.str(), "float[N,3]");
  EXPECT_THAT(refusal([&] {
                c.op("SwiGLU", {c.in("float[1,3]"), c.in("float[2,3]")});
              }),
              testing::HasSubstr("must have the same type and shape"));
}

TEST(PRelu, WantsASlopeThatFitsTheInput) {
  OpCase c;
  EXPECT_EQ(c.op("PRelu", {c.in("float[N,3,4]"), c.in("float[3,1]")})->type.str(), "float[N,3,4]");
  EXPECT_EQ(refusal([&] {
              c.op("PRelu", {c.in("float[3]"), c.in("float[2,3]")});
            }),
            "the slope has a higher rank than the input");
  EXPECT_EQ(refusal([&] {
              c.op("PRelu", {c.in("float[3]"), c.in("float[2]")});
            }),
            "a slope of 2 does not fit a dimension of 3");
}

TEST(PRelu, TakesChannelSlopesFromOpset6AndBack) {
  OpCase c(6);
  c.op("PRelu", {c.in("float[N,3,4,5]"), c.in("float[3]")});
  c.convert(9);
  EXPECT_EQ(c.nodes(), "Unsqueeze PRelu");
  OpCase down(9);
  down.op("PRelu", {down.in("float[N,3,4,5]"), down.in("float[3,1,1]")});
  down.convert(6);
  EXPECT_EQ(down.nodes(), "Reshape PRelu");
  OpCase other(9);
  other.op("PRelu", {other.in("float[N,3,4]"), other.in("float[4]")});
  EXPECT_THAT(refusal([&] { other.convert(6); }), testing::HasSubstr("one slope per channel"));
}

TEST(Clip, MovesItsBoundsBetweenAttributesAndInputs) {
  OpCase c(6);
  c.op("Clip", {c.in("float[N]")}, {{"min", 0.0f}, {"max", 6.0f}});
  c.convert(13);
  EXPECT_EQ(c.nodes(), "Clip");
  EXPECT_EQ(c.node("Clip").attributes.size(), 0u);
  EXPECT_EQ(c.node("Clip").input(1)->initializer->at<float>(0), 0.0f);
  EXPECT_EQ(c.node("Clip").input(2)->initializer->at<float>(0), 6.0f);
  c.convert(6);
  EXPECT_EQ(c.node("Clip").input_count(), 1u);
  EXPECT_EQ(c.node("Clip").attributes.float_or("min", -1), 0.0f);
  EXPECT_EQ(c.node("Clip").attributes.float_or("max", -1), 6.0f);
}

TEST(Clip, KeepsTheDefaultBoundsOfEachVersion) {
  OpCase first(1), sixth(6), half(6);
  first.op("Clip", {first.in("float[N]")});
  first.convert(13);
  EXPECT_EQ(first.node("Clip").input_count(), 1u) << "version 1 has no bounds";
  sixth.op("Clip", {sixth.in("float[N]")});
  sixth.convert(13);
  EXPECT_EQ(sixth.node("Clip").input(1)->initializer->at<float>(0), std::numeric_limits<float>::lowest());
  half.op("Clip", {half.in("float16[N]")});
  half.convert(13);
  EXPECT_EQ(half.node("Clip").input_count(), 1u) << "no float16 exceeds the largest float";
}

TEST(Clip, BecomesMaxAndMinWhereBoundsAreComputed) {
  OpCase c(13);
  c.op("Clip", {c.in("float[N]"), c.in("float"), c.in("float")});
  c.convert(10);
  EXPECT_EQ(c.nodes(), "Max Min");
}

TEST(Clip, RefusesBoundsOfSeveralNumbers) {
  OpCase c;
  EXPECT_EQ(refusal([&] { c.op("Clip", {c.in("float[3]"), c.in("float[3]")}); }), "min is not one number");
}

TEST(Sum, IsAddedUpWhereShapesDiffer) {
  OpCase c(13), same(13), most(13);
  c.op("Sum", {c.in("float[2,3]"), c.in("float[3]"), c.in("float[1]")});
  c.convert(7);
  EXPECT_EQ(c.nodes(), "Add Add");
  same.op("Sum", {same.in("float[N]"), same.in("float[N]")});
  same.convert(7);
  EXPECT_EQ(same.nodes(), "Sum");
  most.op("Max", {most.in("float[2,3]"), most.in("float[3]")});
  EXPECT_THAT(refusal([&] { most.convert(7); }), testing::HasSubstr("does not broadcast"));
}

TEST(Mean, DecomposesIntoAdditionsAndOneDivision) {
  OpCase c;
  c.op("Mean", {c.in("float[N]"), c.in("float[N]"), c.in("float[1]")});
  ASSERT_TRUE(c.decompose());
  EXPECT_EQ(c.nodes(), "Add Add Div");
}

}  // namespace
}  // namespace ingot::test
