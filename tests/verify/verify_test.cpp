// Two models side by side in real runtimes: agreement is found, and so is the node where they part.
#include "ingot/verify/verify.h"

#include <gmock/gmock.h>

#include "ingot/base/error.h"
#include "ingot/onnx/text.h"
#include "tests/support/refusal.h"
#include "tests/verify/verify_fixture.h"

namespace ingot {
namespace {

TEST_F(Verify, AModelAgreesWithItself) {
  driver::save(network(), directory_ / "a.onnx");
  const Verdict v = verify("a.onnx", "a.onnx", {Runtime::ingot});
  EXPECT_EQ(v.answer, Verdict::Answer::same) << v.why_unknown;
  ASSERT_EQ(v.outputs.size(), 1u);
  EXPECT_EQ(v.outputs[0].figure, "equal");
}

TEST_F(Verify, IngotAgreesWithOnnxRuntime) {
  if (!has(Runtime::ort)) GTEST_SKIP() << skip_;
  driver::save(network(), directory_ / "a.onnx");
  const Verdict v = verify("a.onnx", "a.onnx", {Runtime::ort});
  EXPECT_EQ(v.answer, Verdict::Answer::same) << v.why_unknown;
  EXPECT_NE(v.a_runtime.find("ONNX Runtime 1."), std::string::npos) << v.a_runtime;
  // Which of the two is the wider depends on how the processor rounds.
  EXPECT_THAT(v.outputs[0].source, testing::AnyOf(testing::HasSubstr("float"), testing::HasSubstr("noise of the one")));
}

TEST_F(Verify, ADamagedWeightIsFoundAtItsNode) {
  driver::save(network(), directory_ / "a.onnx");
  Model wrong = network();
  damage(wrong, "w2");
  driver::save(wrong, directory_ / "b.onnx");
  const Verdict v = verify("a.onnx", "b.onnx", {Runtime::ingot});
  ASSERT_EQ(v.answer, Verdict::Answer::different);
  ASSERT_TRUE(v.first) << v.why_not_bisected;
  EXPECT_EQ(v.first->name, "c2");
  EXPECT_EQ(v.first->op, "Conv");
  EXPECT_EQ(v.first->last_agreeing, "r1");
  EXPECT_NE(v.first->a_value, v.first->b_value);
}

TEST_F(Verify, ADamagedWeightIsFoundInOnnxRuntimeToo) {
  if (!has(Runtime::ort)) GTEST_SKIP() << skip_;
  driver::save(network(), directory_ / "a.onnx");
  Model wrong = network();
  damage(wrong, "w1");
  driver::save(wrong, directory_ / "b.onnx");
  const Verdict v = verify("a.onnx", "b.onnx", {Runtime::ort}, {Runtime::ort});
  ASSERT_EQ(v.answer, Verdict::Answer::different);
  ASSERT_TRUE(v.first) << v.why_not_bisected;
  EXPECT_EQ(v.first->name, "c1");
}

TEST_F(Verify, AConvertedTfliteModelAgreesInEveryRuntime) {
  write_tflite(network(), "m.tflite");
  driver::save(driver::load(directory_ / "m.tflite").model, directory_ / "m.onnx");
  bool was_any = false;
  for (const Runtime r : {Runtime::tflite, Runtime::litert}) {
    if (!has(r)) continue;
    was_any = true;
    const Verdict v = verify("m.tflite", "m.onnx", {r});
    EXPECT_EQ(v.answer, Verdict::Answer::same) << verify::info_of(r).title << ": " << v.why_unknown;
  }
  if (!was_any) GTEST_SKIP() << skip_;
}

TEST_F(Verify, AnOnnxModelAgreesWithItsTfliteForm) {
  if (!has(Runtime::tflite)) GTEST_SKIP() << skip_;
  driver::save(network(), directory_ / "m.onnx");
  write_tflite(network(), "m.tflite");
  const Verdict v = verify("m.onnx", "m.tflite", {Runtime::ingot});
  EXPECT_EQ(v.answer, Verdict::Answer::same) << v.why_unknown;
  EXPECT_NE(v.b_runtime.find("TFLite"), std::string::npos);
}

TEST_F(Verify, LayoutsThatWereAskedForAreUndone) {
  if (!has(Runtime::tflite)) GTEST_SKIP() << skip_;
  driver::save(network(), directory_ / "m.onnx");
  driver::SaveOptions options;
  options.layout.inputs_as = driver::Layout::channels_last;
  driver::save(network(), directory_ / "m.tflite", options);
  const Verdict v = verify("m.onnx", "m.tflite", {Runtime::ingot});
  EXPECT_EQ(v.answer, Verdict::Answer::same) << v.why_unknown;
  ASSERT_FALSE(v.notes.empty());
  EXPECT_NE(v.notes[0].find("channels moved to the end"), std::string::npos) << v.notes[0];
}

TEST_F(Verify, AWrongConversionFromTfliteIsFoundAtItsOperator) {
  if (!has(Runtime::tflite)) GTEST_SKIP() << skip_;
  write_tflite(network(), "m.tflite");
  Model wrong = driver::load(directory_ / "m.tflite").model;
  std::vector<Value*> kernels;
  for (Node& node : wrong.graph->nodes())
    if (node.is("Conv")) kernels.push_back(node.input(1));
  ASSERT_EQ(kernels.size(), 2u);
  damage(wrong, kernels[1]->name());
  driver::save(wrong, directory_ / "m.onnx");
  const Verdict v = verify("m.tflite", "m.onnx", {Runtime::tflite});
  ASSERT_EQ(v.answer, Verdict::Answer::different) << v.why_unknown;
  ASSERT_TRUE(v.first) << v.why_not_bisected;
  EXPECT_EQ(v.first->op, "CONV_2D");
  EXPECT_EQ(v.first->name, "c2");
}

TEST_F(Verify, AWrongConversionToTfliteIsFoundInTheWordsOfOnnx) {
  if (!has(Runtime::tflite)) GTEST_SKIP() << skip_;
  driver::save(network(), directory_ / "m.onnx");
  Model wrong = network();
  damage(wrong, "w2");
  write_tflite(wrong, "m.tflite");
  const Verdict v = verify("m.onnx", "m.tflite", {Runtime::ingot});
  ASSERT_EQ(v.answer, Verdict::Answer::different) << v.why_unknown;
  ASSERT_TRUE(v.first) << v.why_not_bisected;
  EXPECT_EQ(v.first->name, "c2");
  EXPECT_EQ(v.first->op, "Conv");
}

TEST_F(Verify, AMissingRuntimeIsNoAnswer) {
  write_tflite(network(), "m.tflite");
  driver::save(network(), directory_ / "m.onnx");
  peers_ = {};
  const Verdict v = verify("m.tflite", "m.onnx");
  EXPECT_EQ(v.answer, Verdict::Answer::unknown);
  EXPECT_NE(v.why_unknown.find("npm install"), std::string::npos) << v.why_unknown;
}

TEST_F(Verify, InputsWithoutACounterpartAreRefused) {
  driver::save(network(), directory_ / "a.onnx");
  driver::save(onnx::parse_text(R"(<ir_version: 10, opset_import: ["" : 21]>
g (float[1, 3, 8, 8] x, float[2] more) => (float[2] y) { y = Identity(more) })"),
               directory_ / "b.onnx");
  EXPECT_REFUSED(Code::bad_usage, verify("a.onnx", "b.onnx", {Runtime::ingot}));
}

}  // namespace
}  // namespace ingot
