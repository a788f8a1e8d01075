// Models in double: what becomes double, and what stays.
#include "ingot/passes/widen.h"

#include <gtest/gtest.h>

#include "ingot/onnx/text.h"

namespace ingot::passes {
namespace {

Model model_of(const std::string& body) {
  return onnx::parse_text("<ir_version: 10, opset_import: [\"\" : 21]>\n" + body);
}

constexpr WidenOptions kAll{.reads_double = true, .widens_halves = true, .follows_schemas = false};

std::size_t count(const Model& model, std::string_view op) {
  std::size_t found = 0;
  for (const Node& node : model.graph->nodes()) found += node.is(op) ? 1 : 0;
  return found;
}

TEST(Widen, InputsStayFloatBehindACastAndOutputsBecomeDouble) {
  Model model = model_of("g (float[2] x) => (float[2] y) <float[2] w = {1, 2}> { y = Mul(x, w) }");
  widen_floats(model);
  EXPECT_EQ(model.graph->inputs()[0]->type.elem, DType::f32);
  EXPECT_EQ(model.graph->output(0)->type.elem, DType::f64);
  EXPECT_EQ(count(model, "Cast"), 1u);
}

TEST(Widen, InputsBecomeDoubleWhereAsked) {
  Model model = model_of("g (float[2] x, float16[2] h) => (float[2] y, float16[2] z) { y = Neg(x) z = Neg(h) }");
  widen_floats(model, kAll);
  for (const Value* v : model.graph->inputs()) EXPECT_EQ(v->type.elem, DType::f64) << v->name();
  for (const Value* v : model.graph->outputs()) EXPECT_EQ(v->type.elem, DType::f64) << v->name();
  EXPECT_EQ(count(model, "Cast"), 0u);
}

TEST(Widen, HalvesStayUnlessAsked) {
  Model model = model_of("g (float16[2] h) => (float16[2] z) { z = Neg(h) }");
  widen_floats(model);
  EXPECT_EQ(model.graph->output(0)->type.elem, DType::f16);
}

TEST(Widen, OperatorsWithoutAFormForDoubleKeepFloatBetweenCasts) {
  const std::string body =
      "g (float[2] x) => (float[2] y) <float s = {0.5}, uint8 z = {3}> "
      "{ q = QuantizeLinear(x, s, z) y = DequantizeLinear(q, s, z) }";
  Model kept = model_of(body);
  widen_floats(kept);
  EXPECT_EQ(kept.graph->output(0)->type.elem, DType::f64);
  EXPECT_EQ(kept.graph->find("s")->type.elem, DType::f32) << "a constant that only such operators read";
  Model all = model_of(body);
  widen_floats(all, kAll);
  EXPECT_EQ(count(all, "Cast"), 0u);
}

TEST(Widen, OperatorsThatKeepFloatReadFloatOfEachOther) {
  Model model = model_of(
      "g (float[2] x) => (float[2] y) <float s = {0.5}, uint8 z = {3}> "
      "{ q = QuantizeLinear(x, s, z) d = DequantizeLinear(q, s, z) p = QuantizeLinear(d, s, z) "
      "y = DequantizeLinear(p, s, z) }");
  widen_floats(model);
  for (const Node& node : model.graph->nodes())
    if (node.is("QuantizeLinear")) {
      EXPECT_EQ(node.input(0)->type.elem, DType::f32) << node.input(0)->name();
    }
}

TEST(Widen, ScalesOfResizeStayConstantsOfFloat) {
  for (const bool follows_schemas : {true, false}) {
    Model model =
        model_of("g (float[1,1,2,2] x) => (float[1,1,4,4] y) <float[4] s = {1, 1, 2, 2}> { y = Resize(x, , s) }");
    widen_floats(model, {.reads_double = true, .follows_schemas = follows_schemas});
    const Value* scales = model.graph->find("s");
    EXPECT_EQ(scales->type.elem, DType::f32);
    EXPECT_TRUE(scales->initializer && scales->uses().size() == 1 && scales->uses()[0].node->is("Resize"));
    EXPECT_EQ(model.graph->output(0)->type.elem, DType::f64);
  }
}

TEST(Widen, DefaultsAreSaidInDouble) {
  Model model = model_of(
      "g (int64[1] n) => (float[N] y) { c = Constant <value_float = 0.5> () z = ConstantOfShape(n) y = Add(z, c) }");
  widen_floats(model);
  EXPECT_EQ(model.graph->output(0)->type.elem, DType::f64);
  for (const Node& node : model.graph->nodes())
    if (const Tensor* value = node.attributes.get<Tensor>("value")) {
      EXPECT_EQ(value->dtype(), DType::f64) << node.op;
    }
}

}  // namespace
}  // namespace ingot::passes
