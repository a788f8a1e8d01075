// Inlining of functions that are not as they should be: refused, and nothing is left that reads what is gone.
#include "ingot/passes/inline_functions.h"

#include <gmock/gmock.h>

#include "ingot/base/error.h"
#include "ingot/onnx/text.h"
#include "ingot/passes/convert_version.h"
#include "ingot/passes/infer.h"

namespace ingot {
namespace {

using testing::HasSubstr;

/// A model that calls a function of two inputs, which `body` may still change.
Model calling(const std::function<void(Graph&)>& body) {
  Model model = onnx::parse_text(R"(<ir_version: 10, opset_import: ["": 21, "own": 1]>
    g (float[2] x) => (float[2] y) { y = own.f(x) z = Neg(y) }
    <domain: "own", opset_import: ["": 21]> f (a, b) => (r) { r = Abs(a) })");
  body(*model.functions[0]->body);
  return model;
}

std::string refusal(const std::function<void(Graph&)>& body) {
  Model model = calling(body);
  try {
    passes::inline_functions(model);
  } catch (const Error& error) {
    return error.message();
  }
  return {};
}

TEST(InlineFunctions, RefusesOutputsThatNothingDefines) {
  const auto empty = [](Graph& body) {
    body.set_output(0, body.add_undefined("nothing"));
    body.erase(body.first());
  };
  EXPECT_THAT(refusal(empty), HasSubstr("function 'f' uses 'nothing', which nothing defines"));
}

TEST(InlineFunctions, RefusesOutputsThatTheCallLeavesOpen) {
  const auto second = [](Graph& body) { body.set_output(0, body.inputs()[1]); };
  EXPECT_THAT(refusal(second), HasSubstr("function 'f' does not give output 0"));
}

TEST(InlineFunctions, HandsInputsOn) {
  Model model = calling([](Graph& body) {
    body.set_output(0, body.inputs()[0]);
    body.erase(body.first());
  });
  passes::inline_functions(model);
  EXPECT_EQ(model.graph->output(0)->producer()->op, "Identity");
  EXPECT_TRUE(model.functions.empty());
}

TEST(InlineFunctions, TakesBodiesThatAreNotSorted) {
  Model model = calling([](Graph& body) {
    Node* first = body.add_node("Neg", "", body.first());
    first->add_input(body.output(0));
    body.set_output(0, first->add_output("late"));
  });
  passes::inline_functions(model);
  check_invariants(model);
  EXPECT_EQ(model.graph->first()->op, "Abs");
}

/// The text of the model without its functions.
std::string inlined(const std::string& text) {
  Model model = onnx::parse_text(text);
  passes::inline_functions(model);
  return onnx::to_text(model);
}

TEST(InlineFunctions, BringsBodiesToTheVersionsOfTheModel) {
  const std::string old = inlined(R"(<ir_version: 8, opset_import: ["": 17, "own": 1]>
    g (float[2,3] x) => (float[2] y) { y = own.f(x) }
    <domain: "own", opset_import: ["": 11]> f (x) => (y) { y = ReduceSum<axes = [1], keepdims = 0>(x) })");
  EXPECT_THAT(old, HasSubstr("y = ReduceSum <keepdims: int = 0> (x, "));
  const std::string newer = inlined(R"(<ir_version: 8, opset_import: ["": 11, "own": 1]>
    g (float[2,3] x) => (float[2] y) { y = own.f(x) }
    <domain: "own", opset_import: ["": 17]> f (x) => (y) { a = Constant<value = int64[1] {1}>() y = ReduceSum<keepdims = 0>(x, a) })");
  EXPECT_THAT(newer, HasSubstr("axes: ints = [1]"));
}

TEST(InlineFunctions, ImportsWhatOnlyBodiesDid) {
  const std::string text = inlined(R"(<ir_version: 8, opset_import: ["own": 1]>
    g (float[2,3] x) => (float[2,3] y) { y = own.f(x) }
    <domain: "own", opset_import: ["": 17, "com.microsoft": 1]> f (x) => (y) { z = com.microsoft.Gelu(x) y = Neg(z) })");
  EXPECT_THAT(text, HasSubstr("\"\" : 17"));
  EXPECT_THAT(text, HasSubstr("\"com.microsoft\" : 1"));
}

/// What the call says of the axis is only known there: Softmax of a matrix [2,3] along axis 0, whose default is
/// another.
std::string with_axis(int model_opset, int body_opset) {
  return "<ir_version: 8, opset_import: [\"\": " + std::to_string(model_opset) + R"(, "own": 1]>
    g (float16[2,3] x) => (float16[2,3] y) { y = own.f<by = 0>(x) }
    <domain: "own", opset_import: ["": )" +
         std::to_string(body_opset) + "]> f <by> (x) => (y) { y = Softmax<axis: int = @by>(x) }";
}

TEST(InlineFunctions, KeepsTheValuesOfCallsInOtherVersions) {
  EXPECT_THAT(inlined(with_axis(12, 13)), HasSubstr("Transpose <perm: ints = [1, 0]>"));
  EXPECT_THAT(inlined(with_axis(13, 12)), HasSubstr("Flatten <axis: int = 0>"));
}

TEST(InlineFunctions, HandsTheValuesOfCallsThroughFunctionsInOtherVersions) {
  const std::string text = inlined(R"(<ir_version: 8, opset_import: ["": 17, "own": 1]>
    g (float[2] x) => (float[2] y) { y = own.outer<a = 0.25>(x) }
    <domain: "own", opset_import: ["": 17, "own": 1]> outer <a> (x) => (y) { y = own.inner<b: float = @a>(x) }
    <domain: "own", opset_import: ["": 11]> inner <b> (x) => (y) { y = Elu<alpha: float = @b>(x) })");
  EXPECT_THAT(text, HasSubstr("Elu <alpha: float = 0.25>"));
}

TEST(ConvertVersion, KeepsTheValuesOfCallsOfFunctions) {
  const auto moved = [](int from, int to) {
    Model model = onnx::parse_text(with_axis(from, from));
    OpsetImports targets;
    targets.set("", to);
    passes::convert_version(model, targets);
    return onnx::to_text(model);
  };
  EXPECT_THAT(moved(13, 12), HasSubstr("Transpose <perm: ints = [1, 0]>"));
  EXPECT_THAT(moved(12, 13), HasSubstr("Flatten <axis: int = 0>"));
}

TEST(ConvertVersion, KeepsFunctionsWhoseBodiesStayTheSame) {
  Model model = onnx::parse_text(R"(<ir_version: 8, opset_import: ["": 17, "own": 1]>
    g (float[2] x) => (float[2] y) { y = own.f(x) }
    <domain: "own", opset_import: ["": 17]> f (x) => (y) { z = Relu(x) y = Transpose(z) })");
  OpsetImports targets;
  targets.set("", 21);
  passes::convert_version(model, targets);
  ASSERT_EQ(model.functions.size(), 1u);
  EXPECT_EQ(model.functions[0]->opsets.version(""), 21);
  targets.set("", 17);  // Transpose of 21 takes types that the older one does not
  passes::convert_version(model, targets);
  EXPECT_TRUE(model.functions.empty());
}

TEST(Infer, KnowsWhatCallsSayInOlderVersions) {
  Model model = onnx::parse_text(R"(<ir_version: 8, opset_import: ["": 17, "own": 1]>
    g (float[2,5,6,1] x) => (y) { y = own.f<by = 2>(x) }
    <domain: "own", opset_import: ["": 17]> f <by> (x) => (y) { y = DFT<axis: int = @by, onesided = 1>(x) })");
  passes::infer(model, {});
  EXPECT_EQ(model.graph->output(0)->type.str(), "float[2,5,4,2]");
  Model labels = onnx::parse_text(R"(<ir_version: 8, opset_import: ["": 17, "ai.onnx.ml": 1, "own": 1]>
    g (string[3] x) => (y) { y = own.f(x) }
    <domain: "own", opset_import: ["ai.onnx.ml": 1]> f (x) => (y) {
      y = ai.onnx.ml.LabelEncoder<classes_strings = ["a", "b"]>(x) })");
  passes::infer(labels, {});
  EXPECT_EQ(labels.graph->output(0)->type.str(), "int64[3]");
}

}  // namespace
}  // namespace ingot
