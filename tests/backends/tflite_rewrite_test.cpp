// ONNX -> TFLite: operators that TFLite lacks, said in those that it has.
#include <gtest/gtest.h>

#include "ingot/backends/tflite/export.h"
#include "ingot/base/error.h"
#include "ingot/formats/tflite/check.h"
#include "ingot/onnx/text.h"

namespace ingot::backends::tflite {
namespace {

namespace tfl = formats::tflite;

Exported exported(const std::string& graph, const ExportOptions& options = {}, int opset = 21) {
  const std::string head = "<ir_version: 10, opset_import: [\"\" : " + std::to_string(opset) + "]>\n";
  return to_tflite(onnx::parse_text(head + graph, ".", {}), options);
}

std::size_t count_of(const Exported& e, tfl::BuiltinOperator op) {
  std::size_t count = 0;
  for (const tfl::SubGraph& graph : e.model.subgraphs)
    for (const tfl::Operator& o : graph.operators) count += o.code.builtin == op;
  return count;
}

TEST(TfliteRewrite, LoopsOfKnownLengthAreUnrolled) {
  const Exported e = exported(R"(g (float[3,2] x, float[2] start) => (float[2] last, float[3,2] all) {
      last, all = Scan<num_scan_inputs = 1, body = b (float[2] sum, float[2] slice) => (float[2] next, float[2] out) {
          next = Add(sum, slice)  out = Identity(next) }>(start, x) })");
  EXPECT_EQ(e.model.subgraphs.size(), 1U);
  EXPECT_EQ(count_of(e, tfl::BuiltinOperator::ADD), 3U);
}

TEST(TfliteRewrite, WhatOtherLoopsGatherIsAState) {
  const Exported e = exported(R"(g (int64 n, bool c, float[2] x) => (float[2] last, float[n,2] all) {
      last, all = Loop(n, c, x) <body = b (int64 i, bool go, float[2] s) => (bool on, float[2] next, float[2] out) {
          on = Identity(go)  next = Add(s, x)  out = Neg(next) }> })");
  EXPECT_EQ(count_of(e, tfl::BuiltinOperator::WHILE), 1U);
  EXPECT_EQ(count_of(e, tfl::BuiltinOperator::CONCATENATION), 1U);
}

TEST(TfliteRewrite, TheAxisOfAVectorNeedNotBeKnown) {
  const Exported e =
      exported("g (int32[4] x, int32 axis) => (int32[4] y) { y = CumProd<exclusive = 1>(x, axis) }", {}, 26);
  EXPECT_EQ(e.model.subgraphs.size(), 1U);
  EXPECT_EQ(count_of(e, tfl::BuiltinOperator::MUL), 3U);
}

TEST(TfliteRewrite, BranchesThatAreKnownAreTaken) {
  const Exported e = exported(R"(g (float[2] x) => (float[2] y) <bool c = {1}> {
      y = If(c) <then_branch = t () => (float[2] a) { a = Neg(x) }, else_branch = f () => (float[2] b) { b = Abs(x) }> })");
  EXPECT_EQ(e.model.subgraphs.size(), 1U);
  EXPECT_EQ(count_of(e, tfl::BuiltinOperator::NEG), 1U);
  EXPECT_EQ(count_of(e, tfl::BuiltinOperator::ABS), 0U);
}

TEST(TfliteRewrite, SequencesOfKnownMembersVanish) {
  const Exported e = exported(R"(g (float[4,2] x) => (float[4,2] y) {
      s = SplitToSequence<axis = 0>(x)  y = ConcatFromSequence<axis = 0>(s) })");
  EXPECT_EQ(count_of(e, tfl::BuiltinOperator::CONCATENATION), 1U);
}

TEST(TfliteRewrite, RecurrentLayersNeedNoOperatorsOfTheirOwn) {
  const Exported e = exported(R"(g (float[3,1,2] x, float[1,16,2] w, float[1,16,4] r) => (float[3,1,1,4] y) {
      y = LSTM<hidden_size = 4>(x, w, r) })");
  EXPECT_EQ(e.model.subgraphs.size(), 1U);
  EXPECT_EQ(count_of(e, tfl::BuiltinOperator::TANH), 6U);
  EXPECT_EQ(count_of(e, tfl::BuiltinOperator::LOGISTIC), 9U);
}

TEST(TfliteRewrite, DoublesOfDecompositionsAreFloatsAndSaidSo) {
  const Exported e = exported("g (float[2,3] x) => (float[2,3] y) { y = LpNormalization<axis = 1, p = 2>(x) }");
  for (const tfl::Tensor& t : e.model.subgraphs[0].tensors) EXPECT_NE(t.type, tfl::TensorType::FLOAT64) << t.name;
}

TEST(TfliteRewrite, ObstaclesComeWithReasonsAndRemedies) {
  const Model model = onnx::parse_text(R"(<ir_version: 10, opset_import: ["" : 21]>
      g (double[3] d, float[N,N] m) => (double[3] y, float e) { [one] y = Abs(d)  [two] e = Det(m) })",
                                       ".", {});
  const std::vector<Obstacle> list = find_obstacles(model);
  ASSERT_EQ(list.size(), 2U);
  EXPECT_EQ(list[0].where, "node 'one'");
  EXPECT_EQ(list[0].reason, "TFLite has no kernel for double");
  EXPECT_EQ(list[0].remedy, "--auto-cast up, or all");
  EXPECT_EQ(list[1].op, "Det");
  EXPECT_EQ(list[1].remedy, "--allow-custom Det");
  ExportOptions options;
  options.auto_cast = AutoCast::all;
  options.allow_custom = {"Det"};
  EXPECT_TRUE(find_obstacles(model, options).empty());
}

}  // namespace
}  // namespace ingot::backends::tflite
