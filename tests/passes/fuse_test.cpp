// Which operators of ONNX Runtime are made, and what is left as it is.
#include "ingot/passes/fuse/fuse.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ingot/onnx/text.h"
#include "ingot/passes/canonicalize.h"
#include "ingot/passes/optimize/optimize.h"

namespace ingot::passes {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::Not;

std::vector<std::string> fused(const std::string& graph) {
  Model model = onnx::parse_text("<ir_version: 10, opset_import: [\"\" : 23]>\n" + graph, ".", {});
  const OptimizeOptions options{.level = OptimizeLevel::all, .makes_attention = false, .lays_out = false};
  optimize(model, options);
  fuse_for_onnx_runtime(model);
  optimize(model, options);
  std::vector<std::string> operators;
  for (const Node& n : model.graph->nodes()) operators.push_back(n.op);
  return operators;
}

TEST(Fuse, TakesTheBiasIntoGelu) {
  EXPECT_THAT(fused("g (float[2,3] x) => (float[2,3] y) <float[3] b = {1,2,3}> { a = Add(x, b) y = Gelu(a) }"),
              ElementsAre("BiasGelu"));
  EXPECT_THAT(fused("g (float[2,3] x) => (float[2,3] y) <float[3] b = {1,2,3}> "
                    "{ a = Add(b, x) y = Gelu<approximate=\"tanh\">(a) }"),
              ElementsAre("FastGelu"));
  EXPECT_THAT(fused("g (float[3] x, float[2,3] b) => (float[2,3] y) { a = Add(x, b) y = Gelu(a) }"),
              ElementsAre("Add", "Gelu"));
}

TEST(Fuse, HandsOnTheSumThatIsNormalised) {
  const std::string weights = "<float[4] w = {1,2,3,4}, float[4] c = {5,6,7,8}, float[4] b = {1,1,1,2}> ";
  EXPECT_THAT(fused("g (float[1,2,4] x, float[1,2,4] s) => (float[1,2,4] y) " + weights +
                    "{ p = Add(x, b) a = Add(p, s) y = LayerNormalization<axis=-1>(a, w, c) }"),
              ElementsAre("SkipLayerNormalization"));
  EXPECT_THAT(fused("g (float[1,2,4] x, float[1,2,4] s) => (float[1,2,4] y, float[1,2,4] z) " + weights +
                    "{ a = Add(x, s) y = LayerNormalization<axis=-1>(a, w, c) z = Neg(a) }"),
              ElementsAre("SkipLayerNormalization", "Neg"));
  EXPECT_THAT(fused("g (float[1,2,4] x, float[1,2,4] s) => (float[1,2,4] y) " + weights +
                    "{ a = Add(x, s) y = RMSNormalization<axis=-1>(a, w) }"),
              ElementsAre("SkipSimplifiedLayerNormalization"));
}

TEST(Fuse, LeavesASumThatWidensTheRows) {
  EXPECT_THAT(fused("g (float[1,1,4] x, float[1,2,1] s) => (float[1,2,4] y) <float[4] w = {1,2,3,4}> "
                    "{ a = Add(x, s) y = LayerNormalization<axis=-1>(a, w) }"),
              Not(Contains("SkipLayerNormalization")));
}

TEST(Fuse, MakesAttentionOfOneInputOrOfHeads) {
  const std::string after =
      "s = MatMul(q, k) d = Div(s, r) e = Add(d, m) f = Softmax<axis=-1>(e) o = MatMul(f, v) "
      "p = Transpose<perm=[0,2,1,3]>(o) y = Reshape(p, whole) }";
  const std::string heads =
      "g (float[B,3,4] x, float[B,1,1,3] m) => (float[B,3,4] y) "
      "<float r = {1.4142135}, int64[4] cut = {0, 0, 2, 2}, int64[3] whole = {0, 0, 4}";
  EXPECT_THAT(
      fused(heads +
            ", float[4,4] w = {1,2,3,4,5,6,7,8,9,1,2,3,4,5,6,7}> { a = MatMul(x, w) b = Reshape(a, cut) "
            "q = Transpose<perm=[0,2,1,3]>(b) k = Transpose<perm=[0,2,3,1]>(b) v = Transpose<perm=[0,2,1,3]>(b) " +
            after),
      testing::AllOf(Contains("Attention"), Not(Contains("Softmax")), Not(Contains("MatMul"))));
  EXPECT_THAT(fused(heads +
                    "> { b = Reshape(x, cut) q = Transpose<perm=[0,2,1,3]>(b) k = Transpose<perm=[0,2,3,1]>(b) "
                    "v = Transpose<perm=[0,2,1,3]>(b) " +
                    after),
              testing::AllOf(Contains("MultiHeadAttention"), Not(Contains("Softmax")), Not(Contains("Transpose"))));
}

/// GPT-2 asks the scores themselves how large the triangle must be.
TEST(Fuse, MakesAttentionOfScoresWhoseShapeIsRead) {
  EXPECT_THAT(fused("g (float[B,2,S,4] q, float[B,2,4,S] k, float[B,2,S,4] v, bool[1,1,1,9] t) => (float[B,2,S,4] y) "
                    "<float r = {2}, float low = {-10000}, int64[1] a = {3}, int64[1] b = {4}, int64[1] zero = {0}> "
                    "{ s = MatMul(q, k) d = Div(s, r) n = Shape(d) l = Slice(n, a, b) c = Slice(t, zero, l, a) "
                    "w = Where(c, d, low) p = Softmax<axis=-1>(w) y = MatMul(p, v) }"),
              testing::AllOf(Contains("MultiHeadAttention"), Not(Contains("Softmax")), Not(Contains("MatMul"))));
}

TEST(Fuse, JoinsTranspositionsAndNumbersWithProducts) {
  EXPECT_THAT(fused("g (float[2,3,4] x, float[2,5,4] z) => (float[2,3,5] y) <float h = {0.5}> "
                    "{ t = Transpose<perm=[0,2,1]>(z) p = MatMul(x, t) y = Mul(p, h) }"),
              ElementsAre("FusedMatMul"));
}

TEST(Fuse, JoinsWhatRoundsAndScalesWithTheProductOfIntegers) {
  EXPECT_THAT(fused("g (float[2,2] x) => (float[2,2] y) <int8[2,2] w = {1,2,3,4}, float s = {0.5}, int8 z = {0}, "
                    "float[2] b = {1,2}> { q, qs, qz = DynamicQuantizeLinear(x) p = MatMulInteger(q, w, qz, z) "
                    "f = Cast<to=1>(p) t = Mul(qs, s) m = Mul(f, t) y = Add(m, b) }"),
              ElementsAre("DynamicQuantizeMatMul"));
}

std::string rounded_part(const std::string& name, const std::string& scale) {
  return name + "i = MatMulInteger(q, " + name + "w, qz) " + name + "f = Cast<to=1>(" + name + "i) " + name +
         "t = Mul(qs, " + scale + ") " + name + "m = Mul(" + name + "f, " + name + "t) " + name + "b = Add(" + name +
         "m, b) " + name + "r = Reshape(" + name + "b, cut) ";
}

std::string rounded_attention(const std::string& scores) {
  return "g (float[2,3,4] x, float[2,1,1,3] m) => (float[2,3,4] y) <int8[4,4] qw = {1,2,3,4,5,6,7,8,9,1,2,3,4,5,6,7}, "
         "int8[4,4] kw = {2,2,3,4,5,6,7,8,9,1,2,3,4,5,6,7}, int8[4,4] vw = {3,2,3,4,5,6,7,8,9,1,2,3,4,5,6,7}, "
         "float s = {0.5}, float[4] each = {1,2,3,4}, float[4] b = {1,2,3,4}, float r = {1.4142135}, "
         "int64[4] cut = {0, 0, 2, 2}, int64[3] whole = {0, 0, 4}> { q, qs, qz = DynamicQuantizeLinear(x) " +
         rounded_part("q", "s") + rounded_part("k", "s") + rounded_part("v", "each") +
         "qh = Transpose<perm=[0,2,1,3]>(qr) kh = Transpose<perm=[0,2,3,1]>(kr) vh = Transpose<perm=[0,2,1,3]>(vr) "
         "n = MatMul(qh, kh) d = Div(n, r) " +
         scores + "o = MatMul(p, vh) t = Transpose<perm=[0,2,1,3]>(o) y = Reshape(t, whole) }";
}

TEST(Fuse, MakesQuantizedAttentionOfThreeProductsOfIntegers) {
  EXPECT_THAT(fused(rounded_attention("p = Softmax<axis=-1>(d) ")), ElementsAre("DynamicQuantizeLinear", "QAttention"));
  EXPECT_THAT(fused(rounded_attention("e = Add(d, m) p = Softmax<axis=-1>(e) ")), Not(Contains("QAttention")))
      << "it has no place for what is added to the scores";
}

TEST(Fuse, MakesProductsOfFewBitsOfWeightsInBlocks) {
  const std::string zeros = "{0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0}";
  const std::string by_column = "g (float[2,16] x) => (float[2,2] y) <int4[16,2] w = " + zeros +
                                ", float[1,2] s = {1,2}> { d = DequantizeLinear<axis=0, block_size=16>(w, s) ";
  EXPECT_THAT(fused(by_column + "y = MatMul(x, d) }"), ElementsAre("MatMulNBits"));
  EXPECT_THAT(fused("g (float[2,16] x) => (float[2,2] y) <uint8[2,16] w = " + zeros +
                    ", float[2,1] s = {1,2}, uint8[2,1] z = {3,4}, float[2] b = {1,2}> "
                    "{ d = DequantizeLinear<axis=1, block_size=16>(w, s, z) y = Gemm<transB=1>(x, d, b) }"),
              ElementsAre("MatMulNBits"));
  EXPECT_THAT(fused("g (float[2,2] x) => (float[2,16] y) <int4[2,16] w = " + zeros +
                    ", float[2,1] s = {1,2}> { d = DequantizeLinear<axis=1, block_size=16>(w, s) y = MatMul(x, d) }"),
              Not(Contains("MatMulNBits")))
      << "blocks of outputs";
}

TEST(Fuse, JoinsActivationsWithConvolutionsThatNothingElseReads) {
  const std::string conv = "<float[1,1,1,1] w = {2}> { c = Conv(x, w) ";
  EXPECT_THAT(
      fused("g (float[1,1,3,3] x, float[1,1,3,3] z) => (float[1,1,3,3] y) " + conv + "s = Add(z, c) y = Relu(s) }"),
      ElementsAre("FusedConv"));
  EXPECT_THAT(
      fused("g (float[1,1,3,3] x) => (float[1,1,3,3] y, float[1,1,3,3] n) " + conv + "y = Relu(c) n = Neg(c) }"),
      ElementsAre("Conv", "Relu", "Neg"));
}

}  // namespace
}  // namespace ingot::passes
