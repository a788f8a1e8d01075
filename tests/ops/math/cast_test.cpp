// Cast, CastLike, BitCast, Identity, Dropout.
#include <gmock/gmock.h>

#include "tests/ops/op_case.h"
#include "tests/support/refusal.h"

namespace ingot::test {
namespace {

TEST(Cast, ChangesTheElementTypeOnly) {
  OpCase c;
  EXPECT_EQ(c.op("Cast", {c.in("float[N,3]")}, {{"to", DType::i64}})->type.str(), "int64[N,3]");
  EXPECT_EQ(c.op("Cast", {c.in("float[...]")}, {{"to", DType::string}})->type.str(), "string[...]");
}

TEST(Cast, RefusesWhatIsNoElementType) {
  OpCase c;
  for (const int to : {0, -1, 27, 14})  // 14: complex numbers have no casts
    EXPECT_REFUSED(Code::inference_failed, c.op("Cast", {c.in("float[1]")}, {{"to", to}})) << to;
  EXPECT_REFUSED(Code::inference_failed, c.op("Cast", {c.in("float[1]")}, {{"to", "FLOAT"}}));
  EXPECT_REFUSED(Code::inference_failed, c.op("Cast", {c.in("float[1]")}));
}

TEST(Cast, FollowsNumbersThatTheTypeHolds) {
  OpCase c;
  Value* x = c.known("N,300,-1,0");
  EXPECT_EQ(elements(c.op("Cast", {x}, {{"to", DType::i32}})), "[N,300,-1,0]");
  EXPECT_EQ(elements(c.op("Cast", {x}, {{"to", DType::u8}})), "[?,?,?,0]");
  EXPECT_EQ(elements(c.op("Cast", {x}, {{"to", DType::boolean}})), "[?,1,1,0]");
  EXPECT_EQ(elements(c.op("Cast", {c.ints({1 << 24, (1 << 24) + 1})}, {{"to", DType::f32}})), "[16777216,?]");
}

TEST(Cast, NamesTheTypeInOpset1) {
  OpCase c(1);
  c.op("Cast", {c.in("float[N]")}, {{"to", "INT64"}});
  c.convert(13);
  EXPECT_EQ(c.node("Cast").attributes.int_or("to", 0), 7);
  c.convert(1);
  EXPECT_EQ(c.node("Cast").attributes.string_or("to", ""), "INT64");
}

TEST(Cast, DropsAttributesThatTheTargetDoesNotHeed) {
  OpCase c;
  c.op("Cast", {c.in("float[N]")}, {{"to", DType::i32}, {"saturate", 0}, {"round_mode", "down"}});
  c.convert(13);
  EXPECT_EQ(c.node("Cast").attributes.size(), 1u);
}

TEST(CastLike, IsACastOnceTheTypeIsKnown) {
  OpCase c;
  c.op("CastLike", {c.in("float[N]"), c.in("float16[...]")});
  EXPECT_EQ(c.type(), "float16[N]");
  ASSERT_TRUE(c.decompose());
  EXPECT_EQ(c.nodes(), "Cast");
  EXPECT_EQ(c.node("Cast").attributes.int_or("to", 0), 10);
  OpCase unknown;
  unknown.op("CastLike", {unknown.in("float[N]"), unknown.in("?[...]")});
  EXPECT_FALSE(unknown.decompose());
}

TEST(BitCast, WantsTypesOfOneWidth) {
  OpCase c;
  EXPECT_EQ(c.op("BitCast", {c.in("float[N]")}, {{"to", DType::i32}})->type.str(), "int32[N]");
  EXPECT_EQ(refusal([&] {
              c.op("BitCast", {c.in("float[N]")}, {{"to", DType::i64}});
            }),
            "float and int64 differ in width");
}

TEST(Identity, PassesTypesAndNumbersOn) {
  OpCase c;
  EXPECT_EQ(elements(c.op("Identity", {c.known("N,2")})), "[N,2]");
  Value* sequence = c.in("float[1]");
  sequence->type = Type::sequence(tensor_type("float[N]"));
  EXPECT_EQ(c.op("Identity", {sequence})->type.str(), "seq(float[N])");
}

TEST(Dropout, MakesAMaskOfTheInputsShape) {
  OpCase c;
  c.ops("Dropout", {c.in("float[N,3]")}, {}, 2);
  EXPECT_EQ(c.type(0), "float[N,3]");
  EXPECT_EQ(c.type(1), "bool[N,3]");
}

TEST(Dropout, InTestModeOfOpset6StaysADropoutThatDropsNothing) {
  OpCase c(6);
  c.op("Dropout", {c.in("float[N]")}, {{"is_test", 1}, {"ratio", 0.25f}});
  c.convert(13);
  EXPECT_EQ(c.nodes(), "Dropout");
  EXPECT_EQ(c.node("Dropout").attributes.size(), 0u);
  EXPECT_EQ(c.node("Dropout").input(1)->initializer->at<float>(0), 0.25f);
  EXPECT_EQ(c.node("Dropout").input(2), nullptr);
}

TEST(Dropout, OutsideTestModeOfOpset6Drops) {
  OpCase c(6);
  c.op("Dropout", {c.in("float[N]")});
  c.convert(13);
  EXPECT_EQ(c.nodes(), "RandomUniformLike Less Not Cast Mul Sub Div");
}

TEST(Dropout, CastsItsMaskFromOpset9) {
  OpCase c(9);
  c.ops("Dropout", {c.in("float[N]")}, {}, 2);
  c.convert(13);
  EXPECT_EQ(c.nodes(), "Dropout Cast");
  EXPECT_EQ(c.node("Cast").attributes.int_or("to", 0), 1);
}

TEST(Dropout, DecomposesByItsMode) {
  OpCase still, dropping, open;
  still.ops("Dropout", {still.in("float[N]")}, {}, 2);
  ASSERT_TRUE(still.decompose());
  EXPECT_EQ(still.nodes(), "Shape ConstantOfShape Identity");
  Value* yes = dropping.constant(Tensor::scalar(true));
  dropping.op("Dropout", {dropping.in("float16[N]"), dropping.in("float"), yes});
  ASSERT_TRUE(dropping.decompose());
  EXPECT_EQ(dropping.type(), "float16[N]");
  open.op("Dropout", {open.in("float[N]"), nullptr, open.in("bool")});
  EXPECT_FALSE(open.decompose());
}

}  // namespace
}  // namespace ingot::test
