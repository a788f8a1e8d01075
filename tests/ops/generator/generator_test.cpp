// Constants, ranges, windows, random numbers.
#include <gmock/gmock.h>

#include <cmath>

#include "tests/ops/op_case.h"
#include "tests/support/refusal.h"

namespace ingot::test {
namespace {

TEST(Constant, HasTheTypeOfWhicheverFormIsGiven) {
  OpCase c;
  EXPECT_EQ(c.op("Constant", {}, {{"value", Tensor::of<double>({2}, {1.0, 2.0})}})->type.str(), "double[2]");
  EXPECT_EQ(c.op("Constant", {}, {{"value_int", 3}})->type.str(), "int64");
  EXPECT_EQ(c.op("Constant", {}, {{"value_floats", std::vector<float>{1, 2, 3}}})->type.str(), "float[3]");
  EXPECT_EQ(c.op("Constant", {}, {{"value_string", "a"}})->type.str(), "string");
  EXPECT_EQ(elements(c.op("Constant", {}, {{"value_ints", {4, 5}}})), "[4,5]");
}

TEST(Constant, WantsExactlyOneForm) {
  OpCase c;
  EXPECT_REFUSED(Code::inference_failed, c.op("Constant", {}));
  EXPECT_REFUSED(Code::inference_failed, c.op("Constant", {}, {{"value_int", 1}, {"value_float", 1.0f}}));
}

TEST(Constant, IsATensorBeforeOpset12) {
  OpCase c(13);
  c.op("Constant", {}, {{"value_ints", {4, 5}}});
  c.convert(11);
  const auto* value = c.node("Constant").attributes.get<Tensor>("value");
  ASSERT_TRUE(value);
  EXPECT_EQ(value->to_ints(), (std::vector<std::int64_t>{4, 5}));
  EXPECT_EQ(c.node("Constant").attributes.size(), 1u);
}

TEST(ConstantOfShape, FollowsSymbolicShapes) {
  OpCase c;
  EXPECT_EQ(c.op("ConstantOfShape", {c.known("N,3")})->type.str(), "float[N,3]");
  EXPECT_EQ(c.op("ConstantOfShape", {c.in("int64[2]")})->type.str(), "float[?,?]");
  EXPECT_EQ(c.op("ConstantOfShape", {c.in("int64[K]")})->type.str(), "float[...]");
  const Tensor seven = Tensor::of<std::int64_t>({1}, {7});
  EXPECT_EQ(elements(c.op("ConstantOfShape", {c.ints({2})}, {{"value", seven}})), "[7,7]");
}

TEST(ConstantOfShape, RefusesHostileShapes) {
  OpCase c;
  EXPECT_EQ(refusal([&] { c.op("ConstantOfShape", {c.ints({3, -1})}); }), "dimension -1 is negative");
  EXPECT_REFUSED(Code::inference_failed, c.op("ConstantOfShape", {c.in("int64[1000000]")}));
  EXPECT_REFUSED(Code::inference_failed, c.op("ConstantOfShape", {c.ints(std::vector<std::int64_t>(100, 1))}));
  EXPECT_REFUSED(Code::inference_failed, c.op("ConstantOfShape", {c.in("int64[2,2]")}));
  EXPECT_REFUSED(Code::inference_failed, c.op("ConstantOfShape", {c.ints({2})}, {{"value", Tensor::ints({})}}));
}

TEST(EyeLike, IsAMatrixOfTheTypeAskedFor) {
  OpCase c;
  EXPECT_EQ(c.op("EyeLike", {c.in("float[N,3]")}, {{"dtype", DType::i32}})->type.str(), "int32[N,3]");
  EXPECT_EQ(c.op("EyeLike", {c.in("float[...]")})->type.str(), "float[?,?]");
  EXPECT_EQ(refusal([&] { c.op("EyeLike", {c.in("float[3]")}); }), "the input is no matrix");
}

TEST(Random, TakesShapeAndTypeFromAttributesOrFromAnother) {
  OpCase c;
  EXPECT_EQ(c.op("RandomNormal", {}, {{"shape", {2, 3}}})->type.str(), "float[2,3]");
  EXPECT_EQ(c.op("RandomUniform", {}, {{"shape", {2}}, {"dtype", DType::f64}})->type.str(), "double[2]");
  EXPECT_EQ(c.op("RandomNormalLike", {c.in("int64[N]")}, {{"dtype", DType::f16}})->type.str(), "float16[N]");
  EXPECT_EQ(c.op("RandomUniformLike", {c.in("double[N]")})->type.str(), "double[N]");
  EXPECT_EQ(c.op("Bernoulli", {c.in("double[N]")}, {{"dtype", DType::boolean}})->type.str(), "bool[N]");
  EXPECT_EQ(c.op("Multinomial", {c.in("float[N,9]")}, {{"sample_size", 4}})->type.str(), "int32[N,4]");
}

TEST(Random, RefusesOtherTypesAndShapes) {
  OpCase c;
  EXPECT_EQ(refusal([&] {
              c.op("RandomNormal", {}, {{"shape", {2}}, {"dtype", DType::string}});
            }),
            "the output cannot be of type string");
  EXPECT_REFUSED(Code::inference_failed, c.op("RandomNormal", {}, {{"shape", {-2}}}));
  EXPECT_REFUSED(Code::inference_failed, c.op("Multinomial", {c.in("float[N]")}));
  EXPECT_REFUSED(Code::inference_failed, c.op("Multinomial", {c.in("float[N,3]")}, {{"sample_size", -1}}));
}

TEST(Random, IsDrawnAsFloatWhereOlderOpsetsLackBfloat16) {
  OpCase c, like, coin;
  c.op("RandomNormal", {}, {{"shape", {2}}, {"dtype", DType::bf16}, {"mean", 3.0f}});
  c.convert(13);
  EXPECT_EQ(c.nodes(), "RandomNormal Cast");
  EXPECT_EQ(c.node("RandomNormal").attributes.float_or("mean", 0), 3.0f);
  like.op("RandomUniformLike", {like.in("bfloat16[N]")});
  like.convert(13);
  EXPECT_EQ(like.nodes(), "Cast RandomUniformLike Cast");
  coin.op("Bernoulli", {coin.in("float[N]")});
  coin.convert(13);
  EXPECT_EQ(coin.nodes(), "RandomUniformLike Less Cast");
}

TEST(Range, CountsItsNumbers) {
  OpCase c;
  const auto number = [&](std::int64_t v) { return c.constant(Tensor::scalar(v)); };
  Value* up = c.op("Range", {number(1), number(10), number(3)});
  EXPECT_EQ(up->type.str(), "int64[3]");
  EXPECT_EQ(elements(up), "[1,4,7]");
  EXPECT_EQ(elements(c.op("Range", {number(10), number(6), number(-3)})), "[10,7]");
  EXPECT_EQ(c.op("Range", {number(10), number(6), number(3)})->type.str(), "int64[0]");
  EXPECT_EQ(c.op("Range", {number(0), c.known("N"), number(1)})->type.str(), "int64[N]");
  EXPECT_EQ(c.op("Range", {number(0), c.in("int64"), number(1)})->type.shape->size(), 1u);
  EXPECT_EQ(refusal([&] { c.op("Range", {number(0), number(5), number(0)}); }), "delta is 0");
}

TEST(Range, CountsFloatingNumbersInTheirType) {
  OpCase c;
  const auto number = [&](float v) { return c.constant(Tensor::scalar(v)); };
  EXPECT_EQ(c.op("Range", {number(0), number(1), number(0.25f)})->type.str(), "float[4]");
  EXPECT_EQ(c.op("Range", {number(1), number(5), number(2)})->type.str(), "float[2]");
  EXPECT_EQ(c.op("Range", {number(0), number(INFINITY), number(1)})->type.shape->size(), 1u);
  EXPECT_EQ(c.op("Range", {number(NAN), number(1), number(1)})->type.shape->size(), 1u);
}

TEST(Range, DoesNotListHugeRanges) {
  OpCase c;
  const auto number = [&](std::int64_t v) { return c.constant(Tensor::scalar(v)); };
  Value* huge = c.op("Range", {number(INT64_MIN), number(INT64_MAX), number(1)});
  EXPECT_EQ(elements(huge), "unknown");
  EXPECT_EQ(c.op("Range", {number(0), number(INT64_MAX), number(1)})->type.str(), "int64[9223372036854775807]");
}

TEST(Range, OfHalvesIsComputedInTheStashType) {
  OpCase c;
  c.op("Range", {c.in("float16"), c.in("float16"), c.in("float16")}, {{"stash_type", DType::f64}});
  c.convert(13);
  EXPECT_EQ(c.nodes(), "Cast Cast Cast Range Cast");
  EXPECT_EQ(c.node("Range").input(0)->type.str(), "double");
}

TEST(Range, DecomposesWithoutALoop) {
  OpCase c;
  c.op("Range", {c.in("int32"), c.in("int32"), c.in("int32")});
  ASSERT_TRUE(c.decompose());
  EXPECT_EQ(c.output()->type.elem, DType::i32);
  EXPECT_EQ(c.output()->type.shape->size(), 1u);
}

TEST(Window, HasTheSizeAndTypeAskedFor) {
  for (const char* op : {"BlackmanWindow", "HammingWindow", "HannWindow"}) {
    OpCase c;
    Value* ten = c.constant(Tensor::scalar<std::int64_t>(10));
    EXPECT_EQ(c.op(op, {ten}, {{"output_datatype", DType::f64}})->type.str(), "double[10]");
    EXPECT_EQ(c.op(op, {c.known("N")})->type.str(), "float[N]");
    EXPECT_EQ(refusal([&] { c.op(op, {c.constant(Tensor::scalar<std::int32_t>(0))}); }), "size is not positive");
    OpCase old;
    old.op(op, {old.in("int64")}, {{"periodic", 0}});
    old.convert(13);
    EXPECT_EQ(old.output()->type.elem, DType::f32);
  }
}

TEST(MelWeightMatrix, HasHalfTheTransformsBinsAsRows) {
  OpCase c;
  const auto number = [&](std::int64_t v) { return c.constant(Tensor::scalar(v)); };
  Value *low = c.in("float"), *high = c.in("float");
  c.op("MelWeightMatrix", {number(8), number(16), number(8192), low, high});
  EXPECT_EQ(c.type(), "float[9,8]");
  c.convert(13);
  EXPECT_EQ(c.output()->type.elem, DType::f32);
}

}  // namespace
}  // namespace ingot::test
