// Quantised operators.
#include <gmock/gmock.h>

#include "tests/ops/op_case.h"
#include "tests/support/refusal.h"

namespace ingot::test {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(QuantizeLinear, TakesItsTypeFromZeroPointOrAttribute) {
  OpCase c;
  Value *x = c.in("float[N,3]"), *scale = c.in("float");
  EXPECT_EQ(c.op("QuantizeLinear", {x, scale})->type.str(), "uint8[N,3]");
  EXPECT_EQ(c.op("QuantizeLinear", {x, scale, c.in("int8")})->type.str(), "int8[N,3]");
  EXPECT_EQ(c.op("QuantizeLinear", {x, scale}, {{"output_dtype", DType::i4}})->type.str(), "int4[N,3]");
  EXPECT_REFUSED(Code::inference_failed,
                 c.op("QuantizeLinear", {x, scale, c.in("int8")}, {{"output_dtype", DType::u8}}));
  EXPECT_REFUSED(Code::inference_failed, c.op("QuantizeLinear", {x, scale}, {{"output_dtype", 99}}));
}

TEST(QuantizeLinear, ChecksScalesPerAxisAndBlock) {
  OpCase c;
  Value* x = c.in("float[2,6]");
  EXPECT_EQ(c.op("QuantizeLinear", {x, c.in("float[6]")})->type.str(), "uint8[2,6]");
  EXPECT_REFUSED(Code::inference_failed, c.op("QuantizeLinear", {x, c.in("float[5]")}));
  EXPECT_REFUSED(Code::axis_out_of_range, c.op("QuantizeLinear", {x, c.in("float[6]")}, {{"axis", 2}}));
  EXPECT_EQ(c.op("QuantizeLinear", {x, c.in("float[2,3]")}, {{"block_size", 2}})->type.str(), "uint8[2,6]");
  EXPECT_REFUSED(Code::inference_failed, c.op("QuantizeLinear", {x, c.in("float[2,2]")}, {{"block_size", 2}}));
  EXPECT_REFUSED(Code::inference_failed, c.op("QuantizeLinear", {x, c.in("float[2,2]")}, {{"block_size", -2}}));
}

TEST(QuantizeLinear, TakesAScalarAndAVectorOfOneForTheSame) {
  OpCase c;
  EXPECT_EQ(c.op("QuantizeLinear", {c.in("float[2,6]"), c.in("float"), c.in("int8[1]")})->type.str(), "int8[2,6]");
  EXPECT_REFUSED(Code::inference_failed, c.op("QuantizeLinear", {c.in("float[2,6]"), c.in("float"), c.in("int8[6]")}));
}

TEST(QuantizeLinear, GetsAZeroPointWhereTheAttributeIsNotKnown) {
  OpCase c;
  c.op("QuantizeLinear", {c.in("float[N,3]"), c.in("float")}, {{"output_dtype", DType::i8}});
  c.convert(13);
  EXPECT_EQ(c.nodes(), "QuantizeLinear");
  EXPECT_EQ(c.node("QuantizeLinear").input(2)->type.str(), "int8");
  OpCase axis;
  axis.op("QuantizeLinear", {axis.in("float[N,3]"), axis.in("float[3]")}, {{"output_dtype", DType::i8}});
  axis.convert(13);
  EXPECT_EQ(axis.nodes(), "Shape ConstantOfShape QuantizeLinear");
}

TEST(QuantizeLinear, CastsIntegersSinceTheScalesTypeCounts) {
  OpCase c(13);
  c.op("QuantizeLinear", {c.in("int32[N]"), c.in("float")});
  c.convert(21);
  EXPECT_EQ(c.nodes(), "Cast QuantizeLinear");
}

TEST(QuantizeLinear, DividesInThePrecisionAskedFor) {
  OpCase c;
  c.op("QuantizeLinear", {c.in("float16[N]"), c.in("float16"), c.in("uint8")}, {{"precision", DType::f32}});
  c.convert(21);
  EXPECT_EQ(c.nodes(), "Cast Cast QuantizeLinear");
  EXPECT_EQ(c.node("QuantizeLinear").input(0)->producer()->attributes.int_or("to", 0), 1);
}

TEST(QuantizeLinear, OfBlocksIsArithmeticInOlderOpsets) {
  OpCase c;
  c.op("QuantizeLinear", {c.in("float[N,6]"), c.in("float[N,2]"), c.in("int8[N,2]")}, {{"block_size", 3}});
  c.convert(13);
  EXPECT_THAT(c.nodes(), Not(HasSubstr("QuantizeLinear")));
  EXPECT_THAT(c.nodes(), HasSubstr("Clip Cast"));
  EXPECT_EQ(c.type(), "int8[N,6]");
}

TEST(DequantizeLinear, HasTheScalesType) {
  OpCase c;
  EXPECT_EQ(c.op("DequantizeLinear", {c.in("int8[N]"), c.in("float16")})->type.str(), "float16[N]");
  EXPECT_EQ(c.op("DequantizeLinear", {c.in("int8[N]"), c.in("float16")}, {{"output_dtype", DType::f32}})->type.str(),
            "float[N]");
}

TEST(DequantizeLinear, OfBlocksIsArithmeticInOlderOpsets) {
  OpCase c;
  c.op("DequantizeLinear", {c.in("int8[N,6]"), c.in("float[N,2]"), c.in("int8[N,2]")}, {{"block_size", 3}});
  c.convert(13);
  EXPECT_THAT(c.nodes(), Not(HasSubstr("DequantizeLinear")));
  EXPECT_THAT(c.nodes(), HasSubstr("Expand"));
  EXPECT_EQ(c.type(), "float[N,6]");
}

TEST(DequantizeLinear, OfConstantInt4WidensTheConstant) {
  OpCase c;
  const Tensor packed(DType::i4, {2, 2}, Bytes::copy(std::vector<std::byte>{std::byte{0xf1}, std::byte{0x87}}));
  c.op("DequantizeLinear", {c.constant(packed), c.in("float")});
  c.convert(13);
  EXPECT_THAT(c.nodes(), Not(HasSubstr("DequantizeLinear")));
  const Value* stored = c.model.graph->nodes().first->input(0);
  ASSERT_TRUE(stored->initializer);
  EXPECT_THAT(stored->initializer->to_ints(), testing::ElementsAre(1, -1, 7, -8));
}

TEST(DynamicQuantizeLinear, IsDecomposed) {
  OpCase c;
  c.ops("DynamicQuantizeLinear", {c.in("float[N,3]")}, {}, 3);
  EXPECT_EQ(c.type(0), "uint8[N,3]");
  EXPECT_EQ(c.type(1), "float");
  EXPECT_EQ(c.type(2), "uint8");
  ASSERT_TRUE(c.decompose());
  EXPECT_EQ(c.type(0), "uint8[N,3]");
  EXPECT_EQ(c.type(1), "float");
  EXPECT_EQ(c.type(2), "uint8");
}

TEST(IntegerProducts, HaveTheShapesOfTheFloatOnes) {
  OpCase c;
  EXPECT_EQ(c.op("MatMulInteger", {c.in("uint8[B,2,K]"), c.in("int8[K,3]")})->type.str(), "int32[B,2,3]");
  EXPECT_EQ(c.op("MatMulInteger", {c.in("uint8[K]"), c.in("int8[K]")})->type.str(), "int32");
  EXPECT_REFUSED(Code::inference_failed, c.op("MatMulInteger", {c.in("uint8[2,3]"), c.in("int8[2,3]")}));
  EXPECT_EQ(c.op("ConvInteger", {c.in("uint8[N,1,5]"), c.in("uint8[2,1,3]"), c.in("uint8")})->type.str(),
            "int32[N,2,3]");
  Value *f = c.in("float"), *z = c.in("int8");
  EXPECT_EQ(
      c.op("QLinearConv", {c.in("int8[N,1,5]"), f, z, c.in("int8[2,1,3]"), f, z, f, z, c.in("int32[2]")})->type.str(),
      "int8[N,2,3]");
  EXPECT_EQ(c.op("QLinearMatMul", {c.in("int8[2,K]"), f, z, c.in("int8[K,3]"), f, z, f, z})->type.str(), "int8[2,3]");
}

}  // namespace
}  // namespace ingot::test
