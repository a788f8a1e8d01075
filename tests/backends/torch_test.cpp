// ONNX -> PyTorch: the code that comes out, what the module holds, and what is refused.
#include <gtest/gtest.h>

#include <algorithm>

#include "ingot/backends/torch/export.h"
#include "ingot/backends/torch/script.h"
#include "ingot/base/error.h"
#include "ingot/onnx/text.h"

namespace ingot::backends::torch {
namespace {

Model parsed(const std::string& graph) {
  return onnx::parse_text("<ir_version: 10, opset_import: [\"\" : 21]>\n" + graph);
}

/// The lines of forward.
std::string forward_of(const std::string& graph) {
  const std::string code = to_torch(parsed(graph)).archive.code;
  return code.substr(code.rfind("Tensor:\n") + 8);
}

TEST(TorchExport, CodeReadsAsItIsMeant) {
  EXPECT_EQ(
      forward_of("g (float[2,3] x, float[3] y) => (float[2,3] z) { a = Relu(x)  two = Constant<value_float = 2.0>()"
                 "  b = Mul(a, two)  z = Add(b, y) }"),
      "    a = torch.relu(x)\n"
      "    b = a * 2.0\n"
      "    z = b + y\n"
      "    return z\n");
}

TEST(TorchExport, NamesThatPythonReservesGetAnother) {
  const std::string code = to_torch(parsed("g (float[2] in) => (float[2] torch) { torch = Neg(in) }")).archive.code;
  EXPECT_NE(code.find("in_: Tensor"), std::string::npos) << code;
  EXPECT_NE(code.find("torch_ = -in_"), std::string::npos) << code;
}

TEST(TorchExport, ManyNamesThatAreOneTakeNoTime) {
  Script script(Dialect::archive, {});
  std::string name;
  for (int i = 0; i < 200'000; ++i) name = script.fresh("o");
  EXPECT_EQ(name, "o_199999");
  EXPECT_EQ(script.fresh("o_7"), "o_7_1");
}

TEST(TorchExport, WeightsAreParametersByTheirNamesAndStatisticsBuffers) {
  const Exported made = to_torch(parsed(R"(g (float[N,2,4,4] x) => (float[N,2,4,4] y)
      <float[2] "bn.weight" = {1, 2}, float[2] "bn.bias" = {0, 1}, float[2] "bn.mean" = {0, 0}, float[2] "bn.var" = {1, 1}>
      { y = BatchNormalization(x, "bn.weight", "bn.bias", "bn.mean", "bn.var") })"));
  ASSERT_EQ(made.archive.root.children.size(), 1U);
  const auto& [name, norm] = made.archive.root.children[0];
  EXPECT_EQ(name, "bn");
  ASSERT_EQ(norm.tensors.size(), 4U);
  for (const auto& [tensor_name, tensor] : norm.tensors)
    EXPECT_EQ(tensor.requires_grad, tensor_name == "weight" || tensor_name == "bias") << tensor_name;
  EXPECT_NE(made.archive.code.find("self.training"), std::string::npos);
}

TEST(TorchExport, WhatIsComputedOfAWeightStaysComputed) {
  std::string numbers;
  for (int i = 0; i < 12; ++i) numbers += (i ? ", " : "") + std::to_string(i);
  const std::string code = forward_of("g (float[2,4] x) => (float[2,3] y) <float[3,4] w = {" + numbers +
                                      "}> { t = Transpose<perm = [1,0]>(w)  y = MatMul(x, t) }");
  EXPECT_EQ(code, "    t = self.w.t()\n    y = x @ t\n    return y\n");
}

TEST(TorchExport, TypesThatPytorchLacksTravelInOthers) {
  const Exported made = to_torch(parsed("g (uint16[2] a, uint16[2] b) => (uint16[2] c) { c = Add(a, b) }"));
  EXPECT_NE(made.archive.code.find("c = (a + b) & 65535"), std::string::npos) << made.archive.code;
  ASSERT_EQ(made.notes.size(), 3U);
  EXPECT_EQ(made.notes[0], "input 'a' is int32 in PyTorch, which has no uint16");
}

TEST(TorchExport, StringsAreRefused) {
  try {
    to_torch(parsed("g (string[2] x) => (string[2] y) { y = Identity(x) }"));
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::not_expressible);
    EXPECT_NE(error.message().find("string"), std::string::npos) << error.message();
  }
}

TEST(TorchSource, ProductsWithABiasAreLayersByTheNameOfTheirWeights) {
  const Source made = to_source(parsed(R"(g (float[N,2] x) => (float[N,3] y)
      <float[2,3] w = {1, 2, 3, 4, 5, 6}, float[3] "layers.0.head.bias" = {0, 1, 2}>
      { p = MatMul(x, w)  y = Add(p, "layers.0.head.bias") })"));
  EXPECT_NE(made.code.find("self.layers[0].head = nn.Linear(2, 3)\n"), std::string::npos) << made.code;
  EXPECT_NE(made.code.find("y = self.layers[0].head(x)\n"), std::string::npos) << made.code;
  EXPECT_NE(made.code.find("\"layers.0.head.weight\": \"w\""), std::string::npos) << made.code;
  const auto weight =
      std::ranges::find(made.weights.tensors, "layers.0.head.weight", &formats::torch::NamedTensor::name);
  ASSERT_NE(weight, made.weights.tensors.end());
  EXPECT_EQ(weight->dims, (std::vector<std::int64_t>{3, 2}));
  EXPECT_EQ(Tensor(weight->dtype, weight->dims, weight->data).to_vector<float>(),
            (std::vector<float>{1, 4, 2, 5, 3, 6}));
}

TEST(TorchSource, AWeightOfTwoReadersIsHeldOnce) {
  const Source made = to_source(parsed(R"(g (float[N,2] x) => (float[N,2] y)
      <float[2,2] w = {1, 2, 3, 4}>
      { p = Gemm<transB = 1>(x, w)  q = Gemm<transB = 1>(p, w)  y = Mul(q, w) })"));
  EXPECT_EQ(made.weights.tensors.size(), 1U);
  EXPECT_NE(made.code.find("y = q * self.linear.weight"), std::string::npos) << made.code;
}

}  // namespace
}  // namespace ingot::backends::torch
