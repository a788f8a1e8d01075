// Model-local functions.
#include "tests/passes/problems.h"

namespace ingot {
namespace {

using test::problems_of;
using testing::ElementsAre;
using testing::IsEmpty;

/// A model that calls acme.F, and these functions.
std::vector<std::string> with_functions(std::string_view functions) {
  return problems_of(R"(<ir_version: 10, opset_import: ["": 21, "acme": 1]>
    g (float[2] x) => (float[2] y) { [call] y = acme.F(x) } )" +
                     std::string(functions));
}

TEST(CheckFunctions, AcceptsFunctionsThatCallOthers) {
  EXPECT_THAT(with_functions(R"(<domain: "acme", opset_import: ["": 21, "acme": 1]> F (a) => (b) { b = acme.G(a) }
                                <domain: "acme", opset_import: ["": 21]> G (a) => (b) { b = Relu(a) })"),
              IsEmpty());
}

TEST(CheckFunctions, AreDefinedOnce) {
  EXPECT_THAT(with_functions(R"(<domain: "acme", opset_import: ["": 21]> F (a) => (b) { b = Relu(a) }
                                <domain: "acme", opset_import: ["": 21]> F (a) => (b) { b = Neg(a) })"),
              ElementsAre("error: function 'acme.F': the function is defined twice [IG0311]"));
  EXPECT_THAT(with_functions(R"(<domain: "acme", opset_import: ["": 21]> F (a) => (b) { b = Relu(a) }
                                <domain: "acme", overload: "o", opset_import: ["": 21]> F (a) => (b) { b = Neg(a) })"),
              IsEmpty());
}

TEST(CheckFunctions, DoNotCallThemselves) {
  EXPECT_THAT(with_functions(R"(<domain: "acme", opset_import: ["acme": 1]> F (a) => (b) { b = acme.F(a) })"),
              ElementsAre("error: function 'acme.F': the function calls itself: 'acme.F' -> 'acme.F' [IG0310]"));
  EXPECT_THAT(
      with_functions(R"(<domain: "acme", opset_import: ["acme": 1]> F (a) => (b) { b = acme.G(a) }
                                <domain: "acme", opset_import: ["acme": 1]> G (a) => (b) { b = acme.F(a) })"),
      ElementsAre("error: function 'acme.F': the function calls itself: 'acme.F' -> 'acme.G' -> 'acme.F' [IG0310]"));
}

TEST(CheckFunctions, DoNotCallThemselvesInABranch) {
  EXPECT_THAT(with_functions(R"(<domain: "acme", opset_import: ["": 21, "acme": 1]> F (a) => (b) {
      c = Constant <value = bool {1}> ()
      b = If (c) <then_branch = t () => (p) { p = acme.F(a) }, else_branch = e () => (q) { q = Relu(a) }>
    })"),
              ElementsAre("error: function 'acme.F': the function calls itself: 'acme.F' -> 'acme.F' [IG0310]"));
}

TEST(CheckFunctions, CallsDoNotNestWithoutEnd) {
  std::string functions = R"(<domain: "acme", opset_import: ["acme": 1]> F (a) => (b) { b = acme.F0(a) })";
  for (int i = 0; i < 100; ++i)
    functions += R"(<domain: "acme", opset_import: ["acme": 1]> F)" + std::to_string(i) + " (a) => (b) { b = acme.F" +
                 std::to_string(i + 1) + "(a) }";
  functions += R"(<domain: "acme", opset_import: ["": 21]> F100 (a) => (b) { b = Relu(a) })";
  EXPECT_THAT(with_functions(functions),
              ElementsAre("error: function 'acme.F0': calls of functions nest more than 100 deep [IG0311]"));
}

TEST(CheckFunctions, SeeNoOuterValues) {
  EXPECT_THAT(with_functions(R"(<domain: "acme", opset_import: ["": 21]> F (a) => (b) { [n] b = Add(a, x) })"),
              ElementsAre("error: function 'acme.F': node 'n' (Add): nothing defines input 'x' [IG0302]"));
}

TEST(CheckFunctions, HaveDistinctInputsOutputsAndAttributes) {
  EXPECT_THAT(with_functions(R"(<domain: "acme", opset_import: ["": 21]> F (a, a) => (b) { b = Relu(a) })"),
              ElementsAre("error: function 'acme.F': input 'a': the name is defined again, by an input [IG0301]"));
  EXPECT_THAT(with_functions(R"(<domain: "acme", opset_import: ["": 21]> F (a) => (b, b) { b = Relu(a) })"),
              ElementsAre("error: function 'acme.F': output 'b': the function gives this output twice [IG0311]"));
  EXPECT_THAT(
      with_functions(R"(<domain: "acme", opset_import: ["": 21]> F <k, k: int = 1> (a) => (b) { b = Relu(a) })"),
      ElementsAre("error: function 'acme.F': attribute 'k' is declared twice [IG0311]"));
}

TEST(CheckFunctions, DefineTheirOutputs) {
  EXPECT_THAT(with_functions(R"(<domain: "acme", opset_import: ["": 21]> F (a) => (b) { c = Relu(a) })"),
              ElementsAre("error: function 'acme.F': output 'b': nothing defines this value [IG0302]"));
}

TEST(CheckFunctions, HaveNames) {
  EXPECT_THAT(with_functions(R"(<domain: "acme", opset_import: ["": 21]> F (a) => (b) { b = Relu(a) }
                                <domain: "acme", opset_import: ["": 21]> "" (a) => (b) { b = Relu(a) })"),
              ElementsAre("error: function 'acme.': the function has no name [IG0312]"));
}

TEST(CheckFunctions, AreOfDomainsThatTheModelImports) {
  EXPECT_THAT(
      with_functions(R"(<domain: "acme", opset_import: ["": 21]> F (a) => (b) { b = Relu(a) }
                                <domain: "other", opset_import: ["": 21]> G (a) => (b) { b = Relu(a) })"),
      ElementsAre("warning: function 'other.G': the model does not import the function's domain 'other' [IG0309]"));
}

TEST(CheckFunctions, OtherVersionsThanTheModelsAreAWarning) {
  EXPECT_THAT(
      with_functions(R"(<domain: "acme", opset_import: ["": 12]> F (a) => (b) { [n] b = Softmax(a) })"),
      ElementsAre("warning: function 'acme.F': node 'n' (Softmax): opset 12 of ai.onnx, which the function imports, "
                  "has another version of the operator than opset 21, which the model imports [IG0311]"));
}

TEST(CheckFunctions, CallsFitTheSignature) {
  EXPECT_THAT(problems_of(R"(<ir_version: 10, opset_import: ["": 21, "acme": 1]>
      g (float[2] x) => (float[2] y) { [call] y, z = acme.F <k = 1> (x, x) }
      <domain: "acme", opset_import: ["": 21]> F (a) => (b) { b = Relu(a) })"),
              ElementsAre("error: node 'call' (acme.F): 2 inputs given, but function 'acme.F' takes 1 [IG0306]",
                          "error: node 'call' (acme.F): 2 outputs given, but function 'acme.F' gives 1 [IG0306]",
                          "warning: node 'call' (acme.F): function 'acme.F' does not declare attribute 'k' [IG0304]"));
}

TEST(CheckFunctions, ReplaceOperatorsOfTheStandard) {
  EXPECT_THAT(problems_of(R"(<ir_version: 10, opset_import: ["": 21]>
      g (float[2] x) => (float[2] y) { y = MyRelu(x) }
      <domain: "", opset_import: ["": 21]> MyRelu (a) => (b) { b = Relu(a) })"),
              IsEmpty());
}

}  // namespace
}  // namespace ingot
