// ONNX -> TFLite: which operators come out, and what is refused.
#include <gtest/gtest.h>

#include <algorithm>

#include "ingot/backends/tflite/export.h"
#include "ingot/backends/tflite/type_tables.h"
#include "ingot/base/error.h"
#include "ingot/formats/tflite/check.h"
#include "ingot/formats/tflite/reader.h"
#include "ingot/formats/tflite/writer.h"
#include "ingot/onnx/text.h"

namespace ingot::backends::tflite {
namespace {

namespace tfl = formats::tflite;

Exported exported(const std::string& graph, const ExportOptions& options = {}, int opset = 21) {
  const std::string head = "<ir_version: 10, opset_import: [\"\" : " + std::to_string(opset) + "]>\n";
  return to_tflite(onnx::parse_text(head + graph, ".", {}), options);
}

std::string operators(const Exported& e, std::size_t subgraph = 0) {
  std::string text;
  for (const tfl::Operator& op : e.model.subgraphs.at(subgraph).operators)
    text += (text.empty() ? "" : " ") + tfl::describe(op.code);
  return text;
}

std::string refusal_of(const std::string& graph, const ExportOptions& options = {}) {
  try {
    exported(graph, options);
  } catch (const Error& error) {
    EXPECT_EQ(error.exit_code(), 4);
    return error.message();
  }
  return "";
}

TEST(TfliteExport, ANetworkHasTransposesAtItsEndsOnly) {
  const Exported e = exported(R"(g (float[1,3,8,8] x, float[4,3,3,3] w, float[4,4,3,3] v) => (float[1,4,8,8] y) {
      a = Conv<pads = [1,1,1,1]>(x, w)  b = Relu(a)  c = Conv<pads = [1,1,1,1]>(b, v)  y = Add(c, b) })");
  // Weights that are inputs are transposed at run time; the data twice.
  std::size_t data = 0;
  const tfl::SubGraph& main = e.model.subgraphs[0];
  for (const tfl::Operator& op : main.operators) data += op.code.builtin == tfl::BuiltinOperator::TRANSPOSE;
  EXPECT_EQ(data, 4U) << operators(e);
  EXPECT_EQ(e.layout.transposes_after, 2U);
}

TEST(TfliteExport, InputsCanBeAskedForWithChannelsLast) {
  ExportOptions options;
  options.inputs_as = options.outputs_as = passes::Layout::channels_last;
  const Exported e = exported(
      R"(g (float[1,2,4,4] x) => (float[1,2,2,2] y) { a = MaxPool<kernel_shape = [2,2], strides = [2,2]>(x)  y = Relu(a) })",
      options);
  EXPECT_EQ(operators(e), "MAX_POOL_2D");  // with the activation inside
  const tfl::SubGraph& main = e.model.subgraphs[0];
  EXPECT_EQ(main.tensors[static_cast<std::size_t>(main.inputs[0])].shape, (std::vector<std::int64_t>{1, 4, 4, 2}));
}

TEST(TfliteExport, NamesAreTheSignature) {
  const Exported e =
      exported("g (float[N,4] first, float[N,4] second) => (float[N,4] sum) { sum = Add(first, second) }");
  ASSERT_EQ(e.model.signature_defs.size(), 1U);
  EXPECT_EQ(e.model.signature_defs[0].signature_key, "serving_default");
  EXPECT_EQ(e.model.signature_defs[0].inputs[1].name, "second");
  EXPECT_EQ(e.model.signature_defs[0].outputs[0].name, "sum");
}

TEST(TfliteExport, NamedSizesAreDynamic) {
  const Exported e = exported("g (float[N,4] x) => (float[N,4] y) { y = Relu(x) }");
  const tfl::SubGraph& main = e.model.subgraphs[0];
  const tfl::Tensor& x = main.tensors[static_cast<std::size_t>(main.inputs[0])];
  EXPECT_EQ(x.shape, (std::vector<std::int64_t>{1, 4}));
  EXPECT_EQ(x.shape_signature, (std::vector<std::int64_t>{-1, 4}));
}

TEST(TfliteExport, EverythingThatCannotBeSaidIsListedAtOnce) {
  const std::string message =
      refusal_of(R"(g (float[3] x, double[3] d, float[N,N] m) => (double[3] y, float e, float[3] z) {
      [one] y = Abs(d)  [two] e = Det(m)  z = Relu(x) })");
  EXPECT_NE(message.find("node 'one' (Abs): TFLite has no kernel for double"), std::string::npos) << message;
  EXPECT_NE(message.find("node 'two' (Det)"), std::string::npos) << message;
  EXPECT_EQ(message.find("Relu"), std::string::npos) << message;
}

TEST(TfliteExport, TypesAreNarrowedOnRequestAndListed) {
  const std::string graph = "g (double[3] d) => (double[3] y) { [one] y = Abs(d) }";
  ExportOptions options;
  options.auto_cast = AutoCast::up;
  EXPECT_NE(refusal_of(graph, options), "");
  options.auto_cast = AutoCast::all;
  const Exported e = exported(graph, options);
  EXPECT_EQ(operators(e), "CAST ABS CAST");
  ASSERT_EQ(e.notes.size(), 1U);
  EXPECT_EQ(e.notes[0], "node 'one' (Abs): computed in float instead of double");
}

TEST(TfliteExport, CustomOperatorsStayOnRequest) {
  ExportOptions options;
  options.allow_custom = {"Det"};
  EXPECT_EQ(operators(exported("g (float[3,3] m) => (float e) { e = Det(m) }", options)), "CUSTOM:Det");
}

TEST(TfliteExport, BranchesAndLoopsAreSubgraphs) {
  const Exported e = exported(R"(g (bool c, float[2] x) => (float[2] y) {
      y = If(c) <then_branch = t () => (float[2] a) { a = Neg(x) }, else_branch = f () => (float[2] b) { b = Abs(x) }> })");
  EXPECT_EQ(operators(e), "IF");
  ASSERT_EQ(e.model.subgraphs.size(), 3U);
  EXPECT_EQ(operators(e, 1), "NEG");
  const Exported loop = exported(R"(g (int64 n, bool c, float[2] x) => (float[2] y) {
      y = Loop(n, c, x) <body = b (int64 i, bool go, float[2] s) => (bool on, float[2] next) {
          on = Identity(go)  next = Add(s, x) }> })");
  EXPECT_EQ(operators(loop), "WHILE");
  EXPECT_EQ(operators(loop, 1), "LESS LOGICAL_AND");
}

TEST(TfliteExport, QuantisedGraphsAreQuantised) {
  const Exported e = exported(R"(g (int8[1,2,4,4] x) => (int8[1,1,4,4] y)
      <float s = {0.5}, int8 z = {0}, int8[1,2,1,1] w = {3, -4}, float ws = {0.25}> {
      a = DequantizeLinear(x, s, z)  b = DequantizeLinear(w, ws, z)  c = Conv(a, b)  y = QuantizeLinear(c, s, z) })");
  EXPECT_EQ(operators(e), "TRANSPOSE CONV_2D RESHAPE");
  for (const tfl::Operator& op : e.model.subgraphs[0].operators) {
    if (op.code.builtin != tfl::BuiltinOperator::CONV_2D) continue;
    const tfl::Tensor& w = e.model.subgraphs[0].tensors[static_cast<std::size_t>(op.inputs[1])];
    EXPECT_EQ(w.type, tfl::TensorType::INT8);
    ASSERT_TRUE(w.quantization);
    EXPECT_EQ(w.quantization->scale, std::vector<float>{0.25f});
  }
}

TEST(TfliteExport, FilesAreTheSameEachTimeAndVerify) {
  const std::string graph =
      R"(g (float[1,3,8,8] x) => (float[1,3,4,4] y) { y = AveragePool<kernel_shape = [2,2], strides = [2,2]>(x) })";
  const std::string bytes = tfl::to_bytes(exported(graph).model);
  EXPECT_EQ(bytes, tfl::to_bytes(exported(graph).model));
  const tfl::Model again = tfl::read(Bytes::own(bytes));
  EXPECT_EQ(again.subgraphs[0].operators.size(), 3U);
}

TEST(TfliteExport, HalvesAreFloatsWhereWiderTypesAreAllowed) {
  const std::string graph = R"(g (float16[1,4] x, float[4] f) => (float16[1,4] y, float[4] z)
      <float16[4,4] w = {15360,0,0,0, 0,15360,0,0, 0,0,15360,0, 0,0,0,15360}> {
      a = MatMul(x, w)  y = Relu(a)  h = Cast<to = 10>(f)  n = Neg(h)  z = Cast<to = 1>(n) })";
  EXPECT_NE(refusal_of(graph), "");
  for (const passes::CastRule rule : {passes::CastRule::up, passes::CastRule::all}) {
    ExportOptions options;
    options.auto_cast = rule;
    const Exported e = exported(graph, options);
    for (const tfl::Tensor& t : e.model.subgraphs[0].tensors) EXPECT_NE(t.type, tfl::TensorType::FLOAT16) << t.name;
    EXPECT_NE(std::ranges::find(e.notes, "input 'x' is now float[1,4]"), e.notes.end());
  }
}

TEST(TfliteExport, ReflectionNeedsTheSizesOfPaddedAxesAlone) {
  const std::string head = "g (float[N,5] x) => (float y) <int64[4] ";
  EXPECT_EQ(operators(exported(head + "p = {0, 1, 0, 2}> { y = Pad<mode = \"reflect\">(x, p) }")), "GATHER");
  EXPECT_NE(refusal_of(head + "p = {1, 0, 0, 0}> { y = Pad<mode = \"reflect\">(x, p) }"), "");
}

TEST(TfliteExport, MoreAxesThanPadHasArePaddedOneByOne) {
  const Exported e = exported(R"(g (float[1,2,3,1,2,2] x) => (float y) <int64[12] p = {0,0,1,0,0,0, 0,0,0,0,2,0}> {
      y = Pad(x, p) })");
  for (const tfl::Operator& op : e.model.subgraphs[0].operators)
    if (op.code.builtin == tfl::BuiltinOperator::PAD) {
      EXPECT_LE(e.model.subgraphs[0].tensors[static_cast<std::size_t>(op.inputs[0])].shape.size(), 5U);
    }
}

TEST(TfliteExport, NothingIsNeitherResizedNorRepeatedAtItsEdge) {
  for (const char* mode : {"nearest", "linear", "cubic"}) {
    const std::string sizes =
        "<int64[4] s = {1, 1, 2, 3}> { y = Resize<mode = \"" + std::string(mode) + "\">(x, , , s) }";
    EXPECT_NE(refusal_of("g (float[1,1,0,4] x) => (float[1,1,2,3] y) " + sizes), "") << mode;
  }
  for (const char* mode : {"edge", "reflect"}) {
    const std::string pads = "<int64[4] p = {1, 0, 1, 0}> { y = Pad<mode = \"" + std::string(mode) + "\">(x, p) }";
    EXPECT_NE(refusal_of("g (float[0,2] x) => (float[2,2] y) " + pads), "") << mode;
  }
}

TEST(TfliteExport, ListsOfUnknownRankAreRefused) {
  const std::string body = "<int64[2] axes = {0, 1}> { y = Slice(x, starts, ends, axes) }";
  EXPECT_NE(refusal_of("g (float[4,5] x, int64[] s, int64[2] ends) => (float[M,N] y) "
                       "<int64[2] axes = {0, 1}> { starts = Identity(s) y = Slice(x, starts, ends, axes) }"),
            "");
  EXPECT_EQ(refusal_of("g (float[4,5] x, int64[2] starts, int64[2] ends) => (float[M,N] y) " + body), "");
}

TEST(TfliteExport, WideIntegersAreCastAndNotDequantised) {
  const Exported e = exported(R"(g (int32[4] x) => (int16[4] y) <float s = {0.5}, float t = {0.25}, int16 z = {0}> {
      a = DequantizeLinear(x, s)  y = QuantizeLinear(a, t, z) })");
  EXPECT_EQ(operators(e), "CAST MUL QUANTIZE");
}

TEST(TfliteExport, AFileThatNoKernelTakesIsNotWritten) {
  Exported e = exported("g (float[4] x) => (float[4] y) { y = Relu(x) }");
  tfl::SubGraph& main = e.model.subgraphs[0];
  for (tfl::Tensor& t : main.tensors) t.type = tfl::TensorType::INT64;
  try {
    check_types(e.model);
    FAIL() << "RELU of int64";
  } catch (const Error& error) {
    EXPECT_EQ(error.exit_code(), 4);
    EXPECT_NE(error.message().find("RELU that makes 'y'"), std::string::npos) << error.message();
  }
  // A kernel that writes int8 into what is read as float.
  for (tfl::Tensor& t : main.tensors) t.type = tfl::TensorType::INT8;
  EXPECT_TRUE(has_known_types(e.model));
  main.tensors[static_cast<std::size_t>(main.operators[0].outputs[0])].type = tfl::TensorType::FLOAT32;
  EXPECT_FALSE(has_known_types(e.model));
}

}  // namespace
}  // namespace ingot::backends::tflite
