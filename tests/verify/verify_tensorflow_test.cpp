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

TEST_F(Verify, AStepOnTheWayToAnOutputIsNotTheOutput) {
  const Model model = onnx::parse_text(R"(<ir_version: 10, opset_import: ["" : 21]>
      g (float[1,3] x) => (float[1,3] dense) <float[3] b = {3, -2, 1}> {
        "dense/Add" = Add(x, b) %{metadata_props: ["ingot.source": "dense"]}
        dense = Softmax("dense/Add") %{metadata_props: ["ingot.source": "dense"]} })");
  driver::save(model, directory_ / "m.onnx");
  driver::SaveOptions options;
  options.to = &driver::format_by_name("savedmodel");
  driver::save(model, directory_ / "saved", options);
  const Verdict v = verify("m.onnx", "saved", {Runtime::ingot}, {Runtime::ingot});
  EXPECT_EQ(v.answer, Verdict::Answer::same) << (v.first ? v.first->name : v.why_unknown);
}

/// What is written for TF.js gives the model's numbers there.
class InTfjs : public Verify {
 protected:
  Verdict written(const std::string& graph, Runtime beside = Runtime::ingot) {
    const Model model = onnx::parse_text("<ir_version: 10, opset_import: [\"\" : 21]> g " + graph);
    driver::save(model, directory_ / "m.onnx");
    driver::SaveOptions options;
    options.to = &driver::format_by_name("tfjs");
    driver::save(driver::load(directory_ / "m.onnx").model, directory_ / "web", options);
    return verify("m.onnx", "web", {beside}, {Runtime::tfjs});
  }
  static std::string said(const Verdict& v) {
    std::string text = v.why_unknown;
    for (const auto& o : v.outputs) text += o.a_name + ": " + o.figure + " " + o.worst + "; ";
    return text;
  }
};

TEST_F(InTfjs, WholeNumbersAreTakenInSteps) {
  if (!has(Runtime::tfjs)) GTEST_SKIP() << skip_;
  const Verdict v = written(R"((int32[7,5] x, int64[N] y) => (int32[4,2] a, bool[3,5] b, int64[M] c)
<int64[2] low = {0, -2}, int64[2] high = {7, -9}, int64[2] axes = {0, 1}, int64[2] steps = {2, -3},
 int64[1] zero = {0}, int64[1] one = {1}, int64[1] five = {5}, int64[1] two = {2}, int32 limit = {0}> {
  a = Slice(x, low, high, axes, steps)
  above = Greater(x, limit)  b = Slice(above, zero, five, zero, two)
  count = Size(y)  back = Neg(count)  backs = Unsqueeze(back, zero)  c = Slice(y, backs, five, zero, two) })");
  EXPECT_EQ(v.answer, Verdict::Answer::same) << said(v);
}

TEST_F(InTfjs, NumbersBeyondATypeOfFewBitsAreWrapped) {
  if (!has(Runtime::tfjs)) GTEST_SKIP() << skip_;
  if (!has(Runtime::ort)) GTEST_SKIP() << skip_;  // ONNX leaves open what they are; this is what it makes of them
  const Verdict v = written(R"((float[40] x) => (uint8[40] a, int8[40] b, uint16[40] c, float[40] d)
<float large = {300}, float low = {-128}, float high = {127}> {
  far = Mul(x, large)  a = Cast<to = 2>(far)  b = Cast<to = 3>(far)  c = Cast<to = 4>(b)
  near = Clip(far, low, high)  few = Cast<to = 3>(near)  d = Cast<to = 1>(few) })",
                            Runtime::ort);
  EXPECT_EQ(v.answer, Verdict::Answer::same) << said(v);
}

TEST_F(InTfjs, WholeNumbersMoveFromDepthToSpace) {
  if (!has(Runtime::tfjs)) GTEST_SKIP() << skip_;
  const Verdict v = written(R"((int32[1,8,2,3] x) => (int32[1,2,4,6] a, int32[1,2,4,6] b) {
  a = DepthToSpace<blocksize = 2>(x)  b = DepthToSpace<blocksize = 2, mode = "CRD">(x) })");
  EXPECT_EQ(v.answer, Verdict::Answer::same) << said(v);
}

TEST_F(InTfjs, AnOutputThatIsListedTwiceIsOneValue) {
  if (!has(Runtime::tfjs)) GTEST_SKIP() << skip_;
  const Verdict v = written("(float[2] x) => (float[2] y, float[2] y) { y = Relu(x) }");
  EXPECT_EQ(v.answer, Verdict::Answer::same) << said(v);
  ASSERT_EQ(v.outputs.size(), 2u);
  EXPECT_EQ(v.outputs[1].b_name, "y");
}

TEST_F(InTfjs, HalvesAreFloats) {
  if (!has(Runtime::tfjs)) GTEST_SKIP() << skip_;
  const Verdict v = written(R"((float16[9] x, float[9] y) => (float[9] a, float16[9] b) <float16 tiny = {0.000001}> {
  h = Cast<to = 10>(y)  s = Add(x, h)  a = Cast<to = 1>(s)  b = Mul(h, tiny) })");
  EXPECT_EQ(v.answer, Verdict::Answer::same) << said(v);
}

}  // namespace
}  // namespace ingot
