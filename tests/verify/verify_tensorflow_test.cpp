// TensorFlow's graphs beside TF.js: whole ones, parts of them, and the node where a wrong conversion parts from them.
#include "ingot/onnx/text.h"
#include "tests/verify/verify_fixture.h"

namespace ingot {
namespace {

constexpr const char* kGraph = R"(
node { name: "x" op: "Placeholder" attr { key: "dtype" value { type: DT_FLOAT } }
       attr { key: "shape" value { shape { dim { size: 2 } dim { size: 2 } } } } }
node { name: "w" op: "Const" attr { key: "dtype" value { type: DT_FLOAT } }
       attr { key: "value" value { tensor { dtype: DT_FLOAT tensor_shape { dim { size: 2 } dim { size: 2 } }
              float_val: 1 float_val: -2 float_val: 3 float_val: 0.5 } } } }
node { name: "product" op: "MatMul" input: "x" input: "w" attr { key: "T" value { type: DT_FLOAT } } }
node { name: "limited" op: "Relu6" input: "product" attr { key: "T" value { type: DT_FLOAT } } }
node { name: "scaled" op: "Tanh" input: "limited" attr { key: "T" value { type: DT_FLOAT } } }
)";

TEST_F(Verify, AFrozenGraphRunsInTfjs) {
  if (!has(Runtime::tfjs)) GTEST_SKIP() << skip_;
  test::write_text(directory_ / "g.pbtxt", kGraph);
  driver::save(driver::load(directory_ / "g.pbtxt").model, directory_ / "g.onnx");
  const Verdict v = verify("g.pbtxt", "g.onnx");
  EXPECT_EQ(v.answer, Verdict::Answer::same) << v.why_unknown;
  EXPECT_NE(v.a_runtime.find("TF.js"), std::string::npos);
}

TEST_F(Verify, AGraphThatParsesExamplesRunsBehindTheParser) {
  if (!has(Runtime::tfjs)) GTEST_SKIP() << skip_;
  test::write_text(directory_ / "g.pbtxt", R"(
node { name: "serialized" op: "Placeholder" attr { key: "dtype" value { type: DT_STRING } }
       attr { key: "shape" value { shape { } } } }
node { name: "none" op: "Const" attr { key: "dtype" value { type: DT_FLOAT } }
       attr { key: "value" value { tensor { dtype: DT_FLOAT tensor_shape { dim { size: 0 } } } } } }
node { name: "parse" op: "ParseSingleExample" input: "serialized" input: "none"
       attr { key: "num_sparse" value { i: 0 } } attr { key: "dense_keys" value { list { s: "x" } } }
       attr { key: "Tdense" value { list { type: DT_FLOAT } } }
       attr { key: "dense_shapes" value { list { shape { dim { size: 3 } } } } } }
node { name: "y" op: "Exp" input: "parse" attr { key: "T" value { type: DT_FLOAT } } })");
  driver::save(driver::load(directory_ / "g.pbtxt").model, directory_ / "g.onnx");
  const Verdict v = verify("g.pbtxt", "g.onnx");
  EXPECT_EQ(v.answer, Verdict::Answer::same) << v.why_unknown;
  EXPECT_NE(v.a_runtime.find("TF.js"), std::string::npos);
  ASSERT_EQ(v.inputs.size(), 1u);
  EXPECT_EQ(v.inputs[0].find("x: float[3]"), 0u) << v.inputs[0];
}

TEST_F(Verify, APartOfAGraphRunsInTfjs) {
  if (!has(Runtime::tfjs)) GTEST_SKIP() << skip_;
  test::write_text(directory_ / "g.pbtxt", kGraph);
  VerifyRequest request;
  request.a.file = directory_ / "g.pbtxt";
  request.a.load.import.inputs = {"product"};
  request.a.load.import.outputs = {"limited"};
  request.b.file = directory_ / "g.onnx";
  request.peers = peers_;
  request.input_shapes = {{"product", Shape{3}}};
  driver::LoadOptions load = request.a.load;
  load.import.input_shapes = request.input_shapes;
  driver::save(driver::load(request.a.file, load).model, request.b.file);
  const Verdict v = verify::verify(request);
  EXPECT_EQ(v.answer, Verdict::Answer::same) << v.why_unknown;
  EXPECT_NE(v.a_runtime.find("TF.js"), std::string::npos);
}

TEST_F(Verify, AFractionIsTrueInTfjsToo) {
  if (!has(Runtime::tfjs)) GTEST_SKIP() << skip_;
  test::write_text(directory_ / "g.pbtxt", std::string(kGraph) + R"(
node { name: "flags" op: "Cast" input: "scaled" attr { key: "SrcT" value { type: DT_FLOAT } }
       attr { key: "DstT" value { type: DT_BOOL } } }
node { name: "count" op: "Cast" input: "flags" attr { key: "SrcT" value { type: DT_BOOL } }
       attr { key: "DstT" value { type: DT_FLOAT } } })");
  driver::save(driver::load(directory_ / "g.pbtxt").model, directory_ / "g.onnx");
  const Verdict v = verify("g.pbtxt", "g.onnx");
  EXPECT_EQ(v.answer, Verdict::Answer::same) << v.why_unknown;
  EXPECT_NE(v.a_runtime.find("cpu"), std::string::npos) << v.a_runtime;
}

TEST_F(Verify, AWrongConversionFromTensorflowIsFoundAtItsNode) {
  if (!has(Runtime::tfjs)) GTEST_SKIP() << skip_;
  test::write_text(directory_ / "g.pbtxt", kGraph);
  Model wrong = driver::load(directory_ / "g.pbtxt").model;
  for (Node& node : wrong.graph->nodes())
    if (node.is("MatMul") || node.is("Gemm")) damage(wrong, node.input(1)->name());
  driver::save(wrong, directory_ / "g.onnx");
  const Verdict v = verify("g.pbtxt", "g.onnx");
  ASSERT_EQ(v.answer, Verdict::Answer::different) << v.why_unknown;
  ASSERT_TRUE(v.first) << v.why_not_bisected;
  EXPECT_EQ(v.first->name, "product");
  EXPECT_EQ(v.first->op, "MatMul");
}

}  // namespace
}  // namespace ingot
