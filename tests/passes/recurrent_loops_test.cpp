// Loops that are recurrent cells, and loops that are not quite.
#include "ingot/passes/recurrent_loops/recurrent_loops.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "ingot/engine/session.h"
#include "ingot/onnx/text.h"
#include "ingot/passes/infer.h"

namespace ingot::passes {
namespace {

using testing::Contains;
using testing::Not;

struct Cell {
  std::string states, nexts, starts, body;  // beside the counter and the list
  std::string weights;                      // inputs of the graph
  std::string limit = "{5}";                // of the rounds
};

/// Five steps of [2, 3], states of [2, 4].
Model loop_of(const Cell& cell) {
  Model model = onnx::parse_text(
      "<ir_version: 13, opset_import: [\"\" : 28]>\n g (float[5,2,3] x, float[2,4] h0, float[2,4] c0" + cell.weights +
          ") => (float[5,2,4] y) <int64 zero = {0}, int64 one = {1}, bool yes = {1}, int64 steps = " + cell.limit +
          ", int64[3] dims = {5, 2, 4}, int64[2] place = {1, 1}, int64[1] axis = {0}> {\n"
          "places = ConstantOfShape(dims)\n"
          "count" +
          (cell.nexts.find("c2") == std::string::npos ? ", last" : ", last, cells") +
          ", y = Loop<body = b (int64 n, bool on, int64 i" + cell.states +
          ", float[5,2,4] all) => (bool again, int64 next" + cell.nexts +
          ", float[5,2,4] more) {\n"
          "xt = Gather<axis = 0>(x, i)\n" +
          cell.body +
          "\nat = Reshape(i, place)\n row = Unsqueeze(h2, axis)\n more = ScatterND(all, at, row)\n"
          "next = Add(i, one)\n again = Less(next, steps)\n }>(\"\", yes, zero" +
          cell.starts + ", places)\n }",
      ".", {});
  infer(model);
  return model;
}

const Cell kPlain{", float[2,4] h", ", float[2,4] h2", ", h0",
                  "p = MatMul(xt, w)\n q = MatMul(h, r)\n s = Add(p, q)\n t = Add(s, b)\n h2 = Tanh(t)",
                  ", float[3,4] w, float[4,4] r, float[4] b"};

const Cell kLstm{", float[2,4] h, float[2,4] c", ", float[2,4] h2, float[2,4] c2", ", h0, c0",
                 "both = Concat<axis = 1>(xt, h)\n p = MatMul(both, w)\n s = Add(p, b)\n"
                 "i_, n_, f_, o_ = Split<axis = 1, num_outputs = 4>(s)\n one_ = Constant<value = float {1}>()\n"
                 "moved = Add(f_, one_)\n f = Sigmoid(moved)\n ig = Sigmoid(i_)\n o = Sigmoid(o_)\n cand = Tanh(n_)\n"
                 "kept = Mul(c, f)\n added = Mul(ig, cand)\n c2 = Add(kept, added)\n seen = Tanh(c2)\n"
                 "h2 = Mul(o, seen)",
                 ", float[7,16] w, float[16] b"};

/// Keras's, which resets behind the product.
const Cell kGru{
    ", float[2,4] h", ", float[2,4] h2", ", h0",
    "p = MatMul(xt, w)\n pb = Add(p, b)\n q = MatMul(h, r)\n qb = Add(q, rb)\n"
    "xz, xr, xh = Split<axis = 1, num_outputs = 3>(pb)\n rz, rr, rh = Split<axis = 1, num_outputs = 3>(qb)\n"
    "sz = Add(xz, rz)\n z = Sigmoid(sz)\n sr = Add(xr, rr)\n reset = Sigmoid(sr)\n gated = Mul(reset, rh)\n"
    "sh = Add(xh, gated)\n cand = Tanh(sh)\n kept = Mul(z, h)\n o = Constant<value = float {1}>()\n"
    "rest = Sub(o, z)\n added = Mul(rest, cand)\n h2 = Add(kept, added)",
    ", float[3,12] w, float[4,12] r, float[12] b, float[12] rb"};

std::vector<std::string> operators_of(const Graph& graph) {
  std::vector<std::string> operators;
  for (const Node& n : graph.nodes()) operators.push_back(n.op);
  return operators;
}

std::vector<double> outputs_of(const Model& model) {
  std::vector<engine::NamedDatum> inputs;
  double phase = 0;
  for (const Value* input : model.graph->inputs()) {
    Dims dims;
    for (const Dim& d : *input->type.shape) dims.push_back(d.value());
    std::vector<float> values(static_cast<std::size_t>(tensor_size(dims)));
    for (float& v : values) v = static_cast<float>(std::sin(phase += 0.7));
    inputs.push_back({input->name(), Array::of<float>(dims, values)});
  }
  return engine::Session(model).run(inputs).at(0).value.array()->to_doubles();
}

void expect_becomes(const Cell& cell, const std::string& op) {
  Model model = loop_of(cell);
  const std::vector<double> before = outputs_of(model);
  EXPECT_EQ(recognise_recurrent_loops(model), 1U);
  check_invariants(model);
  EXPECT_THAT(operators_of(*model.graph), Contains(op));
  EXPECT_THAT(operators_of(*model.graph), Not(Contains("Loop")));
  EXPECT_EQ(model.graph->output(0)->name(), "y");
  const std::vector<double> after = outputs_of(model);
  ASSERT_EQ(after.size(), before.size());
  for (std::size_t i = 0; i < after.size(); ++i) EXPECT_NEAR(after[i], before[i], 1e-5) << i;
}

TEST(RecurrentLoops, APlainCellBecomesRnn) { expect_becomes(kPlain, "RNN"); }
TEST(RecurrentLoops, AnLstmOfAnyOrderOfGatesBecomesLstm) { expect_becomes(kLstm, "LSTM"); }
TEST(RecurrentLoops, AGruThatResetsBehindTheProductBecomesGru) { expect_becomes(kGru, "GRU"); }

TEST(RecurrentLoops, OneThatEndsBeforeTheSequenceStays) {
  Cell cell = kPlain;
  cell.limit = "{4}";
  Model model = loop_of(cell);
  EXPECT_EQ(recognise_recurrent_loops(model), 0U);
  EXPECT_THAT(operators_of(*model.graph), Contains("Loop"));
}

TEST(RecurrentLoops, OneThatDoesMoreInARoundStays) {
  Cell cell = kPlain;
  cell.body = "p = MatMul(xt, w)\n q = MatMul(h, r)\n s = Add(p, q)\n t = Mul(s, b)\n h2 = Tanh(t)";
  Model model = loop_of(cell);
  EXPECT_EQ(recognise_recurrent_loops(model), 0U);
}

TEST(RecurrentLoops, ThoseOfFunctionsAreFoundToo) {
  Model model = loop_of(kPlain);
  auto function = std::make_unique<Function>();
  function->name = "f";
  function->domain = "d";
  function->body = std::move(loop_of(kPlain).graph);
  model.functions.push_back(std::move(function));
  EXPECT_EQ(recognise_recurrent_loops(model), 2U);
}

}  // namespace
}  // namespace ingot::passes
