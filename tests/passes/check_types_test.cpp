// Stated types, inference, what operators allow, and the graphs inside of nodes.
#include "tests/passes/problems.h"

namespace ingot {
namespace {

using test::problems_in;
using test::problems_of;
using testing::ElementsAre;
using testing::IsEmpty;

TEST(CheckTypes, InputsAndOutputsOfTheModelAreComplete) {
  EXPECT_THAT(problems_in("g (x) => (float[2] y) { y = Relu(x) }"),
              ElementsAre("error: input 'x': the input has no type [IG0323]"));
  EXPECT_THAT(problems_in("g (float x) => (float y) { y = Relu(x) }"), IsEmpty());
  Model model =
      onnx::parse_text(R"(<ir_version: 10, opset_import: ["": 21]> g (float[2] x) => (float[2] y) { y = Relu(x) })");
  model.graph->inputs()[0]->type = Type::tensor(DType::f32);
  model.graph->output(0)->type = Type();
  EXPECT_THAT(problems_of(model),
              ElementsAre("warning: input 'x': the input has no shape [IG0323]",
                          "warning: output 'y': the output has no type; it must be float[...] [IG0323]"));
  (*model.graph->nodes().begin()).domain = "acme";  // nothing can be inferred
  model.opsets.set("acme", 1);
  EXPECT_THAT(problems_of(model), testing::Contains("error: output 'y': the output has no type [IG0323]"));
  (*model.graph->nodes().begin()).domain = "";
  model.graph->inputs()[0]->type = Type::tensor(DType::undefined, Shape{2});
  model.graph->output(0)->type = Type::tensor(DType::f32, Shape{2});
  EXPECT_THAT(problems_of(model), ElementsAre("error: input 'x': the input has no element type [IG0323]"));
}

TEST(CheckTypes, NoMoreAxesAreNamedThanTheTensorHas) {
  const auto names_too_many = testing::Contains(testing::HasSubstr("more axes are named than the tensor has"));
  const auto is_too_long = testing::Contains(testing::HasSubstr("a list names more axes than any tensor has"));
  std::string zeros = "0";
  for (int i = 1; i < 5000; ++i) zeros += ", 0";
  EXPECT_THAT(problems_in("g (float[2,3] x, int64[5] s) => (float[a,b] y) { y = Slice(x, s, s, s) }"), names_too_many);
  EXPECT_THAT(problems_in("g (float[1,1] x, int64[5] s) => (float[a] y) { y = Squeeze(x, s) }"), names_too_many);
  EXPECT_THAT(problems_in("g (float[1] x, int64[5000] s) => (float[a] y) { y = Unsqueeze(x, s) }"), is_too_long);
  for (const char* node : {"Pad(x, s)", "Pad(x, p, , s)", "Reshape(x, s)", "Resize(x, , , s)", "CenterCropPad(x, s)",
                           "ReduceSum(x, s)", "MaxUnpool<kernel_shape = [1, 1]>(x, i, s)", "Slice(x, s, s)"})
    EXPECT_THAT(
        problems_in(
            std::string("g (float[1,1,2,2] x, int64[8] p, int64[1,1,2,2] i) => (float[] y) <int64[5000] s = {") +
            zeros + "}> { y = " + node + " }"),
        is_too_long)
        << node;
}

TEST(CheckTypes, ARankThatCannotBeKnownIsANote) {
  Model model = onnx::parse_text(
      R"(<ir_version: 10, opset_import: ["": 21]> g (float[2] x, int64[N] s) => (float[2] y) { y = Reshape(x, s) })");
  model.graph->output(0)->type.shape.reset();
  EXPECT_THAT(problems_of(model),
              ElementsAre("note: output 'y': the output has no shape, and its rank cannot be inferred [IG0323]"));
  EXPECT_NO_THROW(passes::require_valid(model));
  Model known =
      onnx::parse_text(R"(<ir_version: 10, opset_import: ["": 21]> g (float[2] x) => (float[2] y) { y = Relu(x) })");
  known.graph->output(0)->type.shape.reset();
  EXPECT_THAT(problems_of(known), ElementsAre("warning: output 'y': the output has no shape [IG0323]"));
}

// PyTorch up to 1.0 wrote the shapes of Reshape so, and ONNX Runtime runs it.
TEST(CheckTypes, WholeConstantsBeforeOpset9AreAWarning) {
  const Model model = onnx::parse_text(R"(<ir_version: 3, opset_import: ["": 8]> g (float[2,3] x) => (float[6] y) {
    s = Constant<value = int64[1] {-1}>() y = Reshape(x, s) })");
  EXPECT_THAT(problems_of(model),
              ElementsAre(testing::StartsWith(
                  "warning: the node that makes 's' (Constant): output 's' is tensor(int64), but 'output' allows")));
  EXPECT_NO_THROW(passes::require_valid(model));
}

TEST(CheckTypes, InnerTypesAreComplete) {
  Model model =
      onnx::parse_text(R"(<ir_version: 10, opset_import: ["": 21]> g (float[2] x) => (float[2] y) { y = Relu(x) })");
  const auto with_input = [&](Type type) {
    if (model.graph->inputs().size() == 2) {
      model.graph->inputs()[1]->type = std::move(type);
    } else {
      model.graph->add_input("z", std::move(type));
    }
    return problems_of(model);
  };
  EXPECT_THAT(with_input(Type::map(DType::f32, Type::tensor(DType::f32))),
              ElementsAre("error: input 'z': the keys of a map are integers or strings, not float [IG0318]"));
  EXPECT_THAT(with_input(Type::map(DType::i64, Type())),
              ElementsAre("error: input 'z': a map needs the type of its values [IG0318]"));
  EXPECT_THAT(with_input(Type::map(DType::undefined, Type::tensor(DType::f32))),
              ElementsAre("error: input 'z': a map needs the type of its keys [IG0318]"));
  EXPECT_THAT(with_input(Type::sequence(Type())),
              ElementsAre("error: input 'z': a sequence needs the type of its elements [IG0318]"));
  EXPECT_THAT(with_input(Type::optional(Type())),
              ElementsAre("error: input 'z': an optional needs the type of its element [IG0318]"));
  EXPECT_THAT(with_input(Type::optional(Type::optional(Type::tensor(DType::f32)))),
              ElementsAre("error: input 'z': an optional cannot hold an optional [IG0318]"));
  EXPECT_THAT(with_input(Type::optional(Type::sequence(Type::tensor(DType::f32)))), IsEmpty());
  EXPECT_THAT(with_input(Type::tensor(DType::f32, Shape{-1, 3})),
              ElementsAre("warning: input 'z': dimension -1 in float[-1,3] is negative [IG0318]"));
}

TEST(CheckTypes, OperatorsAllowTheTypes) {
  EXPECT_THAT(problems_in("g (string[2] x) => (string[2] y) { [n] y = Neg(x) }"),
              ElementsAre(testing::StartsWith("error: node 'n' (Neg): input 'x' is tensor(string), but 'X' allows "
                                              "tensor(float), tensor(int8)")));
}

TEST(CheckTypes, OlderOpsetsAllowFewerTypes) {
  const auto problems = passes::check(onnx::parse_text(
      R"(<ir_version: 8, opset_import: ["": 13]> g (int32[2] x) => (int32[2] y) { [n] y = Relu(x) })"));
  ASSERT_EQ(problems.size(), 1u);
  EXPECT_EQ(problems[0].message,
            "input 'x' is tensor(int32), but 'X' allows tensor(float), tensor(float16), "
            "tensor(double), tensor(bfloat16)");
  EXPECT_EQ(problems[0].hint, "the operator allows it since opset 14: convert the model, or insert a Cast");
}

TEST(CheckTypes, OneTypeVariableIsOneType) {
  EXPECT_THAT(
      problems_in("g (float[2] x, double[2] z) => (float[2] y) { [n] y = Add(x, z) }"),
      ElementsAre("error: node 'n' (Add): input 'z' is tensor(double), but input 'x' is tensor(float): the operator "
                  "wants one type (T) for both [IG0307]"));
  EXPECT_THAT(problems_in("g (float[2] x, double[2] z) => (float[6] y) { [n] y = Concat <axis = 0> (x, x, z) }"),
              ElementsAre("error: node 'n' (Concat): input 'z' is tensor(double), but input 'x' is tensor(float): the "
                          "operator wants one type (T) for both [IG0307]"));
}

TEST(CheckTypes, TypesThatOnlyInferenceKnowsCount) {
  EXPECT_THAT(
      problems_in("g (float[2] x, double[2] z) => (float[2] y) { a = Cast <to = 11> (x) [n] y = Sub(x, a) }"),
      ElementsAre("error: node 'n' (Sub): input 'a' is tensor(double), but input 'x' is tensor(float): the operator "
                  "wants one type (T) for both [IG0307]"));
}

TEST(CheckTypes, StatedTypesAgreeWithInferredOnes) {
  EXPECT_THAT(
      problems_in("g (float[2] x) => (double[2] y) { [n] y = Relu(x) }"),
      ElementsAre("error: value 'y': it is stated to be double[2], but node 'n' (Relu) gives float[2] (tensor(float) "
                  "is not tensor(double)) [IG0402]"));
  EXPECT_THAT(
      problems_in("g (float[2,3] x) => (float[2,4] y) { [n] y = Relu(x) }"),
      ElementsAre("warning: value 'y': it is stated to be float[2,4], but node 'n' (Relu) gives float[2,3] (dimension "
                  "1: 3 is not 4) [IG0402]"));
  EXPECT_THAT(problems_in("g (float[N,3] x) => (float[M,K] y) { y = Relu(x) }"), IsEmpty());
}

TEST(CheckTypes, StatedTypesInBranchesAgreeWithInferredOnes) {
  EXPECT_THAT(
      problems_in(R"(g (bool c, float[2] x) => (float[2] y) {
      [if] y = If (c) <then_branch = t () => (float[2] b) <float[3] a> { [n] a = Neg(x) b = Relu(a) },
                       else_branch = e () => (float[2] d) { d = Abs(x) }>
    })"),
      ElementsAre("warning: node 'if' (If), then_branch: value 'a': it is stated to be float[3], but node 'if' (If), "
                  "then_branch: node 'n' (Neg) gives float[2] (dimension 0: 2 is not 3) [IG0402]"));
}

TEST(CheckTypes, BranchesMayUseOneNameForDifferentTypes) {
  EXPECT_THAT(problems_of(R"(<ir_version: 8, opset_import: ["": 13]> g (bool c, float[2] x) => (float[2] y) {
      y = If (c) <then_branch = t () => (float[2] z) { a = Cast <to = 7> (x) b = Neg(a) z = Cast <to = 1> (b) },
                  else_branch = e () => (float[2] z) { a = Neg(x) b = Add(a, x) z = Relu(b) }>
    })"),
              IsEmpty());
}

TEST(CheckTypes, ShapesFitTheOperator) {
  EXPECT_THAT(problems_in("g (float[2,3] x, float[4,5] z) => (float[2,5] y) { [n] y = MatMul(x, z) }"),
              ElementsAre(testing::StartsWith("error: node 'n' (MatMul): ")));
  EXPECT_THAT(problems_in("g (float[2] x, float[3] z) => (float[3] y) { [n] y = Add(x, z) }"),
              ElementsAre("error: node 'n' (Add): dimensions 2 and 3 cannot be broadcast [IG0401]"));
}

TEST(CheckTypes, InferenceSaysNothingMoreOfBrokenNodes) {
  EXPECT_THAT(
      problems_in("g (float[2] x) => (float[2] y) { [n] y = Transpose <perm = [0, 1], axis = 2> (x) }"),
      ElementsAre("error: node 'n' (Transpose): the operator has no attribute 'axis' in opset version 21 [IG0304]"));
}

TEST(CheckTypes, InferenceCanBeLeftOut) {
  const Model model = onnx::parse_text(
      R"(<ir_version: 10, opset_import: ["": 21]> g (float[2] x, float[3] z) => (float[3] y) { [n] y = Add(x, z) })");
  EXPECT_THAT(test::lines(passes::check(model, {.infer = false})), IsEmpty());
}

TEST(CheckTypes, FunctionsAreInferredForTheirCalls) {
  EXPECT_THAT(problems_of(R"(<ir_version: 10, opset_import: ["": 21, "acme": 1]>
      g (float[2] x, float[3] z) => (float[3] y) { y = acme.F(x, z) }
      <domain: "acme", opset_import: ["": 21]> F (p, q) => (r) { [n] r = Add(p, q) })"),
              ElementsAre("error: function 'acme.F': node 'n' (Add): dimensions 2 and 3 cannot be broadcast [IG0401]"));
}

TEST(CheckSubgraphs, BranchesHaveNoInputsAndTheOutputsOfTheNode) {
  EXPECT_THAT(
      problems_in(R"(g (bool c, float[2] x) => (float[2] y) {
      [if] y = If (c) <then_branch = t (float[2] a) => (float[2] b) { b = Neg(a) },
                       else_branch = e () => (float[2] d, float[2] f) { d = Abs(x) f = Neg(x) }>
    })"),
      ElementsAre("error: node 'if' (If), then_branch: the graph has 1 input, but If gives it 0 [IG0315]",
                  "error: node 'if' (If), else_branch: the graph has 2 outputs, but If expects 1 (one per output of "
                  "the node) [IG0315]"));
}

TEST(CheckSubgraphs, BranchesGiveTheSameTypes) {
  EXPECT_THAT(problems_in(R"(g (bool c, float[2] x) => (float[2] y) {
      [if] y = If (c) <then_branch = t () => (float[2] b) { b = Neg(x) },
                       else_branch = e () => (int64[2] d) { d = Cast <to = 7> (x) }>
    })"),
              testing::Contains("error: node 'if' (If): output 0 is tensor(float) in then_branch and tensor(int64) in "
                                "else_branch [IG0307]"));
}

TEST(CheckSubgraphs, LoopsPassWhatTheBodyTakes) {
  EXPECT_THAT(
      problems_in(R"(g (int64 n, bool c, float[2] x) => (float[2] y) {
      [loop] y = Loop (n, c, x) <body = b (int64 i, bool k) => (bool k2) { k2 = Identity(k) }>
    })"),
      ElementsAre("error: node 'loop' (Loop), body: the graph has 2 inputs, but Loop gives it 3 (iteration, "
                  "condition and carried values) [IG0315]",
                  "error: node 'loop' (Loop), body: the graph has 1 output, but Loop expects 2 (condition and one "
                  "per output of the node) [IG0315]"));
  EXPECT_THAT(
      problems_in(R"(g (int64 n, bool c, float[2] x) => (float[2] y) {
      [loop] y = Loop (n, c, x) <body = b (int64 i, bool k, int32[2] s) => (bool k2, float[2] t)
                                         { k2 = Identity(k) t = Cast <to = 1> (s) }>
    })"),
      testing::Contains("error: node 'loop' (Loop), body: input 's': the graph states tensor(int32), but the node "
                        "passes 'x', which is tensor(float) [IG0307]"));
}

TEST(CheckSubgraphs, ScansPassWhatTheBodyTakes) {
  EXPECT_THAT(
      problems_in(R"(g (float[2] x, float[5,2] z) => (float[2] y, float[5,2] w) {
      [scan] y, w = Scan (x, z) <num_scan_inputs = 1, scan_input_axes = [0, 0],
        body = b (float[2] s) => (float[2] t, float[2] u) { t = Relu(s) u = Neg(s) }>
    })"),
      ElementsAre("error: node 'scan' (Scan), body: the graph has 1 input, but Scan gives it 2 (one per input of the "
                  "node) [IG0315]",
                  "error: node 'scan' (Scan): attribute 'scan_input_axes' has 2 values, but there are 1 scanned "
                  "inputs [IG0304]"));
  EXPECT_THAT(problems_in(R"(g (float[2] x) => (float[2] y) {
      [scan] y = Scan (x) <num_scan_inputs = 2, body = b (float[2] s) => (float[2] t) { t = Relu(s) }>
    })"),
              testing::Contains("error: node 'scan' (Scan): attribute 'num_scan_inputs' is 2, but the node has 1 input "
                                "[IG0304]"));
}

TEST(CheckSubgraphs, SequenceMapPassesWhatTheBodyTakes) {
  EXPECT_THAT(
      problems_in(R"(g (seq(float[2]) x) => (seq(float[2]) y) {
      [map] y = SequenceMap (x) <body = b (float[2] s, float[2] r) => (float[2] t) { t = Add(s, r) }>
    })"),
      testing::Contains("error: node 'map' (SequenceMap), body: the graph has 2 inputs, but SequenceMap gives it 1 "
                        "(one per input of the node) [IG0315]"));
}

}  // namespace
}  // namespace ingot
