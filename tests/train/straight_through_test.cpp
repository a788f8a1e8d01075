// Gradients pass straight through rounding to integers that are made real again.
#include <gtest/gtest.h>

#include "ingot/engine/session.h"
#include "ingot/onnx/text.h"
#include "ingot/passes/infer.h"
#include "ingot/train/autodiff.h"
#include "ingot/train/gradcheck.h"

namespace ingot::train {
namespace {

Model model_of(const std::string& body) {
  Model model = onnx::parse_text("<ir_version: 11, opset_import: [\"\" : 23]>\n" + body);
  passes::infer(model);
  return model;
}

/// The gradient of the sum of the first output.
std::vector<float> gradient_by(const std::string& name, const Model& source, const Tensor& x) {
  const Model model = source.clone();
  Graph& graph = *model.graph;
  const Values made = differentiate(graph.output(0), {graph.find(name)});
  graph.resize_outputs(0);
  graph.add_output(made[0]);
  const Array y = *engine::Session(model).run({{"x", Array::from(x)}}).front().value.array();
  return {y.data<float>().begin(), y.data<float>().end()};
}

TEST(StraightThrough, WithinTheRangeAsIfNothingWereRounded) {
  // What PyTorch's fake_quantize_per_tensor_affine(x, 0.5, 3, -128, 127) gives: numbers beyond -65.5 and 62 are cut
  // off.
  const Model model = model_of(
      "g (float[6] x) => (float[6] y) <float s = {0.5}, int8 z = {3}> "
      "{ q = QuantizeLinear(x, s, z) r = DequantizeLinear(q, s, z) y = Mul(r, r) }");
  const Tensor x = Tensor::of<float>({6}, {0.1f, -1.3f, 62.2f, 62.3f, -65.6f, -66});
  EXPECT_EQ(gradient_by("x", model, x), (std::vector<float>{0, -3, 124, 0, -131, 0}));
}

TEST(StraightThrough, WithAScalePerChannel) {
  const Model model = model_of(
      "g (float[2,2] x) => (float[2,2] y) <float[2] s = {1, 0.25}, uint8[2] z = {0, 128}> "
      "{ q = QuantizeLinear<axis = 1>(x, s, z) y = DequantizeLinear<axis = 1>(q, s, z) }");
  EXPECT_EQ(gradient_by("x", model, Tensor::of<float>({2, 2}, {-2, -2, 300, 40})), (std::vector<float>{0, 1, 0, 0}));
}

TEST(StraightThrough, NothingPassesWhereOthersReadTheIntegers) {
  const Model model = model_of(
      "g (float[2] x) => (float[2] y) <float s = {0.5}, int8 z = {0}> "
      "{ q = QuantizeLinear(x, s, z) a = DequantizeLinear(q, s, z) b = Cast<to = 1>(q) c = Add(a, b) y = Add(c, x) }");
  EXPECT_EQ(gradient_by("x", model, Tensor::of<float>({2}, {1, 2})), (std::vector<float>{1, 1}));
}

TEST(StraightThrough, ScalesGetTheStepsThatTheyMultiply) {
  const std::string data = "int8[2,4] q = {1, 2, 3, 4, 5, 6, 7, 8}";
  const Tensor weights = Tensor::of<float>({2, 4}, {1, 1, 1, 1, 2, 2, 2, 2});
  const auto by_scale = [&](const std::string& scale, const std::string& zero, const std::string& attributes) {
    const Model model = model_of("g (float[2,4] x) => (float[2,4] y) <" + data + ", " + scale + ", " + zero +
                                 "> { r = DequantizeLinear" + attributes + "(q, s, z) y = Mul(r, x) }");
    return gradient_by("s", model, weights);
  };
  EXPECT_EQ(by_scale("float s = {0.5}", "int8 z = {1}", ""), (std::vector<float>{6 + 2 * 22}));
  EXPECT_EQ(by_scale("float[4] s = {1, 1, 1, 1}", "int8[4] z = {0, 0, 0, 1}", "<axis = 1>"),
            (std::vector<float>{11, 14, 17, 17}));
  EXPECT_EQ(by_scale("float[2,2] s = {1, 1, 1, 1}", "int8[2,2] z = {0, 0, 0, 0}", "<axis = 1, block_size = 2>"),
            (std::vector<float>{3, 7, 22, 30}));
}

TEST(StraightThrough, DifferencesAgreeWithoutTheRounding) {
  Model model =
      in_double(model_of("g (float[3,2] x) => (float[3,2] y) <float[2] s = {0.01, 0.25}, int8[2] z = {5, 0}> "
                         "{ t = Tanh(x) q = QuantizeLinear(t, s, z) r = DequantizeLinear(q, s, z) y = Exp(r) }"));
  EXPECT_EQ(leave_out_rounding(model), 1u);
  const Array x = Array::of<double>({3, 2}, {0.1, -0.4, 0.9, 1.1, -2, 0.3});
  const auto checks = check_gradients(model, {{"x", x}});
  ASSERT_EQ(checks.size(), 1u);
  EXPECT_TRUE(checks[0].passed()) << checks[0].analytic << " " << checks[0].numeric;
  EXPECT_NE(checks[0].analytic, 0);
}

}  // namespace
}  // namespace ingot::train
