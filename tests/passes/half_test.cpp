// What becomes half precision, and what stays float.
#include "ingot/passes/half.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ingot/engine/session.h"
#include "ingot/onnx/text.h"
#include "ingot/passes/check/check.h"

namespace ingot::passes {
namespace {

Model parse(const std::string& graph) {
  return onnx::parse_text("<ir_version: 10, opset_import: [\"\" : 21]>\n" + graph, ".", {});
}

const char* kNet =
    "g (float[2,3] x) => (float[2,2] y) <float[3,2] w = {0.5, 1, -1, 2, 0.25, 3}, float[2] b = {1, -1}> "
    "{ h = MatMul(x, w) i = Add(h, b) y = Relu(i) }";

std::vector<float> run(const Model& model) {
  const engine::Session session(model, {});
  const Tensor x = Tensor::of<float>({2, 3}, {1, 2, 3, -0.5, 0.25, 4});
  return session.run({{"x", Array::from(x)}})[0].value.array()->to_tensor().to_vector<float>();
}

bool is_valid(const Model& model) {
  for (const Problem& problem : check(model))
    if (problem.severity == Severity::error) return false;
  return true;
}

TEST(Half, KeepsNamesAndTypesOfInputsAndOutputs) {
  Model model = parse(kNet);
  const HalfReport report = to_half(model, {});
  EXPECT_EQ(report.converted, 3u);
  EXPECT_EQ(report.casts, 2u);
  EXPECT_EQ(model.graph->inputs()[0]->type.str(), "float[2,3]");
  EXPECT_EQ(model.graph->output(0)->name(), "y");
  EXPECT_EQ(model.graph->output(0)->type.str(), "float[2,2]");
  EXPECT_EQ(model.graph->find("w")->type.elem, DType::f16);
  EXPECT_TRUE(is_valid(model));
  const auto expected = run(parse(kNet)), got = run(model);
  for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(got[i], expected[i], 0.01);
}

TEST(Half, CastsNothingToWhatItIs) {
  Model model = parse(
      "g (float[2] x) => (float16[2] y) "
      "{ c = Add(b, b) d = Cast<to = 10>(c) e = Mul(d, a) y = Cast<to = 10>(f) f = Relu(e) b = Relu(x) a = Cast<to = "
      "10>(x) }");
  const HalfReport report = to_half(model, {});
  EXPECT_EQ(report.casts, 1u) << onnx::to_text(model);
  for (const Node& node : model.graph->nodes())
    EXPECT_FALSE(node.is("Cast") && node.input(0)->type.elem == node.output(0)->type.elem);
  EXPECT_EQ(model.graph->output(0)->type.str(), "float16[2]");
  EXPECT_EQ(model.graph->output(0)->name(), "y");
  EXPECT_TRUE(is_valid(model));
}

TEST(Half, ConvertsConstantsInEachOfTheirForms) {
  Model model = parse(
      "g (float[2] x) => (float[2] y) { a = Constant<value_floats = [1.5, 2.5]>() b = Constant<value_float = 0.5>() "
      "c = Constant<value = float[2] {1, 2}>() d = Add(x, a) e = Add(d, b) y = Add(e, c) }");
  EXPECT_EQ(to_half(model, {}).casts, 2u);
  EXPECT_TRUE(is_valid(model));
  EXPECT_EQ(model.graph->find("a")->type.elem, DType::f16);
}

TEST(Half, ConvertsPortsWhereAsked) {
  Model model = parse(kNet);
  to_half(model, {.converts_ports = true});
  EXPECT_EQ(model.graph->inputs()[0]->type.str(), "float16[2,3]");
  EXPECT_EQ(model.graph->output(0)->type.str(), "float16[2,2]");
  EXPECT_TRUE(is_valid(model));
}

TEST(Half, LeavesWeightsThatAreTooLargeInFloat) {
  Model model = parse("g (float[2] x) => (float[2] y) <float[2] w = {100000, 1}> { h = Mul(x, w) y = Relu(h) }");
  const HalfReport report = to_half(model, {});
  ASSERT_EQ(report.islands.size(), 1u);
  EXPECT_THAT(report.islands[0].reason, testing::HasSubstr("too large"));
  ASSERT_EQ(report.ranges.size(), 1u);
  EXPECT_EQ(report.ranges[0].too_large, 1u);
  EXPECT_TRUE(is_valid(model));
}

TEST(Half, KeepsANumberThatIsAllBetweenADivisorAndZero) {
  Model model = parse(
      "g (float[2] x) => (float[2] y) <float e = {1e-12}, float[2] w = {1e-12, 1}> { a = Add(x, e) y = Mul(a, w) }");
  to_half(model, {});
  EXPECT_GT(model.graph->find("e")->initializer->to_doubles()[0], 0);
  EXPECT_EQ(model.graph->find("w")->initializer->to_doubles()[0], 0) << "one of many";
}

TEST(Half, LeavesConstantsExactForWhatStaysFloat) {
  Model model = parse(R"(g (float[1,1,9] x) => (float[1,1,13] y) {
    scales = Constant<value = float[3] {1, 1, 1.4444444}>() h = Relu(x)
    y = Resize<mode = "linear">(h, , scales) })");
  to_half(model, {});
  EXPECT_TRUE(is_valid(model));
  const engine::Session session(model, {});
  const Array x = Array::of<float>({1, 1, 9}, std::vector<float>(9, 1));
  EXPECT_EQ(session.run({{"x", x}})[0].value.array()->dims(), (Dims{1, 1, 13}));
}

TEST(Half, KeepsWhatIsNamed) {
  Model model = parse(kNet);
  const HalfReport report = to_half(model, {.keep = {"Add"}});
  EXPECT_EQ(report.kept, 1u);
  EXPECT_EQ(model.graph->find("b")->type.elem, DType::f32);
  EXPECT_TRUE(is_valid(model));
}

TEST(Half, FeedsSubgraphsWhatTheyReadBefore) {
  Model model = parse(
      "g (float[2] x, bool c) => (float[2] y) { a = Exp(x) y = If(c) <then_branch = t () => (float[2] p) { p = Neg(a) "
      "}, "
      "else_branch = e () => (float[2] q) { q = Abs(a) }> }");
  to_half(model, {});
  EXPECT_TRUE(is_valid(model));
}

TEST(Half, LeavesWhatIsNoTensorInFloat) {
  // A sequence, an optional: their types are stated, and so are those of whoever reads them elsewhere.
  for (const char* inside : {"s = SequenceConstruct(a, a) b = SequenceAt(s, i)",
                             "s = SequenceEmpty() q = SequenceInsert(s, a) "
                             "b = ConcatFromSequence<axis = 0>(q)",
                             "s = Optional(a) b = OptionalGetElement(s)"}) {
    Model model = parse("g (float[2,3] x) => (float[N,3] y) <int64 i = {1}> { a = Relu(x) " + std::string(inside) +
                        " y = Relu(b) }");
    const HalfReport report = to_half(model, {});
    EXPECT_EQ(report.converted, 2u) << inside;
    EXPECT_TRUE(is_valid(model)) << onnx::to_text(model);
  }
}

}  // namespace
}  // namespace ingot::passes
