// Which operators come to work on integers.
#include "ingot/passes/move_quantized.h"

#include <gtest/gtest.h>

#include "ingot/ir/drop_unread.h"
#include "ingot/onnx/text.h"
#include "ingot/passes/infer.h"

namespace ingot::passes {
namespace {

std::string moved(const std::string& body, std::string* output = nullptr) {
  Model model = onnx::parse_text(
      "<ir_version: 13, opset_import: [\"\" : 28]>\n g (int8[1,4,4,2] q) => (float y) <float s = {0.5}, float[2] t = "
      "{1, "
      "2}, int8 z = {3}, int64[2] shape = {4, 8}, int64[1] axis = {0}> {" +
          body + "}",
      ".", {});
  model.graph->output(0)->type = {};
  infer(model);
  move_quantized(*model.graph);
  drop_unread(*model.graph);
  infer(model);
  check_invariants(model);
  std::string operators;
  for (const Node& n : model.graph->nodes()) operators += (operators.empty() ? "" : " ") + n.op;
  if (output) *output = model.graph->output(0)->name() + " " + model.graph->output(0)->type.str();
  return operators;
}

TEST(MoveQuantized, AChainOfMovesWorksOnIntegers) {
  EXPECT_EQ(moved("a = DequantizeLinear(q, s, z)\n b = Transpose<perm = [0,3,1,2]>(a)\n c = Reshape(b, shape)\n"
                  "y = Relu(c)"),
            "Transpose Reshape DequantizeLinear Relu");
}

TEST(MoveQuantized, AnOutputKeepsItsName) {
  std::string output;
  EXPECT_EQ(moved("a = DequantizeLinear(q, s, z)\n y = Squeeze(a, axis)", &output), "Squeeze DequantizeLinear");
  EXPECT_EQ(output, "y float[4,4,2]");
}

TEST(MoveQuantized, OtherReadersStillReadRealNumbers) {
  EXPECT_EQ(moved("a = DequantizeLinear(q, s, z)\n b = Reshape(a, shape)\n c = Relu(a)\n d = Reshape(c, shape)\n"
                  "y = Add(b, d)"),
            "DequantizeLinear Reshape DequantizeLinear Relu Reshape Add");
}

TEST(MoveQuantized, ScalesAlongAnAxisStay) {
  EXPECT_EQ(moved("a = DequantizeLinear<axis = 3>(q, t)\n y = Transpose<perm = [0,3,1,2]>(a)"),
            "DequantizeLinear Transpose");
}

}  // namespace
}  // namespace ingot::passes
