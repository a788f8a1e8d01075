// Operators that ONNX has no words for: functions of the model, and the same operators on the way back.
#include <gmock/gmock.h>

#include <algorithm>

#include "ingot/backends/tflite/export.h"
#include "ingot/driver/adjust.h"
#include "ingot/engine/session.h"
#include "ingot/frontends/tflite/fixed_point.h"
#include "ingot/frontends/tflite/import.h"
#include "ingot/ir/source_notes.h"
#include "ingot/passes/inline_functions.h"
#include "tests/formats/tflite/sample.h"
#include "tests/support/refusal.h"

namespace ingot::frontends::tflite {
namespace {

namespace tfl = formats::tflite;
using testing::ElementsAre;
using tfl::BuiltinOperator;

/// x[1,2] -> SVDF of 4 filters of rank 2 that remember 3 steps -> y[1,2]
tfl::Model svdf_model() {
  const auto tensor = [](std::string name, std::vector<std::int64_t> shape, std::uint32_t buffer = 0) {
    tfl::Tensor t;
    t.name = std::move(name);
    t.shape = std::move(shape);
    t.has_rank = true;
    t.buffer = buffer;
    return t;
  };
  tfl::Model model;
  model.buffers = {Bytes(), tfl::bytes_from<float>({1, 2, 3, 4, 5, 6, 7, 8}),
                   tfl::bytes_from<float>({1, 0, 2, 1, 1, 0, 3, 1, 0, 1, 2, 1})};
  tfl::SubGraph& graph = model.subgraphs.emplace_back();
  graph.tensors = {tensor("x", {1, 2}), tensor("features", {4, 2}, 1), tensor("time", {4, 3}, 2),
                   tensor("state", {1, 12}), tensor("y", {1, 2})};
  graph.tensors[3].is_variable = true;
  graph.inputs = {0};
  graph.outputs = {4};
  tfl::Operator& op = graph.operators.emplace_back();
  op.code.builtin = BuiltinOperator::SVDF;
  op.inputs = {0, 1, 2, tfl::kNoTensor, 3};
  op.outputs = {4};
  op.options = tfl::Options(op.code.builtin).set("rank", 2);
  return model;
}

std::vector<BuiltinOperator> operators(const tfl::Model& model) {
  std::vector<BuiltinOperator> all;
  for (const tfl::Operator& op : model.subgraphs[0].operators) all.push_back(op.code.builtin);
  return all;
}

Node& call_of(const Model& model) { return *model.graph->first(); }

TEST(TfliteFunction, StandsForAnOperatorThatOnnxLacks) {
  const Model model = import_model(svdf_model()).model;
  ASSERT_EQ(model.functions.size(), 1u);
  EXPECT_EQ(model.functions[0]->domain, kTfliteDomain);
  ASSERT_EQ(model.graph->node_count(), 1u);
  EXPECT_EQ(call_of(model).op, "SVDF");
  EXPECT_NE(model.opsets.version(kTfliteDomain), 0);
}

TEST(TfliteFunction, GivesWhatItsBodyGives) {
  Model model = import_model(svdf_model()).model, written_out = model.clone();
  passes::inline_functions(written_out);
  EXPECT_GT(written_out.graph->node_count(), 5u);
  const auto run = [](const Model& m) {
    const Tensor state = Tensor::of<float>({1, 12}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12});
    const Tensor x = Tensor::of<float>({1, 2}, {2, 3});
    return engine::Session(m)
        .run({{"x", Array::from(x)}, {"state", Array::from(state)}})[0]
        .value.array()
        ->to_doubles();
  };
  // Features 8, 18, 28, 38 come in; each filter weighs its last three, and two filters are one result.
  const double first = 2 * 1 + 3 * 0 + 8 * 2 + 5 * 1 + 6 * 1 + 18 * 0;
  const double second = 8 * 3 + 9 * 1 + 28 * 0 + 11 * 1 + 12 * 2 + 38 * 1;
  EXPECT_THAT(run(model), ElementsAre(first, second));
  EXPECT_THAT(run(written_out), ElementsAre(first, second));
}

TEST(TfliteFunction, RefusesAStateThatIsNoVariable) {
  tfl::Model not_marked = svdf_model();
  not_marked.subgraphs[0].tensors[3].is_variable = false;
  EXPECT_REFUSED(Code::unsupported_operator, import_model(not_marked));
  tfl::Model made_before = svdf_model();  // by an operator of the graph
  tfl::SubGraph& graph = made_before.subgraphs[0];
  graph.tensors[3].shape = graph.tensors[0].shape;
  tfl::Operator negation;
  negation.code.builtin = BuiltinOperator::NEG;
  negation.inputs = {0};
  negation.outputs = {3};
  graph.operators.insert(graph.operators.begin(), negation);
  EXPECT_REFUSED(Code::unsupported_operator, import_model(made_before));
}

TEST(TfliteFunction, ComesBackAsTheOperatorThatItWas) {
  const tfl::Model source = svdf_model();
  const tfl::Model back = backends::tflite::to_tflite(import_model(source).model).model;
  ASSERT_THAT(operators(back), ElementsAre(BuiltinOperator::SVDF));
  const tfl::Operator& op = back.subgraphs[0].operators[0];
  EXPECT_EQ(op.options, source.subgraphs[0].operators[0].options);
  ASSERT_EQ(op.inputs.size(), 5u);
  EXPECT_EQ(op.inputs[3], tfl::kNoTensor);
  EXPECT_TRUE(back.subgraphs[0].tensors.at(static_cast<std::size_t>(op.inputs[4])).is_variable);
  EXPECT_EQ(tfl::constant_data(back, back.subgraphs[0].tensors.at(static_cast<std::size_t>(op.inputs[2]))),
            source.buffers[2]);
  EXPECT_EQ(back.subgraphs[0].inputs.size(), 1u);
  EXPECT_EQ(back.subgraphs[0].outputs.size(), 1u);
}

TEST(TfliteFunction, IsWrittenOutWhereItsStateStartsElsewhere) {
  const Model model = import_model(svdf_model()).model;
  Value* state = model.graph->find("state");
  ASSERT_TRUE(state && state->initializer);
  state->initializer = Tensor::of<float>({1, 12}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12});
  const tfl::Model back = backends::tflite::to_tflite(model).model;
  EXPECT_EQ(std::ranges::count(operators(back), BuiltinOperator::SVDF), 0);
  EXPECT_EQ(std::ranges::count(operators(back), BuiltinOperator::READ_VARIABLE), 1);
}

TEST(TfliteFunction, IsWrittenOutWhereItsDescriptionIsDamaged) {
  const Model model = import_model(svdf_model()).model;
  call_of(model).attributes.set(Attribute(std::string(kOperator), AttrValue(std::string("damaged"))));
  const tfl::Model back = backends::tflite::to_tflite(model).model;
  EXPECT_EQ(std::ranges::count(operators(back), BuiltinOperator::SVDF), 0);
}

TEST(TfliteFunction, IsWrittenOutWhereTheVersionHasNoFunctionsAndNoNotes) {
  Model model = import_model(svdf_model()).model;
  ASSERT_FALSE(model.graph->find("state")->metadata.empty());
  driver::AdjustOptions options;
  options.opset = 14;
  driver::adjust(model, options);
  EXPECT_LT(model.ir_version, 8);
  EXPECT_TRUE(model.functions.empty());
  EXPECT_TRUE(model.graph->find("state")->metadata.empty());
  EXPECT_GT(model.graph->node_count(), 5u);
}

TEST(TfliteFunction, IsRefusedWithoutBodyAndDescription) {
  Model model = import_model(svdf_model()).model;
  model.functions.clear();
  call_of(model).attributes.set(Attribute(std::string(kOperator), AttrValue(std::string("damaged"))));
  EXPECT_FALSE(backends::tflite::find_obstacles(model).empty());
}

TEST(FixedPoint, IsAFewStepsBesideTheExactFunctions) {
  const std::vector<std::int16_t> sigmoid = fixed_sigmoid(), tanh = fixed_tanh(3);
  ASSERT_EQ(sigmoid.size(), 65536u);
  EXPECT_EQ(sigmoid[32768], 16384);
  EXPECT_EQ(tanh[32768], 0);
  double worst_sigmoid = 0, worst_tanh = 0;
  for (int i = 0; i < 65536; ++i) {
    const double x = (i - 32768) / 4096.0;
    const auto at = static_cast<std::size_t>(i);
    worst_sigmoid = std::max(worst_sigmoid, std::abs(sigmoid[at] - 32768 / (1 + std::exp(-x))));
    worst_tanh = std::max(worst_tanh, std::abs(tanh[at] - 32768 * std::tanh(x)));
  }
  EXPECT_GT(worst_sigmoid, 6);
  EXPECT_LT(worst_sigmoid, 7);
  EXPECT_GT(worst_tanh, 11);
  EXPECT_LT(worst_tanh, 13);
}

TEST(FixedPoint, FactorsHave31Bits) {
  const FixedFactor third = fixed_factor(1.0 / 3);
  EXPECT_EQ(third.exponent, -1);
  EXPECT_EQ(third.mantissa, std::round(2.0 / 3 * 2147483648.0) / 2147483648.0);
  EXPECT_EQ(fixed_factor(1.0 - 1e-12).mantissa, 0.5);
  EXPECT_EQ(fixed_factor(1.0 - 1e-12).exponent, 1);
}

}  // namespace
}  // namespace ingot::frontends::tflite
