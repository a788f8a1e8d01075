// Floats to integers: what is rounded, by which scales, and what is left alone.
#include "ingot/passes/quantize/quantize.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "ingot/base/error.h"
#include "ingot/engine/session.h"
#include "ingot/onnx/text.h"
#include "ingot/passes/canonicalize.h"
#include "ingot/passes/check/check.h"
#include "ingot/passes/quantize/scales.h"
#include "tests/support/refusal.h"

namespace ingot::passes {
namespace {

using quantize_parts::quantized;
using quantize_parts::scale_of;

Model parse(const std::string& graph) {
  Model model = onnx::parse_text("<ir_version: 10, opset_import: [\"\" : 21]>\n" + graph, ".", {});
  canonicalize(model);
  return model;
}

std::vector<std::string> operators(const Model& model) {
  std::vector<std::string> names;
  for (const Node& node : model.graph->nodes()) names.push_back(node.op);
  return names;
}

bool is_valid(const Model& model) {
  for (const Problem& problem : check(model))
    if (problem.severity == Severity::error) return false;
  return true;
}

std::vector<float> run(const Model& model, const Tensor& x) {
  const engine::Session session(model, {});
  return session.run({{"x", Array::from(x)}})[0].value.array()->to_tensor().to_vector<float>();
}

const char* kConv =
    "g (float[1,1,3,3] x) => (float[1,2,3,3] y) "
    "<float[2,1,1,1] w = {0.5, -2}, float[2] b = {0.25, 1}> { h = Conv(x, w, b) y = Relu(h) }";

const Tensor kInput = Tensor::of<float>({1, 1, 3, 3}, {-1, -0.5, 0, 0.25, 0.5, 0.75, 1, 0.1, -0.9});

TEST(Quantize, ScalesHoldZeroExactly) {
  for (const ValueRange range : {ValueRange{-1, 3}, {0.5, 2}, {-4, -1}, {-0.001, 1000}}) {
    const auto s = scale_of(range, DType::i8, false);
    EXPECT_GE(s.zero_point, -128);
    EXPECT_LE(s.zero_point, 127);
    EXPECT_NEAR(static_cast<double>(s.scale) * static_cast<double>(127 - s.zero_point), std::max(range.most, 0.0),
                static_cast<double>(s.scale));
    EXPECT_NEAR(static_cast<double>(s.scale) * static_cast<double>(-128 - s.zero_point), std::min(range.least, 0.0),
                static_cast<double>(s.scale));
  }
  EXPECT_EQ(scale_of({0, 0}, DType::u8, false).scale, 1.0f);
  EXPECT_EQ(scale_of({-1, 1}, DType::u8, true).zero_point, 128);
}

TEST(Quantize, EachChannelAndBlockHasItsScale) {
  const Tensor w = Tensor::of<float>({2, 4}, {1, -1, 0.5, 0.27, 100, -50, 25, 127});
  const auto rows = quantized(w, {.axis = 0});
  EXPECT_EQ(rows.values.to_ints(), (std::vector<std::int64_t>{127, -127, 64, 34, 100, -50, 25, 127}));
  EXPECT_EQ(rows.scales.size(), 2u);
  const auto blocks = quantized(w, {.dtype = DType::i4, .axis = 0, .block = 2, .block_axis = 1});
  EXPECT_EQ(blocks.scales.size(), 4u);
  EXPECT_EQ(blocks.values.to_ints(), (std::vector<std::int64_t>{7, -7, 7, 4, 7, -4, 1, 7}));
  const auto columns = quantized(w, {.axis = 1, .block = 1, .block_axis = 0});
  EXPECT_EQ(columns.scales.size(), 8u);
  EXPECT_GT(columns.noise, 60);
}

TEST(Quantize, NothingIsRoundedBetweenAProductAndItsActivation) {
  Model model = parse(kConv);
  EXPECT_THAT(values_to_watch(model, {}), testing::ElementsAre("x", "y"));
  const auto expected = run(model, kInput);
  const QuantizeReport report = quantize(model, {}, {{"x", {-1, 1}}, {"y", {0, 3}}});
  EXPECT_EQ(report.quantized, 2u);
  EXPECT_THAT(operators(model),
              testing::ElementsAre("QuantizeLinear", "DequantizeLinear", "DequantizeLinear", "DequantizeLinear", "Conv",
                                   "Relu", "QuantizeLinear", "DequantizeLinear"));
  EXPECT_EQ(model.graph->output(0)->name(), "y");
  EXPECT_TRUE(is_valid(model));
  const auto got = run(model, kInput);
  for (std::size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], expected[i], 0.03);
}

TEST(Quantize, IntegerOperatorsGiveTheSame) {
  Model qdq = parse(kConv), integer = parse(kConv);
  const ValueRanges ranges = {{"x", {-1, 1}}, {"y", {0, 3}}};
  quantize(qdq, {}, ranges);
  QuantizeOptions options;
  options.form = QuantizeForm::integer;
  quantize(integer, options, ranges);
  EXPECT_THAT(operators(integer), testing::ElementsAre("QuantizeLinear", "QLinearConv", "DequantizeLinear"));
  EXPECT_TRUE(is_valid(integer));
  const auto a = run(qdq, kInput), b = run(integer, kInput);
  for (std::size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], 3.0 / 255 + 1e-6);
}

TEST(Quantize, WhatIsMovedKeepsItsScale) {
  Model model = parse(
      "g (float[1,2] x) => (float[4] y) <float[2,4] w = {1, 2, 3, 4, -1, -2, -3, -4}, int64[1] s = {-1}> "
      "{ h = MatMul(x, w) y = Reshape(h, s) }");
  quantize(model, {}, {{"x", {-1, 1}}, {"h", {-2, 2}}, {"y", {-3, 1}}});
  std::vector<const Value*> scales;
  for (const Node& node : model.graph->nodes())
    if (node.op == "QuantizeLinear") scales.push_back(node.input(1));
  ASSERT_EQ(scales.size(), 3u);
  EXPECT_NE(scales[0], scales[1]);
  EXPECT_EQ(scales[1], scales[2]);
}

TEST(Quantize, LeavesWhatTheUserNamesAndSaysSo) {
  Model model = parse(kConv);
  QuantizeOptions options;
  options.exclude = {"Conv"};
  const QuantizeReport report = quantize(model, options, {});
  EXPECT_EQ(report.quantized, 0u);
  ASSERT_EQ(report.kept.size(), 1u);
  EXPECT_EQ(report.kept[0].reason, "it is excluded");
}

std::string list(int count) {
  std::string numbers;
  for (int i = 0; i < count; ++i) numbers += (i ? ", " : "") + std::to_string((i * 37 % 100) / 50.0 - 1);
  return numbers;
}

const char* kAttention =
    "g (float[1,2,4] x, float[1,2,2] mask) => (float[1,2,4] y) <float[4,4] w = {1,0,0,1,0,1,1,0,2,0,1,0,0,1,0,3}> "
    "{ a = MatMul(x, w) t = Transpose<perm = [0,2,1]>(a) s = MatMul(a, t) m = Add(s, mask) p = Softmax(m) y = "
    "MatMul(p, a) }";

ValueRanges ranges_of(const Model& model, ValueRange mask) {
  ValueRanges ranges;
  for (const std::string& name : values_to_watch(model, {})) ranges[name] = {-4, 4};
  for (const char* name : {"mask", "m"})
    if (ranges.contains(name)) ranges[name] = mask;
  return ranges;
}

TEST(Quantize, KeepsScoresThatAreFarApart) {
  for (const ValueRange range : {ValueRange{-10000, 4}, ValueRange{-4, 4, true}}) {
    Model model = parse(kAttention);
    const QuantizeReport report = quantize(model, {}, ranges_of(model, range));
    EXPECT_EQ(report.quantized, 4u) << "three products and what turns a factor";
    ASSERT_EQ(report.kept.size(), 2u);
    EXPECT_EQ(report.kept[0].op + report.kept[1].op, "AddSoftmax");
    EXPECT_TRUE(model.graph->find("p")->producer()->input(0)->producer()->is("Add"));
    EXPECT_TRUE(is_valid(model));
  }
  Model model = parse(kAttention);
  EXPECT_EQ(quantize(model, {}, ranges_of(model, {-4, 4})).quantized, 6u);
}

TEST(Quantize, KeepsWhatReadsStoredInfinities) {
  Model model = parse(
      "g (float[1,2] x) => (float[1,2] y) <float[2,2] w = {1, 2, 3, 4}, float[1,2] mask = {0, -inf}> "
      "{ a = MatMul(x, w) b = Add(a, mask) p = Softmax(b) y = MatMul(p, w) }");
  const QuantizeReport report = quantize(model, {}, ranges_of(model, {-4, 4}));
  ASSERT_EQ(report.kept.size(), 1u);
  EXPECT_EQ(report.kept[0].op, "Add");
  EXPECT_EQ(report.kept[0].reason, "'mask' has infinities");
}

TEST(Quantize, KeepsWhatCentresRows) {
  Model model = parse(
      "g (float[2,3] x) => (float[2,3] y) <float[3,3] w = {1, 2, 3, 4, 5, 6, 7, 8, 9}, int64[1] axis = {-1}> "
      "{ a = MatMul(x, w) m = ReduceMean(a, axis) d = Sub(a, m) y = MatMul(d, w) }");
  ValueRanges ranges;
  for (const std::string& name : values_to_watch(model, {})) ranges[name] = {-4, 4};
  EXPECT_EQ(quantize(model, {}, ranges).quantized, 2u);
}

TEST(Quantize, TellsWhatHoldsWeightsAndHasNoForm) {
  Model model =
      parse("g (float[3,1,2] x, float[2,2] x2, bool c) => (float[3,1,1,4] y, float[2,2] z) <float[1,16,2] w = {" +
            list(32) + "}, float[1,16,4] r = {" + list(64) + "}, float[2,32] k = {" + list(64) +
            "}> "
            "{ y = LSTM<hidden_size = 4>(x, w, r) "
            "z = If(c) <then_branch = t () => (float[2,2] a) <float[2,2] x3> { b = MatMul(x2, k) s = "
            "ReduceMax<keepdims = 0>(b) "
            "a = Add(x2, s) }, else_branch = e () => (float[2,2] d) { d = Identity(x2) }> }");
  QuantizeOptions options;
  options.method = QuantizeMethod::weights;
  const QuantizeReport report = quantize(model, options);
  ASSERT_EQ(report.kept.size(), 2u);
  EXPECT_EQ(report.kept[0].op, "LSTM");
  EXPECT_EQ(report.kept[1].reason, "it is in a graph inside a node");
}

TEST(Quantize, FiltersKeepEightBitsWhateverTheBlocks) {
  Model model =
      parse("g (float[1,4,2,2] x) => (float[1,16,2,2] y) <float[16,4,1,1] w = {" + list(64) + "}> { y = Conv(x, w) }");
  QuantizeOptions options;
  options.method = QuantizeMethod::weights;
  options.bits = 4;
  options.block = 16;
  options.weights = DType::u8;
  const QuantizeReport report = quantize(model, options);
  ASSERT_EQ(report.weights.size(), 1u);
  EXPECT_GT(report.weights[0].noise, 40) << "8 bits";
  EXPECT_TRUE(is_valid(model));
}

TEST(Quantize, DynamicRangesAreThoseOfEachRun) {
  Model model = parse(
      "g (float[2,3] x) => (float[2,2] y) <float[3,2] w = {1, -2, 3, 0.5, 0.25, 4}, float[2] b = {1, 2}> "
      "{ h = MatMul(x, w) y = Add(h, b) }");
  const Tensor x = Tensor::of<float>({2, 3}, {1, 2, -3, 0.5, 0.25, 8});
  const auto expected = run(model, x);
  QuantizeOptions options;
  options.method = QuantizeMethod::dynamic;
  options.form = QuantizeForm::integer;
  options.weights = DType::u8;
  EXPECT_EQ(quantize(model, options).quantized, 1u);
  EXPECT_THAT(operators(model), testing::Contains("MatMulInteger"));
  EXPECT_TRUE(is_valid(model));
  const auto got = run(model, x);
  for (std::size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], expected[i], 0.2);
}

TEST(Quantize, WeightsAloneInBlocks) {
  const std::string text =
      "g (float[1,33] x) => (float[1,4] y) <float[33,4] w = {" + list(33 * 4) + "}> { y = MatMul(x, w) }";
  std::vector<float> ones(33, 0.5f);
  const Tensor x = Tensor::of<float>({1, 33}, ones);
  const auto expected = run(parse(text), x);
  for (const QuantizeForm form : {QuantizeForm::qdq, QuantizeForm::integer})
    for (const int bits : {4, 8}) {
      Model model = parse(text);
      QuantizeOptions options;
      options.method = QuantizeMethod::weights;
      options.form = form;
      options.bits = bits;
      options.block = 16;
      const QuantizeReport report = quantize(model, options);
      ASSERT_EQ(report.weights.size(), 1u);
      EXPECT_GT(report.weights[0].noise, bits == 4 ? 15 : 40);
      EXPECT_TRUE(is_valid(model));
      const auto got = run(model, x);
      for (std::size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], expected[i], bits == 4 ? 0.6 : 0.05);
    }
}

TEST(Quantize, RefusesWhatCannotBe) {
  QuantizeOptions options;
  options.method = QuantizeMethod::dynamic;
  Model model = parse(kConv);
  EXPECT_REFUSED(Code::bad_usage, quantize(model, options));
  options = {};
  options.bits = 4;
  EXPECT_REFUSED(Code::bad_usage, quantize(model, options));
  EXPECT_REFUSED(Code::bad_usage, quantize(model, {}, {}));  // no ranges
}

}  // namespace
}  // namespace ingot::passes
