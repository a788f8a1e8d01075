// From TFLite structs to ONNX nodes: names, layouts, quantisation, what is refused.
#include "ingot/frontends/tflite/import.h"

#include <gmock/gmock.h>

#include "ingot/base/error.h"
#include "tests/formats/tflite/sample.h"

namespace ingot::frontends::tflite {
namespace {

namespace tfl = formats::tflite;
using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::string> operators(const Model& model) {
  std::vector<std::string> names;
  for (const Node& node : model.graph->nodes()) names.push_back(node.op);
  return names;
}

tfl::Tensor tensor(std::string name, std::vector<std::int64_t> shape, std::uint32_t buffer = 0) {
  tfl::Tensor t;
  t.name = std::move(name);
  t.shape = std::move(shape);
  t.buffer = buffer;
  return t;
}

/// x[1,4,4,2] -> CONV_2D(w[3,1,1,2], no bias) -> y[1,4,4,3]
tfl::Model convolution() {
  tfl::Model model;
  model.buffers = {Bytes(), tfl::bytes_from<float>({1, 2, 3, 4, 5, 6})};
  tfl::SubGraph& graph = model.subgraphs.emplace_back();
  graph.tensors = {tensor("x", {1, 4, 4, 2}), tensor("w", {3, 1, 1, 2}, 1), tensor("y", {1, 4, 4, 3})};
  graph.inputs = {0};
  graph.outputs = {2};
  tfl::Operator& op = graph.operators.emplace_back();
  op.code.builtin = tfl::BuiltinOperator::CONV_2D;
  op.inputs = {0, 1, tfl::kNoTensor};
  op.outputs = {2};
  op.options = tfl::Options(op.code.builtin).set("stride_h", 1).set("stride_w", 1);
  return model;
}

TEST(TfliteImport, KeepsTheNamesOfInputsAndOutputs) {
  const Imported imported = import_model(tfl::sample_model());
  ASSERT_EQ(imported.model.graph->inputs().size(), 1u);
  EXPECT_EQ(imported.model.graph->inputs()[0]->name(), "x");
  ASSERT_EQ(imported.model.graph->output_count(), 1u);
  EXPECT_EQ(imported.model.graph->output(0)->name(), "y");
  EXPECT_THAT(operators(imported.model), ElementsAre("Gemm", "Clip"));
}

TEST(TfliteImport, SaysWhereEachNodeComesFrom) {
  const Imported imported = import_model(tfl::sample_model());
  for (const Node& node : imported.model.graph->nodes())
    EXPECT_THAT(node.metadata, ElementsAre(std::pair<std::string, std::string>("ingot.source", "y"),
                                           std::pair<std::string, std::string>("ingot.source_op", "FULLY_CONNECTED")));
}

TEST(TfliteImport, UsesTheNamesOfTheSignature) {
  tfl::Model source = tfl::sample_model();
  source.signature_defs = {{"serving_default", {{"features", 0}}, {{"scores", 3}}, "", 0}};
  const Imported imported = import_model(source);
  EXPECT_EQ(imported.model.graph->inputs()[0]->name(), "features");
  EXPECT_EQ(imported.model.graph->output(0)->name(), "scores");
}

TEST(TfliteImport, TurnsTheWeightsOfAConvolutionItself) {
  const Imported imported = import_model(convolution());
  EXPECT_THAT(operators(imported.model), ElementsAre("Transpose", "Conv", "Transpose"));
  const Node& conv = *imported.model.graph->first()->next();
  ASSERT_TRUE(conv.input(1)->initializer);
  EXPECT_EQ(conv.input(1)->initializer->dims(), (Dims{3, 2, 1, 1}));
}

TEST(TfliteImport, KeepsUnknownSizesAsNames) {
  tfl::Model source = convolution();
  source.subgraphs[0].tensors[0].shape_signature = {-1, 4, 4, 2};
  const Imported imported = import_model(source);
  EXPECT_EQ(imported.model.graph->inputs()[0]->type.str(), "float[x_0,4,4,2]");
  EXPECT_EQ(imported.model.graph->output(0)->type.str(), "float[x_0,4,4,3]");
}

TEST(TfliteImport, QuantisedOperatorsAreComputedBetweenDequantizeAndQuantize) {
  tfl::Model source = convolution();
  source.buffers[1] = tfl::bytes_from<std::int8_t>({1, 2, 3, 4, 5, 6});
  for (tfl::Tensor& t : source.subgraphs[0].tensors) {
    t.type = tfl::TensorType::INT8;
    t.quantization = tfl::Quantization{{}, {}, {0.5F}, {0}, 0, {}};
  }
  source.subgraphs[0].tensors[1].quantization = tfl::Quantization{{}, {}, {0.5F, 0.25F, 1.0F}, {0, 0, 0}, 0, {}};
  EXPECT_THAT(operators(import_model(source).model),
              ElementsAre("Transpose", "DequantizeLinear", "DequantizeLinear", "Conv", "QuantizeLinear", "Transpose"));
  ImportOptions options;
  options.dequantize = true;
  const Imported real = import_model(source, options);
  EXPECT_THAT(operators(real.model), ElementsAre("Transpose", "Conv", "Transpose"));
  EXPECT_EQ(real.model.graph->inputs()[0]->type.elem, DType::f32);
}

TEST(TfliteImport, ListsEveryOperatorThatHasNoTranslation) {
  tfl::Model source = convolution();
  tfl::SubGraph& graph = source.subgraphs[0];
  graph.tensors.push_back(tensor("a", {1}));
  graph.tensors.push_back(tensor("b", {1}));
  for (const std::int32_t i : {3, 4}) {
    tfl::Operator& op = graph.operators.emplace_back();
    op.code.custom = i == 3 ? "Mystery" : "Riddle";
    op.inputs = {i - 1};
    op.outputs = {i};
  }
  graph.outputs = {4};
  const Error error = tfl::error_of([&] { import_model(source); });
  EXPECT_EQ(error.code(), Code::unsupported_operator);
  EXPECT_EQ(error.exit_code(), 4);
  EXPECT_THAT(error.message(), HasSubstr("CUSTOM:Mystery: there is no translation for this operator (node 'a')"));
  EXPECT_THAT(error.message(), HasSubstr("CUSTOM:Riddle: there is no translation for this operator (node 'b')"));
  ImportOptions options;
  options.allow_custom = {"Mystery", "Riddle:my.ops"};
  const Imported imported = import_model(source, options);
  EXPECT_TRUE(imported.model.graph->last()->is("Riddle", "my.ops"));
  EXPECT_EQ(imported.model.opsets.version("my.ops"), 1);
  EXPECT_EQ(imported.notes.size(), 2u);
}

TEST(TfliteImport, CutsTheGraphWhereAsked) {
  tfl::Model source = convolution();
  tfl::SubGraph& graph = source.subgraphs[0];
  graph.tensors.push_back(tensor("z", {1, 4, 4, 3}));
  tfl::Operator& op = graph.operators.emplace_back();
  op.code.custom = "Mystery";
  op.inputs = {2};
  op.outputs = {3};
  graph.outputs = {3};
  ImportOptions options;
  options.outputs = {"y"};
  EXPECT_EQ(import_model(source, options).model.graph->output(0)->name(), "y");
  options.outputs = {"nothing"};
  EXPECT_EQ(tfl::error_of([&] { import_model(source, options); }).code(), Code::unknown_name);
}

}  // namespace
}  // namespace ingot::frontends::tflite
