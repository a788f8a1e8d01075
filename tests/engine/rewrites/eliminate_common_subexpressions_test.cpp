// Equal nodes become one, and nothing else does.
#include "ingot/engine/rewrites/eliminate_common_subexpressions.h"

#include <gtest/gtest.h>

#include "ingot/onnx/text.h"

namespace ingot::engine {
namespace {

std::size_t nodes_after(const std::string& body) {
  const Model model = onnx::parse_text("<ir_version: 10, opset_import: [\"\" : 21]>\n" + body);
  eliminate_common_subexpressions(*model.graph);
  return model.graph->node_count();
}

TEST(Share, EqualNodesBecomeOneAndSoDoTheirReaders) {
  EXPECT_EQ(nodes_after("g (float[2] x) => (float[2] y) { a = Neg(x) b = Neg(x) c = Exp(a) d = Exp(b) y = Add(c, d) }"),
            3u);
}

TEST(Share, OutputsOfTheGraphStayApart) {
  const Model model = onnx::parse_text(
      "<ir_version: 10, opset_import: [\"\" : 21]>\ng (float[2] x) => (float[2] y, float[2] z) { y = Neg(x) z = Neg(x) "
      "}");
  eliminate_common_subexpressions(*model.graph);
  EXPECT_EQ(model.graph->output_count(), 2u);
  EXPECT_EQ(model.graph->output(0), model.graph->output(1));
}

TEST(Share, OtherAttributesOrInputsAreOtherNodes) {
  EXPECT_EQ(
      nodes_after("g (float[2] x) => (float[2] y) { a = Elu<alpha = 1.0>(x) b = Elu<alpha = 2.0>(x) y = Add(a, b) }"),
      3u);
  EXPECT_EQ(nodes_after("g (float[2] x) => (float[2] y) { a = LeakyRelu<alpha = 0.0>(x) b = LeakyRelu<alpha = -0.0>(x) "
                        "y = Add(a, b) }"),
            3u);
  EXPECT_EQ(nodes_after("g (float[2] x, float[2] z) => (float[2] y) { a = Sub(x, z) b = Sub(z, x) y = Add(a, b) }"),
            3u);
}

TEST(Share, WhatIsDrawnAtRandomIsNotTheSame) {
  EXPECT_EQ(
      nodes_after("g (float[2] x) => (float[2] y) { a = RandomUniformLike(x) b = RandomUniformLike(x) y = Add(a, b) }"),
      3u);
}

}  // namespace
}  // namespace ingot::engine
