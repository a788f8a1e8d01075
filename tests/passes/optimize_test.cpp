// What the optimizer takes out, and what it must leave alone.
#include "ingot/passes/optimize/optimize.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ingot/onnx/text.h"

namespace ingot::passes {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::string> optimized(const std::string& graph, OptimizeOptions options = {}) {
  Model model = onnx::parse_text("<ir_version: 10, opset_import: [\"\" : 24]>\n" + graph, ".", {});
  optimize(model, options);
  std::vector<std::string> operators;
  for (const Node& n : model.graph->nodes()) operators.push_back(n.op);
  return operators;
}

const OptimizeOptions kAll{.level = OptimizeLevel::all};

TEST(Optimize, TakesOutWhatDoesNothing) {
  EXPECT_THAT(
      optimized("g (float[2,3] x) => (float[2,3] y) <float one = {1}, float zero = {0}> "
                "{ a = Mul(x, one) b = Add(a, zero) c = Identity(b) d = Transpose<perm=[0,1]>(c) y = Relu(d) }"),
      ElementsAre("Relu"));
}

TEST(Optimize, KeepsWhatBroadcasts) {
  EXPECT_THAT(optimized("g (float[3] x) => (float[2,3] y) <float[2,3] one = {1,1,1,1,1,1}> { y = Mul(x, one) }"),
              ElementsAre("Mul"));
}

TEST(Optimize, KeepsProductsWithZeroUnlessNanMayBeIgnored) {
  const char* graph = "g (float[2] x) => (float[2] y) <float zero = {0}> { z = Mul(x, zero) y = Add(x, z) }";
  EXPECT_THAT(optimized(graph), ElementsAre("Mul", "Add"));
  EXPECT_THAT(optimized(graph, {.ignores_nan = true}), ElementsAre("Identity"));
}

TEST(Optimize, JoinsViewsAndTransposes) {
  EXPECT_THAT(optimized("g (float[2,3,4] x) => (float[4,2,3] y) <int64[2] s = {6, 4}, int64[3] t = {2, 3, 4}> "
                        "{ a = Reshape(x, s) b = Reshape(a, t) c = Transpose<perm=[1,0,2]>(b) "
                        "y = Transpose<perm=[2,1,0]>(c) }"),
              ElementsAre("Transpose"));
}

TEST(Optimize, JoinsSlicesWhereTheyMeanOne) {
  const std::string whole =
      "<int64[1] a = {-6}, int64[1] b = {100}, int64[1] c = {1}, int64[1] d = {-1}, int64[1] z = {0}, "
      "int64[1] two = {2}> ";
  EXPECT_THAT(
      optimized("g (float[8,4] x) => (float[4,4] y) " + whole + "{ t = Slice(x, a, b, z) y = Slice(t, c, d, z) }"),
      ElementsAre("Slice"));
  EXPECT_THAT(
      optimized("g (float[N,4] x) => (float[M,2] y) " + whole + "{ t = Slice(x, a, b, z) y = Slice(t, c, d, c) }"),
      ElementsAre("Slice"))
      << "other axes";
  EXPECT_THAT(
      optimized("g (float[N,4] x) => (float[M,4] y) " + whole + "{ t = Slice(x, a, b, z) y = Slice(t, c, d, z) }"),
      ElementsAre("Slice", "Slice"))
      << "of sizes that are not known";
  EXPECT_THAT(
      optimized("g (float[8,4] x) => (float[3,4] y) " + whole + "{ t = Slice(x, a, b, z, two) y = Slice(t, z, b, z) }"),
      ElementsAre("Slice"))
      << "all of it";
  EXPECT_THAT(
      optimized("g (float[8,4] x) => (float[2,4] y) " + whole + "{ t = Slice(x, a, b, z, two) y = Slice(t, c, b, z) }"),
      ElementsAre("Slice", "Slice"))
      << "every second row";
}

TEST(Optimize, KeepsAxesThatArePutBack) {
  EXPECT_THAT(optimized("g (float[2,3] x) => (float[2,1] y) <int64[1] o = {1}, int64[1] last = {-1}> "
                        "{ a = ReduceSum<keepdims=0>(x, o) y = Unsqueeze(a, last) }"),
              ElementsAre("ReduceSum"));
  EXPECT_THAT(optimized("g (float[2,3] x) => (float[3,1] y) <int64[1] last = {-1}, int64[1] z = {0}> "
                        "{ a = ReduceSum<keepdims=0>(x, z) y = Unsqueeze(a, last) }"),
              ElementsAre("ReduceSum", "Unsqueeze"));
}

TEST(Optimize, ComputesOnceWhatIsThereTwice) {
  EXPECT_THAT(optimized("g (float[2] x) => (float[2] y) { a = Exp(x) b = Exp(x) y = Add(a, b) }"),
              ElementsAre("Exp", "Add"));
}

TEST(Optimize, KeepsRandomDrawsApart) {
  EXPECT_THAT(
      optimized("g (float[2] x) => (float[2] y) { a = RandomNormalLike(x) b = RandomNormalLike(x) y = Add(a, b) }"),
      ElementsAre("RandomNormalLike", "RandomNormalLike", "Add"));
}

TEST(Optimize, JoinsCastsThatLoseNothingOnly) {
  EXPECT_THAT(optimized("g (int32[2] x) => (float[2] y) { a = Cast<to=7>(x) y = Cast<to=1>(a) }"), ElementsAre("Cast"));
  EXPECT_THAT(optimized("g (float[2] x) => (float[2] y) { a = Cast<to=6>(x) y = Cast<to=1>(a) }"),
              ElementsAre("Cast", "Cast"));
}

TEST(Optimize, KeepsCastsBeforeTexts) {
  // True is 1, and a half has fewer digits than the same number as a float.
  EXPECT_THAT(optimized("g (bool[2] x) => (string[2] y) { a = Cast<to=6>(x) y = Cast<to=8>(a) }"),
              ElementsAre("Cast", "Cast"));
  EXPECT_THAT(optimized("g (float16[2] x) => (string[2] y) { a = Cast<to=1>(x) y = Cast<to=8>(a) }"),
              ElementsAre("Cast", "Cast"));
}

TEST(Optimize, TakesOutDropoutThatDropsNothing) {
  const std::string weights = "<float zero = {0}, float half = {0.5}, bool yes = {1}, bool no = {0}> ";
  EXPECT_THAT(optimized("g (float[2] x) => (float[2] y) " + weights + "{ a = Dropout(x, zero, yes) y = Relu(a) }"),
              ElementsAre("Relu"));
  EXPECT_THAT(optimized("g (float[2] x) => (float[2] y) " + weights + "{ a = Dropout(x, half, no) y = Relu(a) }"),
              ElementsAre("Relu"));
  EXPECT_THAT(optimized("g (float[2] x) => (float[2] y) " + weights + "{ a = Dropout(x, half, yes) y = Relu(a) }"),
              ElementsAre("Dropout", "Relu"));
  EXPECT_THAT(optimized("g (float[2] x) => (float[2] y, bool[2] m) " + weights +
                        "{ a, m = Dropout(x, zero, yes) y = Relu(a) }"),
              ElementsAre("Dropout", "Relu"));
}

TEST(Optimize, FindsGeluInBothForms) {
  EXPECT_THAT(optimized("g (float[2] x) => (float[2] y) <float r = {1.4142135}, float one = {1}, float half = {0.5}> "
                        "{ a = Div(x, r) b = Erf(a) c = Add(b, one) d = Mul(x, c) y = Mul(d, half) }",
                        kAll),
              ElementsAre("Gelu"));
  EXPECT_THAT(
      optimized("g (float[2] x) => (float[2] y) <float three = {3}, float k = {0.044715}, float s = {0.7978846}, float "
                "one = {1}, float half = {0.5}> { a = Pow(x, three) b = Mul(a, k) c = Add(x, b) d = Mul(c, s) e = "
                "Tanh(d) f = Add(e, one) h = Mul(x, half) y = Mul(h, f) }",
                kAll),
      ElementsAre("Gelu"));
}

TEST(Optimize, FindsNormalisationOfRows) {
  EXPECT_THAT(
      optimized(
          "g (float[2,4] x) => (float[2,4] y) <int64[1] last = {-1}, float two = {2}, float e = {0.00001}, float[4] "
          "w = {1,2,3,4}, float[4] b = {5,6,7,8}> { m = ReduceMean(x, last) d = Sub(x, m) q = Pow(d, two) v = "
          "ReduceMean(q, last) s = Add(v, e) r = Sqrt(s) n = Div(d, r) p = Mul(n, w) y = Add(p, b) }",
          kAll),
      ElementsAre("LayerNormalization"));
}

TEST(Optimize, FindsAttention) {
  EXPECT_THAT(
      optimized("g (float[1,2,3,4] q, float[1,2,5,4] k, float[1,2,5,4] v, float[1,1,3,5] m) => (float[1,2,3,4] y) "
                "<float s = {0.5}> { t = Transpose<perm=[0,1,3,2]>(k) a = MatMul(q, t) b = Mul(a, s) c = Add(b, m) "
                "d = Softmax<axis=-1>(c) y = MatMul(d, v) }",
                kAll),
      ElementsAre("Attention"));
}

TEST(Optimize, GivesAttentionARowOfTheMaskForEachQuery) {
  EXPECT_THAT(
      optimized("g (float[2,2,3,4] q, float[2,2,5,4] k, float[2,2,5,4] v, float[2,1,1,5] m) => (float[2,2,3,4] y) "
                "{ t = Transpose<perm=[0,1,3,2]>(k) a = MatMul(q, t) c = Add(a, m) d = Softmax<axis=-1>(c) "
                "y = MatMul(d, v) }",
                kAll),
      ElementsAre("Expand", "Attention"));
}

TEST(Optimize, LeavesAttentionWhereTheRankOfKeysIsNotKnown) {
  EXPECT_THAT(optimized("g (float[1,2,3,4] q, float[10] flat, int64[n] s, float[1,2,5,4] v) => (float[1,2,3,4] y) "
                        "{ k = Reshape(flat, s) t = Transpose<perm=[0,1,3,2]>(k) a = MatMul(q, t) "
                        "d = Softmax<axis=-1>(a) y = MatMul(d, v) }",
                        kAll),
              testing::Not(testing::Contains("Attention")));
}

TEST(Optimize, UsesNoOperatorThatTheSetLacks) {
  EXPECT_THAT(optimized("g (float[2] x) => (float[2] y) <float r = {1.4142135}, float one = {1}, float half = {0.5}> "
                        "{ a = Div(x, r) b = Erf(a) c = Add(b, one) d = Mul(x, c) y = Mul(d, half) }",
                        {.level = OptimizeLevel::all, .opset = 17}),
              testing::Not(testing::Contains("Gelu")));
}

TEST(Optimize, KeepsNamesOfInputsAndOutputs) {
  Model model = onnx::parse_text(
      "<ir_version: 10, opset_import: [\"\" : 21]> g (float[2] x) => (float[2] y, float[2] z) "
      "{ a = Identity(x) y = Identity(a) z = Identity(y) }",
      ".", {});
  optimize(model);
  EXPECT_EQ(model.graph->output(0)->name(), "y");
  EXPECT_EQ(model.graph->output(1)->name(), "z");
  EXPECT_EQ(model.graph->inputs()[0]->name(), "x");
}

}  // namespace
}  // namespace ingot::passes
