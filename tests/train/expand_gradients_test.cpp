// The operator Gradient: what it means in all the forms that its specification allows.
#include "ingot/train/expand_gradients.h"

#include <gtest/gtest.h>

#include "ingot/base/error.h"
#include "ingot/engine/session.h"
#include "ingot/onnx/text.h"

namespace ingot {
namespace {

Model parsed(const std::string& graph) {
  return onnx::parse_text("<ir_version: 10, opset_import: [\"\" : 21, \"ai.onnx.preview.training\" : 1]>\n" + graph);
}

std::vector<double> run(const std::string& graph, std::vector<engine::NamedDatum> inputs) {
  Model model = parsed(graph);
  train::expand_gradients(model);
  return engine::Session(model).run(inputs).front().value.array()->to_doubles();
}

engine::NamedDatum number(const char* name, double value) { return {name, Array::scalar(value)}; }

TEST(Gradient, IsThePartialDerivativeByEachName) {
  const char* graph = R"(g (double a, double b) => (double db) {
    c = Mul(a, b)
    y = Mul(c, b)
    da, db = ai.onnx.preview.training.Gradient <xs = ["a", "b"], y = "y"> (a, b)
  })";
  EXPECT_EQ(run(graph, {number("a", 3), number("b", 5)}), std::vector<double>{30});
}

TEST(Gradient, MayBeAskedBeforeItsValueIsComputed) {
  const char* graph = R"(g (double a) => (double da, double y) {
    da = ai.onnx.preview.training.Gradient <xs = ["a"], y = "y"> (a)
    y = Mul(a, a)
  })";
  EXPECT_EQ(run(graph, {number("a", 3)}), std::vector<double>{6});
}

TEST(Gradient, IsTakenAtTheValuesThatAreGiven) {
  const char* graph = R"(g (double a, double b, double p) => (double da) {
    c = Mul(a, a)
    y = Mul(c, b)
    da = ai.onnx.preview.training.Gradient <xs = ["a"], zs = ["b"], y = "y"> (p, p)
  })";
  EXPECT_EQ(run(graph, {number("a", 100), number("b", 200), number("p", 3)}), std::vector<double>{18});
}

TEST(Gradient, CanBeDifferentiatedAgain) {
  const char* graph = R"(g (double a) => (double third) {
    third = ai.onnx.preview.training.Gradient <xs = ["a"], y = "second"> (a)
    second = ai.onnx.preview.training.Gradient <xs = ["a"], y = "first"> (a)
    first = ai.onnx.preview.training.Gradient <xs = ["a"], y = "y"> (a)
    c = Mul(a, a)
    y = Mul(c, c)
  })";
  EXPECT_EQ(run(graph, {number("a", 2)}), std::vector<double>{48});
}

TEST(Gradient, OfSeveralElementsIsThatOfTheirSum) {
  const char* graph = R"(g (double[3] a) => (double[3] da) {
    y = Mul(a, a)
    da = ai.onnx.preview.training.Gradient <xs = ["a"], y = "y"> (a)
  })";
  EXPECT_EQ(run(graph, {{"a", Array::of<double>({3}, {1, 2, 3})}}), (std::vector<double>{2, 4, 6}));
}

TEST(Gradient, OfWhatDoesNotDependOnItIsZero) {
  const char* graph = R"(g (double[2] a, double b) => (double[2] da) {
    y = Mul(b, b)
    da = ai.onnx.preview.training.Gradient <xs = ["a"], zs = ["b"], y = "y"> (a, b)
  })";
  EXPECT_EQ(run(graph, {{"a", Array::of<double>({2}, {1, 2})}, number("b", 2)}), (std::vector<double>{0, 0}));
}

TEST(Gradient, StandsInABranchAsWell) {
  const char* graph = R"(g (double a, bool yes) => (double r) {
    y = Mul(a, a)
    r = If (yes) <
      then_branch = t () => (double s) { s = ai.onnx.preview.training.Gradient <xs = ["a"], y = "y"> (a) },
      else_branch = e () => (double n) { n = Neg(a) }>
  })";
  EXPECT_EQ(run(graph, {number("a", 3), {"yes", Array::scalar(true)}}), std::vector<double>{6});
  EXPECT_EQ(run(graph, {number("a", 3), {"yes", Array::scalar(false)}}), std::vector<double>{-3});
}

TEST(Gradient, ThatNamesNothingIsRefused) {
  const auto refusal = [](const std::string& node) -> std::string {
    Model model = parsed("g (double a, int64 i) => (double r) { y = Mul(a, a) r = ai.onnx.preview.training.Gradient " +
                         node + " }");
    try {
      train::expand_gradients(model);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_NE(refusal("<xs = [\"a\"], y = \"nowhere\"> (a)").find("'nowhere'"), std::string::npos);
  EXPECT_NE(refusal("<xs = [\"b\"], y = \"y\"> (a)").find("'b'"), std::string::npos);
  EXPECT_NE(refusal("<xs = [\"a\"], zs = [\"i\"], y = \"y\"> (a)").find("fewer inputs"), std::string::npos);
  EXPECT_NE(refusal("<xs = [\"a\"], y = \"r\"> (a)").find("circle"), std::string::npos);
}

TEST(Gradient, FreeModelsStayAsTheyAre) {
  Model model = onnx::parse_text("<ir_version: 8, opset_import: [\"\" : 13]> g (float a) => (float b) { b = Neg(a) }");
  train::expand_gradients(model);
  EXPECT_EQ(model.opsets.version(""), 13);
}

}  // namespace
}  // namespace ingot
