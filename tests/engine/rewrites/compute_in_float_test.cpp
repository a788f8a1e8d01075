// Half-precision models: fast kernels against reference kernels, and no reference kernel where float has a fast one.
#include <gtest/gtest.h>

#include "ingot/base/float_types.h"
#include "tests/engine/both_ways.h"
#include "tests/engine/random.h"

namespace ingot::engine {
namespace {

/// As a constant of the half type.
Value* half(GraphBuilder& g, const Tensor& floats, DType type) {
  const Array values = Array::from(floats);
  Array made(type, floats.dims());
  for (std::size_t i = 0; i < static_cast<std::size_t>(values.size()); ++i)
    if (type == DType::f16)
      made.mutable_data<Float16>()[i] = Float16(values.data<float>()[i]);
    else
      made.mutable_data<BFloat16>()[i] = BFloat16(values.data<float>()[i]);
  return g.constant(made.to_tensor());
}

class InFloat : public testing::TestWithParam<DType> {
 protected:
  float tolerance() const { return GetParam() == DType::f16 ? 4e-3f : 4e-2f; }
};

TEST_P(InFloat, NetworksAgreeAndLeaveNothingToReferenceKernels) {
  Random random(5);
  Model model = empty_model();
  Value* x = model.graph->add_input("x", Type::tensor(DType::f32, Shape{2, 8, 9, 9}));
  GraphBuilder g(*model.graph);
  Value* y = g.cast(x, GetParam());
  y = g.op("Conv",
           {y, half(g, random.floats({16, 8, 3, 3}, -0.1f, 0.1f), GetParam()),
            half(g, random.floats({16}, -0.1f, 0.1f), GetParam())},
           {{"pads", {1, 1, 1, 1}}});
  y = g.op("Relu", {y});
  y = g.op("MaxPool", {y}, {{"kernel_shape", {3, 3}}, {"strides", {2, 2}}, {"ceil_mode", 1}});
  y = g.op("InstanceNormalization",
           {y, half(g, random.floats({16}), GetParam()), half(g, random.floats({16}), GetParam())});
  y = g.op("Resize", {y, nullptr, g.constant(Tensor::of<float>({4}, {1, 1, 2, 2}))}, {{"mode", "linear"}});
  y = g.op("Pad", {y, g.ints({0, 0, 1, 1, 0, 0, 1, 1})}, {{"mode", "reflect"}});
  y = g.op("Softmax", {g.op("GlobalAveragePool", {y})}, {{"axis", 1}});
  y = g.op("MatMul", {g.reshape(y, {2, 16}), half(g, random.floats({16, 5}), GetParam())});
  model.graph->add_output(g.cast(y, DType::f32));
  expect_same(model, Array::from(random.floats({2, 8, 9, 9})), tolerance());
  for (const KernelChoice& choice : Session(model).kernels())
    EXPECT_TRUE(choice.kernel != "reference" || choice.op == "Reshape") << choice.op;
}

TEST_P(InFloat, StepwiseOperatorsSeeRoundedNumbers) {
  Random random(6);
  Model model = empty_model();
  Value* x = model.graph->add_input("x", Type::tensor(DType::f32, Shape{1000}));
  GraphBuilder g(*model.graph);
  Value* scaled = g.mul(g.cast(x, GetParam()), 37.0);
  Value* floor = g.op("Floor", {scaled});
  Value* whole = g.cast(g.cast(scaled, DType::i32), GetParam());
  model.graph->add_output(g.cast(g.add(floor, whole), DType::f32));
  expect_same(model, Array::from(random.floats({1000}, -3, 3)), 0);
}

TEST_P(InFloat, ValuesOfOuterGraphsAndOutputsKeepTheirTypes) {
  for (const bool branch : {false, true}) {
    Model model = empty_model();
    Value* x = model.graph->add_input("x", Type::tensor(DType::f32, Shape{8}));
    GraphBuilder g(*model.graph);
    Value* y = g.op("Exp", {g.cast(x, GetParam())});
    Node* choice = g.node("If", "", {g.constant(Tensor::scalar(branch))}, {}, 0);
    for (const char* name : {"then_branch", "else_branch"}) {
      auto body = std::make_unique<Graph>(model.graph.get());
      GraphBuilder inner(*body);
      body->add_output(name[0] == 't' ? inner.op("Neg", {y}) : inner.op("Identity", {y}));
      choice->attributes.set(Attribute(name, AttrValue(GraphPtr(std::move(body)))));
    }
    Value* chosen = choice->add_output("chosen");
    chosen->type = y->type;
    model.graph->add_output(g.cast(chosen, DType::f32));
    model.graph->add_output(y);
    Random random(7);
    expect_same(model, Array::from(random.floats({8})), tolerance());
    const auto outputs = Session(model).run({{"x", Array::from(random.floats({8}))}});
    EXPECT_EQ(outputs[1].value.array()->dtype(), GetParam());
  }
}

TEST_P(InFloat, RowsOfATableAreWidenedWhenTheyWereRead) {
  Random random(8);
  Model model = empty_model();
  Value* x = model.graph->add_input("x", Type::tensor(DType::f32, Shape{4}));
  GraphBuilder g(*model.graph);
  Value* rows = g.op("Gather", {half(g, random.floats({100, 6}), GetParam()), g.cast(x, DType::i64)});
  model.graph->add_output(g.cast(g.op("Tanh", {rows}), DType::f32));
  expect_same(model, Array::of<float>({4}, {3, 99, 0, 50}), tolerance());
}

INSTANTIATE_TEST_SUITE_P(Types, InFloat, testing::Values(DType::f16, DType::bf16));

}  // namespace
}  // namespace ingot::engine
