// One operator as a file of its own.
#include "ingot/formats/tflite/lone_operator.h"

#include <gtest/gtest.h>

#include "ingot/formats/tflite/writer.h"
#include "tests/formats/tflite/sample.h"
#include "tests/support/refusal.h"

namespace ingot::formats::tflite {
namespace {

TEST(LoneOperator, HasItsTensorsAndTheDataThatNobodyHandsIn) {
  const Model model = sample_model();
  const SubGraph& graph = model.subgraphs[0];
  const std::string file = lone_operator(model, graph, graph.operators[0], {0, 1}, {3});
  const Model lone = read_lone_operator(Bytes::copy(bytes_of(file)));
  const SubGraph& own = lone.subgraphs[0];
  EXPECT_EQ(own.operators[0].code.builtin, BuiltinOperator::FULLY_CONNECTED);
  EXPECT_EQ(own.operators[0].options, graph.operators[0].options);
  ASSERT_EQ(own.inputs.size(), 2u);
  EXPECT_EQ(own.tensors.at(static_cast<std::size_t>(own.inputs[1])).name, "w");
  EXPECT_TRUE(constant_data(lone, own.tensors.at(static_cast<std::size_t>(own.inputs[1]))).empty());
  const Tensor& bias = own.tensors.at(static_cast<std::size_t>(own.operators[0].inputs[2]));
  EXPECT_EQ(constant_data(lone, bias).size(), 8u);
}

TEST(LoneOperator, IsNotReadFromAnythingElse) {
  Model model = sample_model();
  model.subgraphs[0].operators.push_back(model.subgraphs[0].operators[0]);
  const std::string two = to_bytes(model);
  EXPECT_REFUSED(Code::bad_source_graph, read_lone_operator(Bytes::copy(bytes_of(two))));
  EXPECT_REFUSED(Code::unknown_format, read_lone_operator(Bytes::copy(bytes_of("no file at all"))));
}

TEST(LoneOperator, RefusesParametersThatAreOtherTensors) {
  Model model = sample_model();
  Quantization blocks;
  blocks.details = BlockwiseQuantization{2, kNoTensor, 4};
  model.subgraphs[0].tensors[1].quantization = blocks;
  const SubGraph& graph = model.subgraphs[0];
  EXPECT_REFUSED(Code::unsupported_setting, lone_operator(model, graph, graph.operators[0], {0, 1, 2}, {3}));
}

}  // namespace
}  // namespace ingot::formats::tflite
