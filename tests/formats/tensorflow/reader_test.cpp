// GraphDef in binary and text, the rules of tensors, and hostile files.
#include "ingot/formats/tensorflow/reader.h"

#include <gtest/gtest.h>

#include <cstring>

#include "ingot/base/budget.h"
#include "ingot/base/error.h"
#include "ingot/formats/tensorflow/text.h"
#include "tests/support/refusal.h"

namespace ingot::formats::tensorflow {
namespace {

constexpr std::string_view kGraph = R"(
# a comment
node {
  name: "x"
  op: "Placeholder"
  attr { key: "dtype" value { type: DT_FLOAT } }
  attr { key: "shape" value { shape { dim { size: -1 } dim { size: 3 } } } }
}
node {
  name: "two" op: "Const"
  attr { key: "dtype" value { type: DT_FLOAT } }
  attr { key: "value" value { tensor { dtype: DT_FLOAT tensor_shape { dim { size: 3 } } float_val: 2 } } }
}
node { name: "y" op: "Mul" input: "x" input: "two" input: "^two" attr { key: "n" value { list { i: [1, 2] i: 3 } } } }
versions { producer: 27 unknown_field { a: 1 } }
)";

Bytes bytes(std::string_view text) { return Bytes::own(std::string(text)); }

TEST(TensorFlowText, IsReadLikeTheBinaryForm) {
  const GraphDef graph = read_graph(bytes(kGraph), Budget::unlimited());
  ASSERT_EQ(graph.nodes.size(), 3U);
  EXPECT_EQ(graph.producer, 27);
  EXPECT_EQ(graph.nodes[2].op, "Mul");
  EXPECT_EQ(graph.nodes[2].inputs, (std::vector<std::string>{"x", "two", "^two"}));
  EXPECT_EQ(std::get<TensorShape>(*graph.nodes[0].find("shape")).dims, (std::vector<std::int64_t>{-1, 3}));
  EXPECT_EQ(std::get<std::shared_ptr<const AttrList>>(*graph.nodes[2].find("n"))->ints,
            (std::vector<std::int64_t>{1, 2, 3}));
  const Bytes binary = Bytes::own(binary_of_text(kGraph, Message::graph));
  EXPECT_EQ(kind_of(binary), FileKind::graph);
  EXPECT_EQ(read_graph(binary, Budget::unlimited()).nodes[1].name, "two");
}

TEST(TensorFlowText, NamesTheLineOfAMistake) {
  try {
    (void)read_graph(bytes("node {\n  name: \"x\n}\n"), Budget::unlimited());
    FAIL() << "was read";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::text_bad_literal);
    EXPECT_NE(error.message().find("line 2"), std::string::npos) << error.message();
  }
}

TEST(TensorFlowText, RefusesDeepNesting) {
  std::string text = "node { attr { key: 'a' value { ";
  for (int i = 0; i < 500; ++i) text += "func { attr { key: 'a' value { ";
  EXPECT_REFUSED(Code::too_deep, read_graph(bytes(text), Budget::unlimited()));
}

TEST(TensorFlowTensor, RepeatsItsLastElement) {
  const GraphDef graph = read_graph(bytes(kGraph), Budget::unlimited());
  const auto& tensor = *std::get<std::shared_ptr<const TensorProto>>(*graph.nodes[1].find("value"));
  const Bytes all = expanded_elements(tensor, Budget::unlimited());
  ASSERT_EQ(all.size(), 12U);
  float values[3];
  std::memcpy(values, all.data(), sizeof values);
  EXPECT_EQ(values[2], 2.0F);
}

TEST(TensorFlowTensor, RefusesAValueThatWouldFillTheMemory) {
  TensorProto tensor{DataType::f32, {.dims = {1 << 20, 1 << 20}}, Bytes::own(std::string(4, '\0')), {}};
  EXPECT_REFUSED(Code::memory_limit, expanded_elements(tensor, Budget::unlimited()));
  tensor.shape.dims = {1 << 20, 100};
  Budget small({.memory = 1 << 20});
  EXPECT_REFUSED(Code::memory_limit, expanded_elements(tensor, small));
}

TEST(TensorFlowTensor, RefusesMoreDataThanItsShapeHas) {
  const TensorProto tensor{DataType::f32, {.dims = {1}}, Bytes::own(std::string(8, '\0')), {}};
  EXPECT_REFUSED(Code::tensor_size_mismatch, expanded_elements(tensor, Budget::unlimited()));
}

TEST(TensorFlowRecognition, LooksAtTheContent) {
  EXPECT_EQ(kind_of(bytes("")), std::nullopt);
  EXPECT_EQ(kind_of(bytes("\x0a\x02\x08\x01")), std::nullopt);
  EXPECT_EQ(kind_of_text("meta_info_def {"), FileKind::meta_graph);
  EXPECT_EQ(kind_of_text("saved_model_schema_version: 1"), FileKind::saved_model);
  EXPECT_EQ(kind_of_text("<ir_version: 8>"), std::nullopt);
}

}  // namespace
}  // namespace ingot::formats::tensorflow
