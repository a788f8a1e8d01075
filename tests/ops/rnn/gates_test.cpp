// Gates of recurrent cells in ONNX's order.
#include "ingot/ops/rnn/gates.h"

#include <gtest/gtest.h>

#include "ingot/engine/session.h"
#include "ingot/ir/model.h"
#include "ingot/ops/schema.h"

namespace ingot::ops {
namespace {

using Ints = std::vector<std::int64_t>;

/// What the value is, computed.
std::vector<double> computed(Model& model, Value* value) {
  model.opsets.set("", newest_opset(""));
  GraphBuilder g(*model.graph);
  model.graph->add_output(g.op("Identity", {value}));
  return engine::Session(model).run({}).at(0).value.array()->to_doubles();
}

TEST(Gates, OrderSaysWhereEachWantedGateIsStored) {
  EXPECT_EQ(gate_order("ifco", kLstmGates), (Ints{0, 3, 1, 2}));
  EXPECT_EQ(gate_order("icfo", kLstmGates), (Ints{0, 3, 2, 1}));
  EXPECT_EQ(gate_order("rzh", kGruGates), (Ints{1, 0, 2}));
  EXPECT_EQ(gate_order("zrh", kGruGates), (Ints{0, 1, 2}));
}

TEST(Gates, WeightsAreTurnedAndReordered) {
  Model model;
  GraphBuilder g(*model.graph);
  // Two inputs, gates r, z, h of one unit.
  Value* stored = g.constant(Tensor::of<float>({2, 3}, {1, 2, 3, 4, 5, 6}));
  Value* w = onnx_weights(g, stored, gate_order("rzh", kGruGates));
  EXPECT_EQ(w->type.str(), "float[1,3,2]");
  EXPECT_EQ(computed(model, w), (std::vector<double>{2, 5, 1, 4, 3, 6}));
}

TEST(Gates, AMissingBiasIsZero) {
  Model model;
  GraphBuilder g(*model.graph);
  Value* state = g.constant(Tensor::of<float>({3}, {1, 2, 3}));
  Value* b = onnx_bias(g, nullptr, state, gate_order("rzh", kGruGates), 1, DType::f32);
  EXPECT_EQ(b->type.str(), "float[1,6]");
  EXPECT_EQ(computed(model, b), (std::vector<double>{0, 0, 0, 2, 1, 3}));
}

}  // namespace
}  // namespace ingot::ops
