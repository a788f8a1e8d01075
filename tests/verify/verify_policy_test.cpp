// How far apart is too far: rounding and chance are allowed, errors are not, and what nothing decides is no answer.
#include "ingot/driver/adjust.h"
#include "ingot/onnx/text.h"
#include "tests/verify/verify_fixture.h"

namespace ingot {
namespace {

TEST_F(Verify, AChangeBelowTheFixedToleranceIsFound) {
  driver::save(network(), directory_ / "a.onnx");
  Model wrong = network();
  damage(wrong, "m", 4e-6f);
  driver::save(wrong, directory_ / "b.onnx");
  const Verdict v = verify("a.onnx", "b.onnx", {Runtime::ingot});
  ASSERT_EQ(v.answer, Verdict::Answer::different);
  EXPECT_LT(v.outputs[0].distance->value, 1e-5 * v.outputs[0].distance->scale);
  ASSERT_TRUE(v.first) << v.why_not_bisected;
  EXPECT_EQ(v.first->name, "y");
}

TEST_F(Verify, DoublesMadeOfFloatsHaveTheDigitsOfFloats) {
  // Another order of the same sum: float's rounding, seen through a double.
  const auto model = [](const std::string& sum, const std::string& type) {
    return onnx::parse_text("<ir_version: 10, opset_import: [\"\" : 21]> g (" + type + "[64] x) => (double[1] y) {" +
                            sum + " y = Cast<to = 11>(s) }");
  };
  const std::string forwards = "s = ReduceSum<keepdims = 1>(x)";
  const std::string halves = "a, b = Split<num_outputs = 2>(x) c = Add(b, a) s = ReduceSum(c)";
  driver::save(model(forwards, "float"), directory_ / "a.onnx");
  driver::save(model(halves, "float"), directory_ / "b.onnx");
  EXPECT_EQ(verify("a.onnx", "b.onnx", {Runtime::ingot}).answer, Verdict::Answer::same);
  // A double that is one all the way is held to its own digits.
  const auto scaled = [](const std::string& factor) {
    return onnx::parse_text(
        "<ir_version: 10, opset_import: [\"\" : 21]> g (double[4] x) => (double[4] y) <double k = {" + factor +
        "}> { y = Mul(x, k) }");
  };
  driver::save(scaled("1.5"), directory_ / "c.onnx");
  driver::save(scaled("1.500000003"), directory_ / "d.onnx");
  EXPECT_EQ(verify("c.onnx", "d.onnx", {Runtime::ingot}).answer, Verdict::Answer::different);
}

TEST_F(Verify, LargeNumbersHideNoErrorInSmallOnes) {
  // A column of scores beside coordinates: 1e-5 of these is more than a score.
  const auto detector = [](const std::string& inner, const std::string& weight) {
    return onnx::parse_text(R"(<ir_version: 10, opset_import: ["" : 21]>
g (float[8, 4] x) => (float[8, 8] y) <float far = {1000000}, float[4] w = {0.1, 0.2, )" +
                            weight + R"(, 0.4}> {
  a = Mul(x, far)
  )" + inner + R"( = Mul(x, w)
  y = Concat<axis = 1>(a, )" +
                            inner + R"()
})");
  };
  driver::save(detector("b", "0.3"), directory_ / "a.onnx");
  driver::save(detector("b", "0.31"), directory_ / "b.onnx");
  driver::save(detector("other", "0.31"), directory_ / "c.onnx");  // whose values inside nothing pairs
  for (const char* wrong : {"b.onnx", "c.onnx"}) {
    const Verdict v = verify("a.onnx", wrong, {Runtime::ingot});
    ASSERT_EQ(v.answer, Verdict::Answer::different) << wrong;
    EXPECT_FALSE(v.outputs[0].agrees);
    EXPECT_NE(v.outputs[0].figure.find("in [:,6]"), std::string::npos) << v.outputs[0].figure;
  }
  EXPECT_EQ(verify("a.onnx", "a.onnx", {Runtime::ingot}).answer, Verdict::Answer::same);
}

TEST_F(Verify, WhatIsEmptyOrNowhereFiniteIsNoProof) {
  const auto model = [](const std::string& body) {
    return onnx::parse_text(R"(<ir_version: 10, opset_import: ["" : 21]>
g (float[4] x) => ()" + body);
  };
  driver::save(model(R"(int64[1, K] y) <float most = {9}> { over = Greater(x, most) y = NonZero(over) })"),
               directory_ / "empty.onnx");
  driver::save(model(R"(float[4] y) <float least = {-9}> { low = Add(x, least) y = Log(low) })"),
               directory_ / "nan.onnx");
  driver::save(model(R"(float[0] y) <int64[1] none = {0}> { y = Slice(x, none, none) })"), directory_ / "meant.onnx");
  VerifyRequest request;
  request.bisects = false;
  for (const auto& [file, word] : {std::pair("empty.onnx", "is empty"), std::pair("nan.onnx", "is nowhere finite")}) {
    request.a = {directory_ / file, {Runtime::ingot}, {}};
    request.b = {directory_ / file, {Runtime::ingot}, {}};
    const Verdict v = verify::verify(request);
    EXPECT_EQ(v.answer, Verdict::Answer::unknown) << file;
    EXPECT_NE(v.why_unknown.find(word), std::string::npos) << v.why_unknown;
    EXPECT_FALSE(verify(file, file, {Runtime::ingot}).notes.empty());
  }
  EXPECT_EQ(verify("meant.onnx", "meant.onnx", {Runtime::ingot}).answer, Verdict::Answer::same);
}

TEST_F(Verify, TheLargestNumberStandsForInfinityInside) {
  // What TFLite's writer does to the numbers of a mask.
  const auto masked = [](const std::string& low) {
    return onnx::parse_text(R"(<ir_version: 10, opset_import: ["" : 21]>
g (float[1, 4] x) => (float[1, 4] y) <bool[1, 4] mask = {0, 1, 0, 0}, float low = {)" +
                            low + R"(}> {
  scores = Where(mask, low, x)
  y = Softmax(scores)
})");
  };
  driver::save(masked("-inf"), directory_ / "a.onnx");
  driver::save(masked("-3.4028235e+38"), directory_ / "b.onnx");
  const Verdict v = verify("a.onnx", "b.onnx", {Runtime::ingot});
  EXPECT_EQ(v.answer, Verdict::Answer::same) << (v.first ? v.first->figure : "");
}

TEST_F(Verify, ASaturatedSoftmaxHidesNothing) {
  const auto classifier = [](const std::string& last) {
    return onnx::parse_text(R"(<ir_version: 10, opset_import: ["" : 21]>
g (float[1, 2] x) => (float[1, 3] y)
<float[2, 3] w = {0.5, 0.25, )" +
                            last + R"(, 1, 2, 3}, float[3] offset = {100, 900, -400}> {
  m = MatMul(x, w)
  logits = Add(m, offset)
  y = Softmax(logits)
})");
  };
  driver::save(classifier("0.75"), directory_ / "a.onnx");
  driver::save(classifier("0.5"), directory_ / "b.onnx");
  const Verdict v = verify("a.onnx", "b.onnx", {Runtime::ingot});
  ASSERT_EQ(v.answer, Verdict::Answer::different);
  EXPECT_TRUE(v.outputs[0].agrees);
  ASSERT_TRUE(v.first);
  EXPECT_EQ(v.first->name, "m");
  const Verdict same = verify("a.onnx", "a.onnx", {Runtime::ingot});
  EXPECT_EQ(same.answer, Verdict::Answer::same);
  ASSERT_FALSE(same.notes.empty());
  EXPECT_NE(same.notes[0].find("saturated"), std::string::npos) << same.notes[0];
  EXPECT_NE(same.notes[0].find("'logits', which agrees"), std::string::npos) << same.notes[0];
}

TEST_F(Verify, WhatOneSeedDoesNotReachAnotherMay) {
  // The factor matters only above 0.3; the seed 1 draws 0.25.
  const auto gated = [](const std::string& factor) {
    return onnx::parse_text(R"(<ir_version: 10, opset_import: ["" : 21]>
g (float[1] x) => (float[1] y) <float[1] limit = {0.3}, float[1] f = {)" +
                            factor + R"(}> {
  over = Sub(x, limit)
  gate = Relu(over)
  y = Mul(gate, f)
})");
  };
  driver::save(gated("2"), directory_ / "a.onnx");
  driver::save(gated("3"), directory_ / "b.onnx");
  EXPECT_EQ(verify("a.onnx", "a.onnx", {Runtime::ingot}).runs, 3u);
  EXPECT_EQ(verify("a.onnx", "b.onnx", {Runtime::ingot}).answer, Verdict::Answer::different);
}

TEST_F(Verify, WhatAMaskHidesDiffersWithTheMask) {
  // The seed 1 draws 0.25415 first: one limit is below it, the other above.
  const auto masked = [](const std::string& limit) {
    return onnx::parse_text(R"(<ir_version: 10, opset_import: ["" : 21]>
g (float[4] x) => (float[1] y) <float limit = {)" +
                            limit + R"(}> {
  over = Greater(x, limit)
  mask = Cast<to = 1>(over)
  some = Mul(mask, x)
  y = ReduceMax(some)
})");
  };
  driver::save(masked("0.2541"), directory_ / "a.onnx");
  driver::save(masked("0.2542"), directory_ / "b.onnx");
  const Verdict v = verify("a.onnx", "b.onnx", {Runtime::ingot});
  EXPECT_EQ(v.answer, Verdict::Answer::same) << v.why_unknown;
  ASSERT_FALSE(v.notes.empty());
  EXPECT_NE(v.notes[0].find("'mask' differs"), std::string::npos) << v.notes[0];
  EXPECT_NE(v.notes[0].find("a comparison that rounding decides"), std::string::npos) << v.notes[0];
}

TEST_F(Verify, DamageIsFoundAtItsOperatorAtAnyOpset) {
  // Below IR version 10 what a node comes from is in one property of the model.
  if (!has(Runtime::tflite)) GTEST_SKIP() << skip_;
  write_tflite(network(), "m.tflite");
  for (const int opset : {13, 17, 21}) {
    Model wrong = driver::load(directory_ / "m.tflite").model;
    std::vector<Value*> kernels;
    for (Node& node : wrong.graph->nodes())
      if (node.is("Conv")) kernels.push_back(node.input(1));
    ASSERT_EQ(kernels.size(), 2u);
    damage(wrong, kernels[1]->name());
    driver::AdjustOptions options;
    options.opset = opset;
    driver::adjust(wrong, options);
    driver::save(wrong, directory_ / "m.onnx");
    const Verdict v = verify("m.tflite", "m.onnx", {Runtime::tflite});
    ASSERT_EQ(v.answer, Verdict::Answer::different) << opset << ": " << v.why_unknown;
    ASSERT_TRUE(v.first) << opset << ": " << v.why_not_bisected;
    EXPECT_EQ(v.first->name, "c2") << opset;
  }
}

TEST_F(Verify, IntegersOfOtherValuesDiffer) {
  const auto numbers_of = [](const std::string& factor) {
    return onnx::parse_text(R"(<ir_version: 10, opset_import: ["" : 21]>
g (float[100] x) => (int32[100] y) <float f = {)" +
                            factor + R"(}> {
  e = Exp(x)
  m = Mul(e, f)
  y = Cast<to = 6>(m)
})");
  };
  driver::save(numbers_of("-1023456.7"), directory_ / "a.onnx");
  driver::save(numbers_of("123456792"), directory_ / "b.onnx");
  const Verdict v = verify("a.onnx", "b.onnx", {Runtime::ingot});
  EXPECT_EQ(v.answer, Verdict::Answer::different);
  ASSERT_EQ(v.outputs.size(), 1u);
  EXPECT_FALSE(v.outputs[0].agrees) << v.outputs[0].figure << ", at most " << v.outputs[0].threshold;
}

TEST_F(Verify, ASigmoidThatRoundsToZeroAgrees) {
  if (!has(Runtime::ort)) GTEST_SKIP() << skip_;
  driver::save(onnx::parse_text(R"(<ir_version: 10, opset_import: ["" : 21]>
g (float[8] x) => (float[8] y) <float low = {-20.2}> {
  a = Add(x, low)
  y = Sigmoid(a)
})"),
               directory_ / "a.onnx");
  const Verdict v = verify("a.onnx", "a.onnx", {Runtime::ort});
  EXPECT_EQ(v.answer, Verdict::Answer::same) << v.outputs[0].figure << ", at most " << v.outputs[0].threshold;
}

TEST_F(Verify, ASigmoidInABranchIsOneToo) {
  if (!has(Runtime::ort)) GTEST_SKIP() << skip_;
  driver::save(onnx::parse_text(R"(<ir_version: 10, opset_import: ["" : 21]>
g (float[8] x) => (float[8] y) <float low = {-20.2}, bool yes = {1}> {
  a = Add(x, low)
  y = If (yes) <then_branch = t () => (float[8] p) { p = Sigmoid(a) }, else_branch = e () => (float[8] q) { q = Relu(a) }>
})"),
               directory_ / "a.onnx");
  const Verdict v = verify("a.onnx", "a.onnx", {Runtime::ort});
  EXPECT_EQ(v.answer, Verdict::Answer::same) << v.outputs[0].figure << ", at most " << v.outputs[0].threshold;
}

/// Rounds its inputs to a few steps, far coarser than the rest.
Model coarse(const std::string& before) {
  return onnx::parse_text(R"(<ir_version: 10, opset_import: ["" : 21]>
g (float[1, 64] x) => (float[1, 4] y)
<float s = {0.4}, int8 z = {0}, float f = {)" +
                          before + R"(}, float[64, 4] w = )" + numbers(256, 7) + R"(> {
  scaled = Mul(x, f)
  q = QuantizeLinear(scaled, s, z)
  d = DequantizeLinear(q, s, z)
  y = MatMul(d, w)
})");
}

TEST_F(Verify, QuantisedNetworksAreDecidedByManyInputs) {
  driver::save(coarse("1"), directory_ / "a.onnx");
  driver::save(coarse("1.02"), directory_ / "b.onnx");
  driver::save(coarse("-1"), directory_ / "c.onnx");
  VerifyRequest request;
  request.a = {directory_ / "a.onnx", {Runtime::ingot}, {}};
  request.b = {directory_ / "b.onnx", {Runtime::ingot}, {}};
  request.bisects = false;
  const Verdict near = verify::verify(request);
  EXPECT_EQ(near.answer, Verdict::Answer::same) << near.why_unknown;
  EXPECT_NE(near.outputs[0].figure.find("dB"), std::string::npos) << near.outputs[0].figure;
  request.b.file = directory_ / "c.onnx";
  EXPECT_EQ(verify::verify(request).answer, Verdict::Answer::different);
}

TEST_F(Verify, StepsOfQuantisedLayersAreTold) {
  driver::save(coarse("1"), directory_ / "a.onnx");
  const Verdict v = verify("a.onnx", "a.onnx", {Runtime::ingot});
  ASSERT_EQ(v.layers.size(), 1u);
  EXPECT_EQ(v.layers[0].name, "q");
  EXPECT_EQ(v.layers[0].op, "QuantizeLinear");
}

TEST_F(Verify, IndicesAreDrawnWithinTheirTables) {
  // A table of four rows, a mask, and how long the sequence is.
  driver::save(onnx::parse_text(R"(<ir_version: 10, opset_import: ["" : 21]>
g (int64[1, 6] ids, int64[1, 6] attention_mask, int64[6] lengths) => (float[1, 6, 2] y)
<float[4, 2] table = {1, 2, 3, 4, 5, 6, 7, 8}, int64[1] last = {2}> {
  more = Unsqueeze(attention_mask, last)
  m = Cast<to = 1>(more)
  e = Gather(table, ids)
  r = ReverseSequence<batch_axis = 1, time_axis = 0>(e, lengths)
  y = Mul(r, m)
})"),
               directory_ / "a.onnx");
  const Verdict v = verify("a.onnx", "a.onnx", {Runtime::ingot});
  EXPECT_EQ(v.answer, Verdict::Answer::same) << v.why_unknown;

  // Tuples of indices, each within its own axis; texts.
  driver::save(onnx::parse_text(R"(<ir_version: 10, opset_import: ["" : 21]>
g (int64[5, 2] at, int64[3, 1] to, string[3] s) => (float[5] y, float[4, 2] z, string[3] t)
<float[4, 2] table = {1, 2, 3, 4, 5, 6, 7, 8}, float[3, 2] rows = {1, 2, 3, 4, 5, 6}> {
  y = GatherND(table, at)
  z = ScatterND(table, to, rows)
  t = Identity(s)
})"),
               directory_ / "b.onnx");
  const Verdict tuples = verify("b.onnx", "b.onnx", {Runtime::ingot});
  EXPECT_EQ(tuples.answer, Verdict::Answer::same) << tuples.why_unknown;
}

TEST_F(Verify, RoundingNoiseIsAllowedAndErrorsBeyondItAreNot) {
  // The sum of one large and many small numbers depends on the order; a weight that is wrong by more does not hide.
  const char* text = R"(<ir_version: 10, opset_import: ["" : 21]>
g (float[4] x) => (float[4] y) <float[4] big = {300000, 300000, 300000, 300000}> {
  a = Add(x, big)
  y = Sub(a, big)
})";
  driver::save(onnx::parse_text(text), directory_ / "a.onnx");
  const char* exact = R"(<ir_version: 10, opset_import: ["" : 21]>
g (float[4] x) => (float[4] y) { y = Identity(x) })";
  driver::save(onnx::parse_text(exact), directory_ / "b.onnx");
  const Verdict same = verify("b.onnx", "a.onnx", {Runtime::ingot});
  ASSERT_EQ(same.answer, Verdict::Answer::same) << same.outputs[0].figure;
  EXPECT_NE(same.outputs[0].source.find("rounding noise"), std::string::npos) << same.outputs[0].source;
  const char* wrong = R"(<ir_version: 10, opset_import: ["" : 21]>
g (float[4] x) => (float[4] y) <float ten = {10}> { y = Mul(x, ten) })";
  driver::save(onnx::parse_text(wrong), directory_ / "c.onnx");
  EXPECT_EQ(verify("c.onnx", "a.onnx", {Runtime::ingot}).answer, Verdict::Answer::different);
}

TEST_F(Verify, ResultsThatRoundingDecidesAreNoAnswer) {
  driver::save(onnx::parse_text(R"(<ir_version: 10, opset_import: ["" : 21]>
g (float[4] x) => (float[4] y) <float big = {30000000}> {
  a = Add(x, big)
  y = Sub(a, big)
})"),
               directory_ / "a.onnx");
  driver::save(onnx::parse_text(R"(<ir_version: 10, opset_import: ["" : 21]>
g (float[4] x) => (float[4] y) { y = Identity(x) })"),
               directory_ / "b.onnx");
  const Verdict v = verify("b.onnx", "a.onnx", {Runtime::ingot});
  EXPECT_EQ(v.answer, Verdict::Answer::unknown);
  EXPECT_NE(v.why_unknown.find("rounding alone"), std::string::npos) << v.why_unknown;
}

TEST_F(Verify, RandomNumbersAreNoDifference) {
  // One output draws, beside a nested graph; the other does not, and is wrong in `b`.
  const auto text = [](const std::string& factor, const std::string& seed) {
    return R"(<ir_version: 10, opset_import: ["" : 21]>
g (float[4] x, bool c) => (float[4] y, float[4] z) <float f = {)" +
           factor + R"(}> {
  r = If (c) <then_branch = t () => (float[4] u) { u = RandomUniformLike<seed = )" +
           seed + R"(>(x) },
              else_branch = e () => (float[4] v) { v = RandomNormalLike<seed = )" +
           seed + R"(>(x) }>
  y = Add(r, x)
  z = Mul(x, f)
})";
  };
  driver::save(onnx::parse_text(text("2", "1.0")), directory_ / "a.onnx");
  driver::save(onnx::parse_text(text("3", "1.0")), directory_ / "b.onnx");
  driver::save(onnx::parse_text(text("2", "2.0")), directory_ / "c.onnx");
  const Verdict v = verify("a.onnx", "c.onnx", {Runtime::ingot});
  EXPECT_EQ(v.answer, Verdict::Answer::unknown);
  EXPECT_NE(v.why_unknown.find("random numbers"), std::string::npos) << v.why_unknown;
  ASSERT_EQ(v.outputs.size(), 2u);
  EXPECT_FALSE(v.outputs[0].is_decided);
  EXPECT_TRUE(v.outputs[1].is_decided);
  EXPECT_EQ(verify("a.onnx", "b.onnx", {Runtime::ingot}).answer, Verdict::Answer::different);
}

/// The best four of twelve: scores and what they belong to.
constexpr const char* kBest = R"(<ir_version: 10, opset_import: ["" : 21]>
g (float[1, 12] x) => (float[1, 4, 2] rows, int64[1, 4] which)
<float[12] scores = {0.1, 0.9, 0.2, SWAP, 0.3, 0.7, 0, 0, 0, 0, 0, 0}, int64[1] k = {4}, int64[1] last = {2}> {
  nothing = Sub(x, x)
  s = Add(nothing, scores)
  best, which = TopK(s, k)
  numbers = Cast<to = 1>(which)
  b = Unsqueeze(best, last)
  n = Unsqueeze(numbers, last)
  rows = Concat<axis = 2>(b, n)
})";

TEST_F(Verify, RowsThatRoundingPutsInAnotherOrderAreCompared) {
  const auto best = [](const std::string& first, const std::string& second) {
    std::string text = kBest;
    text.replace(text.find("0.9"), 3, first);
    text.replace(text.find("SWAP"), 4, second);
    return onnx::parse_text(text);
  };
  driver::save(best("0.9", "0.8999999"), directory_ / "a.onnx");
  driver::save(best("0.8999999", "0.9"), directory_ / "b.onnx");
  driver::save(best("0.9", "0.8"), directory_ / "c.onnx");
  driver::save(best("0.8", "0.9"), directory_ / "d.onnx");
  const Verdict tied = verify("a.onnx", "b.onnx", {Runtime::ingot});
  EXPECT_EQ(tied.answer, Verdict::Answer::same) << tied.why_unknown;
  ASSERT_EQ(tied.notes.size(), 1u);
  EXPECT_NE(tied.notes[0].find("2 of 4 rows change places"), std::string::npos) << tied.notes[0];
  EXPECT_EQ(verify("c.onnx", "d.onnx", {Runtime::ingot}).answer, Verdict::Answer::different);
  EXPECT_EQ(verify("a.onnx", "d.onnx", {Runtime::ingot}).answer, Verdict::Answer::different);
}

TEST_F(Verify, ToleranceThatIsAskedForReplacesThePolicy) {
  driver::save(network(), directory_ / "a.onnx");
  Model wrong = network();
  damage(wrong, "m");
  driver::save(wrong, directory_ / "b.onnx");
  VerifyRequest request;
  request.a = {directory_ / "a.onnx", {Runtime::ingot}, {}};
  request.b = {directory_ / "b.onnx", {Runtime::ingot}, {}};
  request.atol = 10;
  EXPECT_EQ(verify::verify(request).answer, Verdict::Answer::same);
  request.atol = 1e-6;
  EXPECT_EQ(verify::verify(request).answer, Verdict::Answer::different);
}

}  // namespace
}  // namespace ingot
