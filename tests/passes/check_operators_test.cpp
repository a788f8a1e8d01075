// Operators, their inputs and outputs, and their attributes.
#include "tests/passes/problems.h"

namespace ingot {
namespace {

using test::lines;
using test::problems_in;
using test::problems_of;
using testing::ElementsAre;
using testing::IsEmpty;

/// The hint of the only problem.
std::string hint_in(std::string_view header, std::string_view graph) {
  const auto problems = passes::check(onnx::parse_text(std::string(header) + std::string(graph)));
  EXPECT_EQ(problems.size(), 1u);
  return problems.empty() ? std::string() : problems[0].hint;
}

constexpr std::string_view k13 = R"(<ir_version: 8, opset_import: ["": 13]>)";

TEST(CheckOperators, NewOperatorsNeedTheirOpset) {
  constexpr std::string_view kGraph = "g (float[2] x) => (float[2] y) { [n] y = Gelu(x) }";
  EXPECT_THAT(problems_of(std::string(k13) + std::string(kGraph)),
              ElementsAre("error: node 'n' (Gelu): operator 'Gelu' does not exist in opset 13 of ai.onnx [IG0308]"));
  EXPECT_EQ(hint_in(k13, kGraph), "it exists since opset 20: convert the model to that or a newer one");
}

TEST(CheckOperators, MisspeltOperatorsAreRecognised) {
  EXPECT_EQ(hint_in(k13, "g (float[2] x) => (float[2] y) { y = relu(x) }"), "did you mean 'Relu'?");
  EXPECT_EQ(hint_in(k13, "g (float[2] x) => (float[2] y) { y = Sigmiod(x) }"), "did you mean 'Sigmoid'?");
  EXPECT_EQ(hint_in(k13, "g (float[2] x) => (float[2] y) { y = Foo(x) }"),
            "a custom operator needs a domain of its own");
  EXPECT_EQ(hint_in(k13, "g (float[2] x) => (float[2] y) { y = Normalizer(x) }"),
            "domain 'ai.onnx.ml' has it: set the node's domain");
  EXPECT_EQ(hint_in(k13, "g (float[2] x) => (float[2] y) { y = MyOwnOperator(x) }"),
            "a custom operator needs a domain of its own");
}

TEST(CheckOperators, CustomOperatorsAreAWarningEach) {
  EXPECT_THAT(
      problems_of(R"(<ir_version: 8, opset_import: ["": 13, "acme": 1]>
      g (float[2] x) => (float[2] y) { [p] a = acme.F(x) [q] b = acme.F(a) [r] y = acme.G(b) })"),
      ElementsAre("warning: node 'p' (acme.F): operator 'F' of domain 'acme' is not known, so its nodes are not "
                  "checked [IG0308]",
                  "warning: node 'r' (acme.G): operator 'G' of domain 'acme' is not known, so its nodes are not "
                  "checked [IG0308]"));
}

TEST(CheckOperators, DeprecatedOperatorsAreRefused) {
  EXPECT_THAT(problems_in("g (float[1,1,2,2] x, float[4] s) => (float[1,1,4,4] y) { [n] y = Upsample(x, s) }"),
              ElementsAre("error: node 'n' (Upsample): operator 'Upsample' must not be used since opset 10 [IG0313]"));
}

TEST(CheckOperators, ExperimentsAreAWarning) {
  EXPECT_THAT(
      problems_of(R"(<ir_version: 3, opset_import: ["": 7]>
      g (float[2] x) => (float[2] y) { [n] y = ScaledTanh <alpha = 1.0, beta = 1.0> (x) })"),
      ElementsAre("warning: node 'n' (ScaledTanh): operator 'ScaledTanh' is an experiment: it may change, or never be "
                  "part of ONNX [IG0324]"));
}

TEST(CheckOperators, OperatorsOfOnnxRuntimeAheadOfTheStandardAreAWarning) {
  EXPECT_THAT(problems_of(std::string(k13) + "g (float[2,3] x, float[3] s) => (float[2,3] y) "
                                             "{ [n] y = LayerNormalization <axis = -1> (x, s) }"),
              ElementsAre("warning: node 'n' (LayerNormalization): operator 'LayerNormalization' is part of ONNX since "
                          "opset 17; ONNX Runtime alone knows it in opset 13 of ai.onnx [IG0324]"));
  EXPECT_THAT(problems_of(std::string(k13) + "g (float[2,3] x) => (float[2,3] y) { [n] y = LayerNormalization (x) }"),
              testing::Contains(testing::HasSubstr("1 input given")));
}

TEST(CheckOperators, NodesNameTheirOperator) {
  EXPECT_THAT(problems_in(R"(g (float[2] x) => (float[2] y) { [n] y = ""(x) })"),
              ElementsAre("error: node 'n' (): the node names no operator [IG0312]"));
}

TEST(CheckOperators, NodesHaveInputsOrOutputs) {
  EXPECT_THAT(problems_in("g (float[2] x) => (float[2] y) { [n] = Relu() y = Relu(x) }"),
              ElementsAre("error: node 'n' (Relu): the node has neither inputs nor outputs [IG0306]"));
}

TEST(CheckOperators, InputsAndOutputsAreCounted) {
  EXPECT_THAT(problems_in("g (float[2] x) => (float[2] y) { [n] y = Relu(x, x) }"),
              ElementsAre("error: node 'n' (Relu): 2 inputs given, but the operator has 1 [IG0306]"));
  EXPECT_THAT(problems_in("g (float[2] x) => (float[2] y) { [n] y, z = Relu(x) }"),
              ElementsAre("error: node 'n' (Relu): 2 outputs given, but the operator has 1 [IG0306]"));
  EXPECT_THAT(problems_in("g (float[2] x) => (float[2] y) { [n] y = Clip(x, x, x, x) }"),
              ElementsAre("error: node 'n' (Clip): 4 inputs given, but the operator has 1 to 3 [IG0306]"));
  EXPECT_THAT(problems_in("g (float[2] x) => (float[2] y) { [n] y = Concat <axis = 0> () }"),
              ElementsAre("error: node 'n' (Concat): 0 inputs given, but the operator has at least 1 [IG0306]"));
}

TEST(CheckOperators, RequiredInputsAndOutputsHaveNames) {
  EXPECT_THAT(problems_in(R"(g (float[2] x) => (float[2] y) { [n] y = Add("", x) })"),
              ElementsAre("error: node 'n' (Add): input 0 ('A') must be given, but its name is empty [IG0306]"));
  EXPECT_THAT(
      problems_in(R"(g (float[2] x) => (bool[2] m) { [n] "", m = Dropout(x) })"),
      ElementsAre("error: node 'n' (Dropout): output 0 ('output') must be given, but its name is empty [IG0306]"));
  EXPECT_THAT(problems_in(R"(g (float[2] x, float m) => (float[2] y) { y = Clip(x, "", m) })"), ElementsAre());
  EXPECT_THAT(problems_in(R"(g (float[2] x) => (float[4] y) { [n] y = Concat <axis = 0> (x, "", x) })"),
              ElementsAre("warning: node 'n' (Concat): input 1, one of 'inputs', has an empty name [IG0306]"));
}

TEST(CheckOperators, SomeNumbersOfOutputsAreNotAllowed) {
  EXPECT_THAT(
      problems_of(R"(<ir_version: 3, opset_import: ["": 7]>
      g (float[1,2] x, float[2] s, float[2] b, float[2] m, float[2] v) => (float[1,2] y)
      { [n] y, p, q = BatchNormalization(x, s, b, m, v) })"),
      ElementsAre("error: node 'n' (BatchNormalization): 3 outputs given, but the operator gives 1 or 5 [IG0306]"));
}

TEST(CheckAttributes, UnknownOnesAreRefused) {
  EXPECT_THAT(
      problems_in("g (float[2] x) => (float[2] y) { [n] y = Relu <alpha = 1.0> (x) }"),
      ElementsAre("error: node 'n' (Relu): the operator has no attribute 'alpha' in opset version 14 [IG0304]"));
  EXPECT_THAT(problems_in("g (float[2] x) => (float[2] y) { y = Relu <__hint = 1> (x) }"), IsEmpty());
}

TEST(CheckAttributes, OnesOfOtherVersionsAreRecognised) {
  EXPECT_EQ(
      hint_in(R"(<ir_version: 8, opset_import: ["": 13]>)",
              "g (float[1,2,2] x) => (float[1,2,1] y) { y = ReduceMax <axes = [2], noop_with_empty_axes = 0> (x) }"),
      "it exists since opset 18: convert the model to that or a newer one");
  EXPECT_EQ(hint_in(R"(<ir_version: 8, opset_import: ["": 13]>)",
                    "g (float[1,2] x) => (float[2] y) { y = Squeeze <axes = [0]> (x) }"),
            "it existed up to opset 12: remove it, or import an older opset");
}

TEST(CheckAttributes, RequiredOnesArePresent) {
  EXPECT_THAT(problems_in("g (float[2] x) => (double[2] y) { [n] y = Cast(x) }"),
              ElementsAre("error: node 'n' (Cast): attribute 'to' (an int) is missing [IG0305]"));
}

TEST(CheckAttributes, TypesFitTheOperator) {
  EXPECT_THAT(problems_in("g (float[2] x) => (float[2] y) { [n] y = LeakyRelu <alpha = 1> (x) }"),
              ElementsAre("error: node 'n' (LeakyRelu): attribute 'alpha' is an int, but must be a float [IG0304]"));
}

TEST(CheckAttributes, EachIsGivenOnce) {
  EXPECT_THAT(problems_in("g (float[2] x) => (float[2] y) { [n] y = LeakyRelu <alpha = 1.0, alpha = 2.0> (x) }"),
              ElementsAre("error: node 'n' (LeakyRelu): attribute 'alpha' is given twice [IG0304]"));
}

TEST(CheckAttributes, HaveNamesAndValues) {
  EXPECT_THAT(problems_in(R"(g (float[2] x) => (float[2] y) { [n] y = LeakyRelu <"" = 1.0> (x) })"),
              ElementsAre("error: node 'n' (LeakyRelu): an attribute has no name [IG0312]"));
  EXPECT_THAT(problems_in("g (float[2] x) => (float[2] y) { [n] y = LeakyRelu <alpha: undefined> (x) }"),
              ElementsAre("error: node 'n' (LeakyRelu): attribute 'alpha' has no value [IG0304]"));
  EXPECT_THAT(
      problems_in("g () => (float[2] y) { [n] y = Constant <value: type_77> () }"),
      ElementsAre("error: node 'n' (Constant): attribute 'value' is of a type that Ingot does not know [IG0304]"));
}

TEST(CheckAttributes, ReferToAttributesOfTheFunctionOnly) {
  EXPECT_THAT(
      problems_in("g (float[2] x) => (float[2] y) { [n] y = LeakyRelu <alpha: float = @a> (x) }"),
      ElementsAre("error: node 'n' (LeakyRelu): attribute 'alpha' refers to 'a', but the node is not in a function "
                  "[IG0304]"));
  const auto in_function = [](std::string_view attribute) {
    return problems_of(R"(<ir_version: 10, opset_import: ["": 21, "acme": 1]>
      g (float[2] x) => (float[2] y) { y = acme.F <a = 0.5> (x) }
      <domain: "acme", opset_import: ["": 21]> F <a, b: float = 2.0> (p) => (q) { [n] q = LeakyRelu <alpha: )" +
                       std::string(attribute) + "> (p) }");
  };
  EXPECT_THAT(in_function("float = @a"), IsEmpty());
  EXPECT_THAT(in_function("float = @b"), IsEmpty());
  EXPECT_THAT(in_function("float = @c"),
              ElementsAre("error: function 'acme.F': node 'n' (LeakyRelu): attribute 'alpha' refers to 'c', which the "
                          "function does not declare [IG0304]"));
  EXPECT_THAT(
      in_function("int = @a"),
      ElementsAre("error: function 'acme.F': node 'n' (LeakyRelu): attribute 'alpha' is an int, but must be a float "
                  "[IG0304]"));
  EXPECT_THAT(
      in_function("float = @a = 1.0"),
      ElementsAre("error: function 'acme.F': node 'n' (LeakyRelu): attribute 'alpha' has a value although it refers "
                  "to 'a' [IG0304]"));
}

}  // namespace
}  // namespace ingot
