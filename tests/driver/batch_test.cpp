// A batch that a model fixes, changed.
#include "ingot/driver/batch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ingot/driver/check.h"
#include "ingot/driver/inputs.h"
#include "ingot/engine/session.h"
#include "ingot/ir/model.h"
#include "ingot/onnx/text.h"
#include "tests/support/refusal.h"

namespace ingot::driver {
namespace {

using testing::Contains;
using testing::HasSubstr;

Model parsed(const std::string& graph) {
  return onnx::parse_text(R"(<ir_version: 8, opset_import: ["" : 13]> )" + graph);
}

/// Inputs and outputs, as they are once the batch is another one and the model is valid.
std::string ports_with(Model model, const Dim& batch) {
  change_batch(model, batch);
  for (const Problem& p : check(model)) EXPECT_NE(p.severity, Severity::error) << p.str();
  for (const Problem& p : check(model)) EXPECT_NE(p.code, Code::shape_contradiction) << p.str();
  return model.graph->inputs()[0]->type.str() + " -> " + model.graph->output(0)->type.str();
}

const char* const kReshape =
    R"(g (float[1,4,2,2] x) => (float[1,16] y) <int64[2] s = {1, 16}, float[1,4,1,1] w = {1, 2, 3, 4}>
  { a = Mul(x, w) y = Reshape(a, s) })";

TEST(Batch, IsFollowedThroughTargetsOfReshape) {
  EXPECT_EQ(ports_with(parsed(kReshape), Dim(8)), "float[8,4,2,2] -> float[8,16]");
  EXPECT_EQ(ports_with(parsed(kReshape), Dim::symbol("N")), "float[N,4,2,2] -> float[N,16]");
  // The rest is another entry's: the batch is copied.
  EXPECT_EQ(ports_with(parsed("g (float[1,4,6] x) => (float[1,24] y) <int64[2] s = {1, -1}> { y = Reshape(x, s) }"),
                       Dim::symbol("N")),
            "float[N,4,6] -> float[N,24]");
  // Heads of attention: batch and heads are one dimension for a while.
  const char* heads = R"(g (float[2,5,6] x) => (float[2,5,6] y)
    <int64[4] s = {2, 5, 2, 3}, int64[3] t = {4, 5, 3}, int64[4] u = {2, 2, 5, 3}, int64[3] v = {2, 5, 6}> {
      a = Reshape(x, s) b = Transpose<perm = [0, 2, 1, 3]>(a) c = Reshape(b, t) d = Relu(c)
      e = Reshape(d, u) f = Transpose<perm = [0, 2, 1, 3]>(e) y = Reshape(f, v) })";
  EXPECT_EQ(ports_with(parsed(heads), Dim(7)), "float[7,5,6] -> float[7,5,6]");
  EXPECT_EQ(ports_with(parsed(heads), Dim::symbol("N")), "float[N,5,6] -> float[N,5,6]");
}

TEST(Batch, IsFollowedThroughShapesThatAreInputsWithADefault) {
  const char* graph = "g (float[1,4,6] x, int64[2] s = {1, 24}) => (float[1,24] y) { y = Reshape(x, s) }";
  EXPECT_EQ(ports_with(parsed(graph), Dim(8)), "float[8,4,6] -> float[8,24]");
  Model old = onnx::parse_text(R"(<ir_version: 3, opset_import: ["" : 8]> )" + std::string(graph));
  EXPECT_EQ(ports_with(std::move(old), Dim::symbol("N")), "float[N,4,6] -> float[N,24]");
}

TEST(Batch, RepeatsWhatAllExamplesShare) {
  const char* token =
      R"(g (float[1,3,2] x) => (float[1,4,2] y) <float[1,1,2] w = {1, 2}> { y = Concat<axis = 1>(w, x) })";
  EXPECT_EQ(ports_with(parsed(token), Dim(3)), "float[3,3,2] -> float[3,4,2]");
  EXPECT_EQ(ports_with(parsed(token), Dim::symbol("N")), "float[N,3,2] -> float[N,4,2]");
  const char* gru = R"(g (float[1,3,2] x) => (float[1,1,1] h)
    <float[1,3,2] w = {1, 2, 3, 4, 5, 6}, float[1,3,1] r = {1, 2, 3}, float[1,1,1] h0 = {0.5}> {
      t = Transpose<perm = [1, 0, 2]>(x) s, last = GRU<hidden_size = 1>(t, w, r, , , h0)
      h = Transpose<perm = [1, 0, 2]>(last) })";
  EXPECT_EQ(ports_with(parsed(gru), Dim(4)), "float[4,3,2] -> float[4,1,1]");
}

TEST(Batch, IsOneFactorOfADimension) {
  // Steps first, as PyTorch computes attention: the batch is put together with the heads, and with the steps.
  const char* attention = R"(g (float[2,5,8] x) => (float[2,5,8] y)
    <int64[3] s = {5, 8, 2}, int64[2] t = {10, 8}, int64[3] u = {5, 2, 8}, float[8,8] w = {1, 2, 3, 4, 5, 6, 7, 8,
      1, 2, 3, 4, 5, 6, 7, 8, 1, 2, 3, 4, 5, 6, 7, 8, 1, 2, 3, 4, 5, 6, 7, 8, 1, 2, 3, 4, 5, 6, 7, 8, 1, 2, 3, 4, 5, 6,
      7, 8, 1, 2, 3, 4, 5, 6, 7, 8, 1, 2, 3, 4, 5, 6, 7, 8}> {
      a = Transpose<perm = [1, 0, 2]>(x) b = Reshape(a, s) c = Transpose<perm = [1, 0, 2]>(b) d = Softmax<axis = 1>(c)
      e = Transpose<perm = [1, 0, 2]>(d) f = Reshape(e, t) h = Gemm(f, w) i = Reshape(h, u)
      y = Transpose<perm = [1, 0, 2]>(i) })";
  const auto of_one = [&](std::string text) {
    for (const auto& [two, one] : {std::pair("float[2,5,8]", "float[1,5,8]"), std::pair("{5, 8, 2}", "{5, 4, 2}"),
                                   std::pair("{10, 8}", "{5, 8}"), std::pair("{5, 2, 8}", "{5, 1, 8}")})
      for (std::size_t at = text.find(two); at != std::string::npos; at = text.find(two))
        text.replace(at, std::string(two).size(), one);
    return text;
  };
  for (const std::string& graph : {std::string(attention), of_one(attention)}) {
    EXPECT_EQ(ports_with(parsed(graph), Dim(7)), "float[7,5,8] -> float[7,5,8]");
    EXPECT_EQ(ports_with(parsed(graph), Dim::symbol("N")), "float[N,5,8] -> float[N,5,8]");
  }
}

TEST(Batch, StaysFirstWhereOtherSizesAreNotKnown) {
  const char* graph = R"(g (float[1,4] x, int64 n) => (float[1,2,2] y) <int64[1] one = {1}, int64[1] zero = {0},
    int64[3] s = {1, 2, 2}> { m = Reshape(n, one) t = Mul(m, zero) pads = Concat<axis = 0>(t, t, t, t)
      p = Pad(x, pads) y = Reshape(p, s) })";
  EXPECT_EQ(ports_with(parsed(graph), Dim(8)), "float[8,4] -> float[8,2,2]");
}

TEST(Batch, ConstantsThatAreAlikeForAllExamplesBecomeOne) {
  const char* cell = R"(g (float[2,3] x) => (float[2,3] y) <float[2,3] h = {0, 0, 0, 0, 0, 0}, float[3,3] w =
    {1, 2, 3, 4, 5, 6, 7, 8, 9}, float[3] b = {1, 2, 3}> { p = Gemm(h, w, b) q = Add(x, p) y = Tanh(q) })";
  EXPECT_EQ(ports_with(parsed(cell), Dim(5)), "float[5,3] -> float[5,3]");
  EXPECT_EQ(ports_with(parsed(cell), Dim::symbol("N")), "float[N,3] -> float[N,3]");
  // A first state of two examples, of two directions, its size computed.
  const char* gru = R"(g (float[3,2,2] x) => (float[3,2,2] y)
    <float[2,3,2] w = {1, 2, 3, 4, 5, 6, 1, 2, 3, 4, 5, 6}, float[2,3,1] r = {1, 2, 3, 1, 2, 3},
     float[2,3,1] zeros = {0, 0, 0, 0, 0, 0}, int64 one = {1}, int64[1] first = {0}, int64[1] two = {2},
     int64[1] size = {1}, int64[3] s = {0, 0, -1}> {
      t = Transpose<perm = [1, 0, 2]>(x) all = Shape(t) n = Gather(all, one) m = Unsqueeze(n, first)
      d = Concat<axis = 0>(two, m, size) h0 = Expand(zeros, d)
      z, last = GRU<hidden_size = 1, direction = "bidirectional">(t, w, r, , , h0)
      o = Transpose<perm = [2, 0, 1, 3]>(z) y = Reshape(o, s) })";
  EXPECT_EQ(ports_with(parsed(gru), Dim(7)), "float[7,2,2] -> float[7,2,2]");
  EXPECT_EQ(ports_with(parsed(gru), Dim::symbol("N")), "float[N,2,2] -> float[N,2,2]");
}

TEST(Batch, OfAnOpenModelIsBound) {
  EXPECT_EQ(ports_with(parsed("g (float[N,4] x) => (float[N,4] y) { y = Relu(x) }"), Dim(8)),
            "float[8,4] -> float[8,4]");
}

TEST(Batch, ThatMixesExamplesIsRefused) {
  const auto refusal = [](const char* graph) -> std::string {
    try {
      Model model = parsed(graph);
      change_batch(model, Dim(2));
      return "accepted";
    } catch (const Error& error) {
      EXPECT_EQ(error.exit_code(), 4) << error.what();
      return error.message();
    }
  };
  EXPECT_THAT(
      refusal("g (float[1,4] x) => (float[1,4] y) { m = ReduceMean<axes = [0], keepdims = 1>(x) y = Sub(x, m) }"),
      HasSubstr("output 'y' mixes examples"));
  EXPECT_THAT(refusal("g (float[1,4] x) => (float[4] y) <int64[1] a = {0}> { y = Squeeze(x, a) }"),
              HasSubstr("output 'y' would be float[4]"));
}

TEST(Batch, MayStandBehindTheStepsOfASequence) {
  const char* steps = "g (float[1,3,2] x) => (float[3,1,2] y) { t = Transpose<perm = [1, 0, 2]>(x) y = Relu(t) }";
  EXPECT_EQ(ports_with(parsed(steps), Dim(4)), "float[4,3,2] -> float[3,4,2]");
  EXPECT_EQ(ports_with(parsed(steps), Dim::symbol("N")), "float[N,3,2] -> float[3,N,2]");
}

TEST(Batch, SaysWhatChanged) {
  Model model = parsed(kReshape);
  const std::vector<std::string> notes = change_batch(model, Dim(8));
  EXPECT_THAT(notes, Contains("batch: input 1 follows it at 'y' (Reshape)"));
  EXPECT_THAT(notes, Contains("batch: each example gives what it gave before, as Ingot runs both"));
}

}  // namespace
}  // namespace ingot::driver
