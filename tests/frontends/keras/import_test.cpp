// From Keras's configurations to ONNX nodes: names, versions, masks, what is refused.
#include "ingot/frontends/keras/import.h"

#include <gmock/gmock.h>

#include <algorithm>

#include "ingot/base/error.h"
#include "ingot/frontends/keras/weights.h"

namespace ingot::frontends::keras {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

formats::keras::ModelFile described(const std::string& text) {
  return formats::keras::read_architecture(Bytes::own(text));
}

std::string layer(const std::string& name, const std::string& class_name, const std::string& settings = "") {
  return R"({"class_name": ")" + class_name + R"(", "config": {"name": ")" + name + "\"" +
         (settings.empty() ? "" : ", " + settings) + "}}";
}

/// A Sequential model over inputs [batch, 2, 3].
std::string sequential(const std::string& layers, const std::string& version = "2.11.0") {
  return R"({"class_name": "Sequential", "keras_version": ")" + version +
         R"(", "config": {"name": "m", "layers": [{"class_name": "InputLayer", "config": {"name": "x",
         "batch_input_shape": [null, 2, 3]}}, )" +
         layers + "]}}";
}

std::vector<std::string> operators(const Model& model) {
  std::vector<std::string> names;
  for (const Node& node : model.graph->nodes()) names.push_back(node.op);
  return names;
}

formats::keras::Weight weight(const std::string& name, std::vector<std::int64_t> dims) {
  std::int64_t count = 1;
  for (const std::int64_t d : dims) count *= d;
  const std::vector<float> values(static_cast<std::size_t>(count), 0.5F);
  return {name, {DType::f32, 4, std::move(dims), Bytes::copy(std::as_bytes(std::span(values))), {}}};
}

TEST(KerasImport, NamesOfInputsAndOutputsAreThoseOfLayers) {
  const Imported imported = import_model(described(sequential(layer("y", "Activation", R"("activation": "tanh")"))));
  EXPECT_EQ(imported.model.graph->inputs()[0]->name(), "x");
  EXPECT_EQ(imported.model.graph->inputs()[0]->type.str(), "float[batch,2,3]");
  EXPECT_EQ(imported.model.graph->output(0)->name(), "y");
  EXPECT_THAT(operators(imported.model), ElementsAre("Tanh"));
}

TEST(KerasImport, WhatIsPythonCodeIsRefusedAllAtOnce) {
  try {
    import_model(described(sequential(layer("first", "Lambda"))));
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("never executed"));
    EXPECT_THAT(error.hint_text(), HasSubstr("--allow-custom"));
  }
  // Side by side, so that each is looked at.
  const std::string functional = R"({"class_name": "Functional", "config": {"name": "m", "layers": [
    {"class_name": "InputLayer", "name": "x", "config": {"batch_input_shape": [null, 3]}, "inbound_nodes": []},
    {"class_name": "Lambda", "name": "a", "config": {}, "inbound_nodes": [[["x", 0, 0, {}]]]},
    {"class_name": "Riddle", "name": "b", "config": {}, "inbound_nodes": [[["x", 0, 0, {}]]]},
    {"class_name": "My>Own", "name": "c", "config": {}, "inbound_nodes": [[["x", 0, 0, {}]]]}],
    "input_layers": [["x", 0, 0]], "output_layers": [["a", 0, 0], ["b", 0, 0], ["c", 0, 0]]}})";
  try {
    import_model(described(functional));
    FAIL();
  } catch (const Error& error) {
    for (const char* name : {"'a'", "'b'", "'c'"}) EXPECT_THAT(error.what(), HasSubstr(name));
  }
}

TEST(KerasImport, ALayerMayStayAsACustomNode) {
  ImportOptions options;
  options.allow_custom = {"Lambda"};
  const Imported imported = import_model(described(sequential(layer("y", "Lambda"))), options);
  EXPECT_EQ(imported.model.graph->first()->op, "Lambda");
  EXPECT_EQ(imported.model.graph->first()->domain, "keras");
}

TEST(KerasImport, WithoutWeightsTheRemedyIsNamed) {
  try {
    import_model(described(sequential(layer("d", "Dense", R"("units": 4)"))));
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.hint_text(), HasSubstr("--weights-from"));
  }
}

TEST(KerasImport, VersionsDisagreeAboutHardSigmoid) {
  const std::string text = layer("y", "Activation", R"("activation": "hard_sigmoid")");
  EXPECT_THAT(operators(import_model(described(sequential(text))).model), ElementsAre("HardSigmoid"));
  EXPECT_THAT(operators(import_model(described(sequential(text, "3.4.0"))).model), ElementsAre("Add", "Clip", "Div"));
}

TEST(KerasImport, RecurrentLayersAreOperatorsNotLoops) {
  formats::keras::ModelFile source = described(
      sequential(layer("r", "LSTM", R"("units": 2, "activation": "tanh", "recurrent_activation": "sigmoid")")));
  source.has_weights = true;
  formats::keras::WeightTree part;
  part.values = {weight("r/kernel", {3, 8}), weight("r/recurrent_kernel", {2, 8}), weight("r/bias", {8})};
  source.weights.parts.emplace_back("r", part);
  const std::vector<std::string> ops = operators(import_model(source).model);
  EXPECT_EQ(std::ranges::count(ops, "LSTM"), 1);
  EXPECT_EQ(std::ranges::count(ops, "Loop"), 0);
}

TEST(KerasImport, ParametersSayWhetherTheyAreTrained) {
  formats::keras::ModelFile source = described(sequential(layer("a", "Dense", R"("units": 2, "trainable": false)") +
                                                          "," + layer("b", "Dense", R"("units": 2)")));
  source.has_weights = true;
  source.weights.parts.emplace_back(
      "a", formats::keras::WeightTree{"a", {weight("a/kernel", {3, 2}), weight("a/bias", {2})}, {}});
  source.weights.parts.emplace_back(
      "b", formats::keras::WeightTree{"b", {weight("b/kernel", {2, 2}), weight("b/bias", {2})}, {}});
  const Imported imported = import_model(source);
  ASSERT_EQ(imported.parameters.size(), 4u);
  EXPECT_EQ(imported.parameters[0].name, "a/kernel");
  EXPECT_FALSE(imported.parameters[0].is_trainable);
  EXPECT_TRUE(imported.parameters[2].is_trainable);
}

TEST(KerasWeights, ClassesAreSpeltAsKeras3DoesInFiles) {
  EXPECT_EQ(snake_case("Conv2DTranspose"), "conv2d_transpose");
  EXPECT_EQ(snake_case("PReLU"), "p_re_lu");
  EXPECT_EQ(snake_case("LSTM"), "lstm");
  EXPECT_EQ(snake_case("GlobalAveragePooling2D"), "global_average_pooling2d");
  EXPECT_EQ(snake_case("TFOpLambda"), "tf_op_lambda");
  EXPECT_EQ(snake_case("InputLayer"), "input_layer");
}

TEST(KerasTable, EveryRowHasAName) { EXPECT_GT(translated_layers().size(), 200u); }

}  // namespace
}  // namespace ingot::frontends::keras
