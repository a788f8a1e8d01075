// Functions that stay functions: what calls of them give, in Ingot and in ONNX Runtime, and which cannot stay.
#include <gmock/gmock.h>

#include <filesystem>

#include "ingot/driver/adjust.h"
#include "ingot/driver/check.h"
#include "ingot/driver/load.h"
#include "ingot/engine/session.h"
#include "ingot/verify/peer.h"
#include "tests/support/files.h"
#include "tests/verify/peers.h"

namespace ingot {
namespace {

using testing::Contains;
using testing::ElementsAre;

// y = scaled(x, axis 1) + scaled(-x, axis 1), scaled(a) = shifted(a) / sum of it along the axis, shifted(a) = a * v + 1
const std::string kGraph = R"(
node { name: "x" op: "Placeholder" attr { key: "dtype" value { type: DT_FLOAT } }
       attr { key: "shape" value { shape { dim { size: -1 } dim { size: 2 } } } } }
node { name: "v" op: "Const" attr { key: "dtype" value { type: DT_FLOAT } } attr { key: "value" value { tensor {
       dtype: DT_FLOAT tensor_shape { dim { size: 2 } } float_val: [3, 5] } } } }
node { name: "axis" op: "Const" attr { key: "dtype" value { type: DT_INT32 } } attr { key: "value" value { tensor {
       dtype: DT_INT32 tensor_shape { dim { size: 1 } } int_val: [1] } } } }
node { name: "minus" op: "Neg" input: "x" attr { key: "T" value { type: DT_FLOAT } } }
node { name: "one" op: "StatefulPartitionedCall" input: "x" input: "v" input: "axis"
       attr { key: "f" value { func { name: "scaled" } } } }
node { name: "two" op: "StatefulPartitionedCall" input: "minus" input: "v" input: "axis"
       attr { key: "f" value { func { name: "scaled" } } } }
node { name: "y" op: "AddV2" input: "one" input: "two" attr { key: "T" value { type: DT_FLOAT } } }
library {
  function {
    signature { name: "scaled" input_arg { name: "a" type: DT_FLOAT } input_arg { name: "w" type: DT_FLOAT }
                input_arg { name: "axis" type: DT_INT32 } output_arg { name: "out" type: DT_FLOAT } }
    node_def { name: "inside" op: "PartitionedCall" input: "a" input: "w"
               attr { key: "f" value { func { name: "shifted" } } } }
    node_def { name: "sum" op: "Sum" input: "inside:output:0" input: "axis" attr { key: "T" value { type: DT_FLOAT } }
               attr { key: "keep_dims" value { b: true } } }
    node_def { name: "quotient" op: "RealDiv" input: "inside:output:0" input: "sum:output:0"
               attr { key: "T" value { type: DT_FLOAT } } }
    ret { key: "out" value: "quotient:z:0" }
  }
  function {
    signature { name: "shifted" input_arg { name: "p" type: DT_FLOAT } input_arg { name: "q" type: DT_FLOAT }
                output_arg { name: "result" type: DT_FLOAT } }
    node_def { name: "k" op: "Const" attr { key: "dtype" value { type: DT_FLOAT } } attr { key: "value" value { tensor {
               dtype: DT_FLOAT tensor_shape { } float_val: 1 } } } }
    node_def { name: "product" op: "Mul" input: "p" input: "q" attr { key: "T" value { type: DT_FLOAT } } }
    node_def { name: "more" op: "AddV2" input: "product:z:0" input: "k:output:0" attr { key: "T" value { type: DT_FLOAT } } }
    ret { key: "result" value: "more:z:0" }
  }
}
versions { producer: 27 }
)";

class KeptFunctions : public testing::Test {
 protected:
  driver::Loaded load(const std::string& text, bool keeps) {
    test::write_text(directory_ / "model.pbtxt", text);
    driver::LoadOptions options;
    options.import.keep_functions = keeps;
    return driver::load(directory_ / "model.pbtxt", options);
  }
  static std::vector<double> run(const Model& model) {
    const Array x = Array::of<float>({2, 2}, {1, 2, 3, -4});
    return engine::Session(model).run({{"x", x}}).at(0).value.array()->to_doubles();
  }
  static std::vector<std::string> operators(const Graph& graph) {
    std::vector<std::string> names;
    for (const Node& node : graph.nodes()) names.push_back(node.op);
    return names;
  }
  test::TempDir directory_;
};

TEST_F(KeptFunctions, AreCalledWhereTheSourceCallsThem) {
  const driver::Loaded kept = load(kGraph, true);
  ASSERT_EQ(kept.model.functions.size(), 2U);
  EXPECT_EQ(kept.model.functions[0]->name, "shifted");
  EXPECT_EQ(kept.model.functions[1]->name, "scaled");
  EXPECT_EQ(kept.model.functions[1]->domain, "tensorflow.function");
  EXPECT_THAT(operators(*kept.model.graph), ElementsAre("scaled", "Neg", "scaled", "Add"));
  EXPECT_THAT(operators(*kept.model.functions[1]->body), Contains("shifted"));
}

TEST_F(KeptFunctions, GiveWhatInlinedOnesGive) {
  const driver::Loaded kept = load(kGraph, true), inlined = load(kGraph, false);
  EXPECT_TRUE(inlined.model.functions.empty());
  const std::vector<double> values = run(inlined.model);
  EXPECT_EQ(run(kept.model), values);
  EXPECT_NEAR(values.at(0), 4.0 / 15 + -2.0 / -11, 1e-6);
}

TEST_F(KeptFunctions, AreWrittenInOlderOperatorSetsAndCheck) {
  driver::Loaded kept = load(kGraph, true);
  const std::vector<double> values = run(kept.model);
  driver::AdjustOptions changes;
  changes.opset = 15;
  driver::adjust(kept.model, changes);
  for (const driver::Problem& problem : driver::check(kept.model))
    EXPECT_NE(problem.severity, driver::Severity::error) << problem.str();
  ASSERT_EQ(kept.model.functions.size(), 2U);
  EXPECT_EQ(kept.model.functions[1]->opsets.version(""), 15);
  driver::save(kept.model, directory_ / "kept.onnx");
  EXPECT_EQ(run(driver::load(directory_ / "kept.onnx").model), values);
}

TEST_F(KeptFunctions, GiveTheSameInOnnxRuntime) {
  const verify::Peers peers = test::peers();
  if (const auto missing = verify::why_missing(peers, verify::Runtime::ort)) GTEST_SKIP() << *missing;
  driver::Loaded kept = load(kGraph, true);
  driver::AdjustOptions changes;
  changes.opset = 21;
  driver::adjust(kept.model, changes);
  ASSERT_EQ(kept.model.functions.size(), 2U);
  const std::string file = directory_ / "kept.onnx";
  driver::save(kept.model, file);
  verify::Peer ort(verify::Runtime::ort, peers);
  const verify::PeerAnswer answer =
      ort.run({.model = file, .inputs = {{"x", Array::of<float>({2, 2}, {1, 2, 3, -4})}}});
  ASSERT_EQ(answer.error, "");
  const std::vector<double> theirs = answer.outputs.at(0).value.array()->to_doubles(), ours = run(kept.model);
  ASSERT_EQ(theirs.size(), ours.size());
  for (std::size_t i = 0; i < ours.size(); ++i) EXPECT_NEAR(theirs[i], ours[i], 1e-6);
}

TEST_F(KeptFunctions, AreSeveralWhereTypesDiffer) {
  // `two` is called with one row more: another shape, another function.
  std::string text = kGraph;
  const std::string old = R"(op: "Neg" input: "x" attr { key: "T" value { type: DT_FLOAT } })";
  text.replace(text.find(old), old.size(),
               R"(op: "ConcatV2" input: "x" input: "x" input: "axis0" attr { key: "N" value { i: 2 } })");
  text += R"(node { name: "axis0" op: "Const" attr { key: "dtype" value { type: DT_INT32 } } attr { key: "value" value {
    tensor { dtype: DT_INT32 tensor_shape { } int_val: 0 } } } })";
  const std::string sum = R"(node { name: "y" op: "AddV2" input: "one" input: "two")";
  text.replace(
      text.find(sum), sum.size(),
      R"(node { name: "y" op: "ConcatV2" input: "one" input: "two" input: "axis0" attr { key: "N" value { i: 2 } })");
  const driver::Loaded kept = load(text, true);
  std::vector<std::string> names;
  for (const auto& f : kept.model.functions) names.push_back(f->name);
  EXPECT_THAT(names, ElementsAre("shifted", "scaled", "shifted_1", "scaled_1"));
  EXPECT_EQ(run(kept.model), run(load(text, false).model));
}

TEST_F(KeptFunctions, OfATensorFlow2ModelTakeItsVariables) {
  const auto shared = test::shared_dir();
  const auto path = shared ? *shared / "corpus/savedmodel/serving/saved_model_half_plus_two_tf2_cpu/00000123"
                           : std::filesystem::path();
  if (!shared || !std::filesystem::exists(path)) GTEST_SKIP() << "no corpus: set INGOT_SHARED";
  driver::LoadOptions options;
  options.import.keep_functions = true;
  const driver::Loaded kept = driver::load(path, options);
  options.import.keep_functions = false;
  const driver::Loaded inlined = driver::load(path, options);
  const auto answer = [](const Model& model) {
    const Array x = Array::of<float>({1}, {3});
    return engine::Session(model).run({{model.graph->inputs()[0]->name(), x}}).at(0).value.array()->to_doubles();
  };
  ASSERT_FALSE(kept.model.functions.empty());
  EXPECT_TRUE(inlined.model.functions.empty());
  EXPECT_EQ(kept.model.functions[0]->body->inputs().size(), 3U);  // x, and the variables a and b
  EXPECT_EQ(answer(kept.model), std::vector<double>{3.5});
  EXPECT_EQ(answer(inlined.model), answer(kept.model));
}

}  // namespace
}  // namespace ingot
