// Recurrent layers by their decompositions: the same numbers as their kernels give.
#include <gtest/gtest.h>

#include <random>

#include "ingot/engine/session.h"
#include "ingot/onnx/text.h"
#include "ingot/passes/canonicalize.h"
#include "ingot/passes/decompose.h"
#include "ingot/verify/compare.h"

namespace ingot {
namespace {

Array random_array(const Dims& dims, std::mt19937& random) {
  std::uniform_real_distribution<float> number(-1, 1);
  std::vector<float> values(static_cast<std::size_t>(tensor_size(dims)));
  for (float& v : values) v = number(random);
  return Array::of<float>(dims, values);
}

/// Steps 5, batch 3, inputs 2, units 4; sequences of lengths 5, 2 and 1.
void expect_same(const std::string& op, std::int64_t gates, std::int64_t directions, const std::string& attributes,
                 bool batch_first) {
  const std::string n = std::to_string(directions), rows = std::to_string(4 * gates);
  const std::string x = batch_first ? "3,5,2" : "5,3,2", state = batch_first ? "3," + n + ",4" : n + ",3,4";
  const std::string cell = op == "LSTM" ? ", float[" + state + "] c, float[" + n + ",12] p" : "";
  const std::string text = R"(<ir_version: 10, opset_import: ["" : 22]>
      g (float[)" + x + "] x, float[" +
                           n + "," + rows + ",2] w, float[" + n + "," + rows + ",4] r, float[" + n + "," +
                           std::to_string(8 * gates) + "] b, int32[3] lens, float[" + state + "] h" + cell +
                           ") => (float y, float yh" + (cell.empty() ? "" : ", float yc") + ") { y, yh" +
                           (cell.empty() ? "" : ", yc") + " = " + op + "<hidden_size = 4" + attributes +
                           (batch_first ? ", layout = 1" : "") + ">(x, w, r, b, lens, h" +
                           (cell.empty() ? "" : ", c, p") + ") }";
  Model model = onnx::parse_text(text, ".", {});
  for (std::size_t i = 0; i < model.graph->output_count(); ++i) model.graph->output(i)->type.shape.reset();
  passes::canonicalize(model);
  Model expanded = model.clone();
  ASSERT_TRUE(passes::decompose_node(*expanded.graph->first())) << op;
  std::mt19937 random(7);
  std::vector<engine::NamedDatum> inputs;
  for (const Value* v : model.graph->inputs()) {
    Dims dims;
    for (const Dim& d : *v->type.shape) dims.push_back(d.value());
    inputs.push_back(
        {v->name(), v->name() == "lens" ? Array::of<std::int32_t>({3}, {5, 2, 1}) : random_array(dims, random)});
  }
  const auto expected = engine::Session(model).run(inputs);
  const auto got = engine::Session(expanded).run(inputs);
  ASSERT_EQ(got.size(), expected.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    const auto what = verify::difference(got[i].value, expected[i].value);
    EXPECT_FALSE(what) << op << attributes << " output " << got[i].name << ": " << what.value_or("");
  }
}

TEST(RecurrentDecompositions, AgreeWithKernelsInAllDirections) {
  for (const bool batch_first : {false, true}) {
    expect_same("LSTM", 4, 2, ", direction = \"bidirectional\"", batch_first);
    expect_same("GRU", 3, 2, ", direction = \"bidirectional\"", batch_first);
    expect_same("RNN", 1, 2, ", direction = \"bidirectional\"", batch_first);
    expect_same("LSTM", 4, 1, ", direction = \"reverse\"", batch_first);
    expect_same("GRU", 3, 1, ", direction = \"reverse\", linear_before_reset = 1", batch_first);
    expect_same("RNN", 1, 1, ", direction = \"reverse\"", batch_first);
  }
}

TEST(RecurrentDecompositions, AgreeWithKernelsInActivations) {
  expect_same("LSTM", 4, 1, ", clip = 0.3, input_forget = 1", false);
  expect_same("LSTM", 4, 1,
              ", activations = [\"HardSigmoid\", \"ScaledTanh\", \"Affine\"], activation_alpha = [0.3, 0.8, 0.5], "
              "activation_beta = [0.4, 1.2, 0.1]",
              false);
  expect_same("GRU", 3, 1, ", activations = [\"Softsign\", \"Elu\"], activation_alpha = [0.7]", false);
  expect_same("RNN", 1, 1, ", activations = [\"Softplus\"]", false);
  expect_same("RNN", 1, 1, ", activations = [\"ThresholdedRelu\"], activation_alpha = [0.2]", false);
  expect_same("RNN", 1, 1, ", activations = [\"LeakyRelu\"], activation_alpha = [0.2]", false);
}

}  // namespace
}  // namespace ingot
