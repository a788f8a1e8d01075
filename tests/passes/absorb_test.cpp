// What convolutions and pools take in.
#include <gtest/gtest.h>

#include "ingot/engine/session.h"
#include "ingot/ir/drop_unread.h"
#include "ingot/onnx/text.h"
#include "ingot/ops/infer.h"
#include "ingot/passes/absorb_lines.h"
#include "ingot/passes/absorb_pads.h"
#include "ingot/passes/infer.h"

namespace ingot::passes {
namespace {

struct Absorbed {
  std::string operators, text;
  double worst = 0;  // of the results before and after
};

Model parsed(const std::string& body) {
  Model model = onnx::parse_text(
      "<ir_version: 13, opset_import: [\"\" : 28]>\n g (float[1,2,5,5] x) => (float y) <"
      "float[3,2,3,3] w = {1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 2, 3, 4, 5, 6, 7, 8, 9, -1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 2, 3, "
      "4,"
      "5, -6, 7, 8, 9, 1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 2, 3, 4, 5, 6, 7, 8, 9}, float[3] b = {1, 2, 3}, "
      "float[2,3,2,2] t = {1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 2, 3, 4, 5, 6, 7, 8, 9, -1, 2, 3, 4, 5, 6},"
      "float[3] scale = {0.5, 2, -1}, float[3] mean = {1, 0, 4}, float[3] variance = {4, 1, 0.25}, "
      "float[3,1,1] each = {3, 4, 5}, float[1,3,1,1] all = {0.5, -2, 7}, float one = {3}, float[5] row = {1, 2, 3, 4, "
      "5},"
      "int64[8] pads = {0, 0, 1, 0, 0, 0, 2, 1}, int64[4] some = {1, 1, 0, 1}, int64[2] axes = {-2, 3}, "
      "int64[8] channels = {0, 1, 0, 0, 0, 0, 0, 0}, float zero = {0}> {" +
          body + "}",
      ".", {});
  model.graph->output(0)->type = {};
  infer(model);
  return model;
}

std::vector<double> result_of(const Model& model) {
  std::vector<float> x(50);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(static_cast<int>(i * 7 % 11) - 5) / 3;
  const engine::Session session(model, {.threads = 1, .is_fast = false});
  const auto outputs = session.run({{"x", Array::from(Tensor::of<float>({1, 2, 5, 5}, x))}});
  return outputs.front().value.array()->to_tensor().to_doubles();
}

Absorbed absorbed(const std::string& body) {
  Model model = parsed(body);
  const std::vector<double> before = result_of(model);
  absorb_lines(*model.graph);
  absorb_pads(*model.graph);
  drop_unread(*model.graph);
  infer(model);
  check_invariants(model);
  Absorbed result;
  for (const Node& n : model.graph->nodes()) result.operators += (result.operators.empty() ? "" : " ") + n.op;
  result.text = onnx::to_text(model);
  EXPECT_EQ(model.graph->output(0)->name(), "y");
  const std::vector<double> after = result_of(model);
  EXPECT_EQ(before.size(), after.size());
  double scale = 0;
  for (std::size_t i = 0; i < std::min(before.size(), after.size()); ++i) {
    scale = std::max(scale, std::abs(before[i]));
    result.worst = std::max(result.worst, std::abs(before[i] - after[i]));
  }
  result.worst /= scale;
  return result;
}

void expect_absorbed(const std::string& body, const std::string& operators) {
  const Absorbed result = absorbed(body);
  EXPECT_EQ(result.operators, operators) << body;
  EXPECT_LT(result.worst, 1e-6) << body;
}

TEST(AbsorbLines, NormalisationAndBiasGoIntoTheConvolution) {
  expect_absorbed("a = Conv(x, w)\n c = Add(a, each)\n y = BatchNormalization(c, scale, b, mean, variance)", "Conv");
  expect_absorbed("a = Conv(x, w, b)\n c = BatchNormalization(a, scale, b, mean, variance)\n y = Relu(c)", "Conv Relu");
  expect_absorbed("a = Conv(x, w)\n c = Mul(all, a)\n d = Sub(c, all)\n y = Add(one, d)", "Conv");
  expect_absorbed("a = Conv(x, w)\n y = Sub(each, a)", "Conv");
  expect_absorbed("a = Conv(x, w)\n c = Div(a, each)\n y = Sub(c, one)", "Conv");
}

TEST(AbsorbLines, AConvolutionThatEnlargesTakesThemToo) {
  expect_absorbed("a = ConvTranspose(x, t)\n c = Mul(a, all)\n y = Add(c, each)", "ConvTranspose");
}

TEST(AbsorbLines, WhatIsReadElsewhereOrNotPerChannelStays) {
  expect_absorbed("a = Conv<pads = [1,1,1,1]>(x, w)\n y = Add(a, row)", "Conv Add");
  expect_absorbed("a = Conv(x, w)\n c = Add(a, each)\n y = Mul(a, c)", "Conv Add Mul");
  // Weights that two convolutions share are not copied.
  expect_absorbed("a = Conv(x, w)\n d = Conv(x, w)\n c = Mul(a, each)\n y = Add(c, d)", "Conv Conv Mul Add");
}

TEST(AbsorbLines, TheLastOneGivesTheSource) {
  Model model = parsed("a = Conv(x, w)\n y = BatchNormalization(a, scale, b, mean, variance)");
  model.graph->first()->metadata = {{"ingot.source", "conv"}};
  model.graph->last()->metadata = {{"ingot.source", "norm"}};
  absorb_lines(*model.graph);
  EXPECT_EQ(model.graph->first()->metadata.at(0).second, "norm");
}

/// Under the convolution's own name, whoever compares values inside would find another one.
TEST(AbsorbLines, TheResultHasTheLastName) {
  Model model = onnx::parse_text(
      "<ir_version: 13, opset_import: [\"\" : 28]> g (float[1,1,2,2] x) => (float[1,1,2,2] y) <float[1,1,1,1] w = {2}, "
      "float one = {3}> { c = Conv(x, w) s = Add(c, one) p = Mul(s, one) y = Relu(p) }",
      ".", {});
  infer(model);
  for (Node& node : model.graph->nodes()) node.output(0)->is_declared = true;
  absorb_lines(*model.graph);
  EXPECT_EQ(model.graph->first()->output(0)->name(), "p");
}

TEST(AbsorbPads, ZerosGoIntoConvolutionsAndMeans) {
  const Absorbed conv = absorbed("a = Pad(x, pads)\n y = Conv<pads = [1,0,0,0]>(a, w)");
  EXPECT_EQ(conv.operators, "Conv");
  EXPECT_EQ(conv.worst, 0);
  EXPECT_NE(conv.text.find("pads: ints = [2, 0, 2, 1]"), std::string::npos) << conv.text;
  const std::string mean = "a = Pad(x, some, zero, axes)\n y = AveragePool<kernel_shape = [2,2]>(a)";
  expect_absorbed(mean, "AveragePool");
  EXPECT_NE(absorbed(mean).text.find("count_include_pad: int = 1"), std::string::npos);
}

TEST(AbsorbPads, AMaximumTakesZerosWhereNothingIsBelow) {
  expect_absorbed("r = Relu(x)\n a = Pad(r, some, zero, axes)\n y = MaxPool<kernel_shape = [2,2]>(a)", "Relu MaxPool");
  expect_absorbed("a = Pad(x, some, zero, axes)\n y = MaxPool<kernel_shape = [2,2]>(a)", "Pad MaxPool");
}

TEST(AbsorbPads, OtherPaddingStays) {
  expect_absorbed("a = Pad(x, pads, one)\n y = Conv(a, w)", "Pad Conv");
  expect_absorbed("a = Pad<mode = \"edge\">(x, pads)\n y = Conv(a, w)", "Pad Conv");
  expect_absorbed("a = Pad(x, pads)\n c = Conv(a, w)\n d = ReduceSum(a)\n y = Add(c, d)", "Pad Conv ReduceSum Add");
  expect_absorbed("a = Pad(x, pads)\n y = Conv<auto_pad = \"SAME_UPPER\">(a, w)", "Pad Conv");
}

}  // namespace
}  // namespace ingot::passes
