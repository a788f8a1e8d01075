// Graphs written for TF.js are read back as what they were.
#include "ingot/formats/tfjs/graph_model_writer.h"

#include <gtest/gtest.h>

#include <cstring>
#include <limits>

#include "ingot/base/budget.h"
#include "ingot/formats/tensorflow/reader.h"
#include "ingot/formats/tfjs/graph_model.h"
#include "tests/support/files.h"

namespace ingot::formats {
namespace {

constexpr const char* kGraph = R"(
node { name: "x" op: "Placeholder" attr { key: "dtype" value { type: DT_FLOAT } }
       attr { key: "shape" value { shape { dim { size: -1 } dim { size: 2 } } } } }
node { name: "w" op: "Const" attr { key: "dtype" value { type: DT_DOUBLE } }
       attr { key: "value" value { tensor { dtype: DT_DOUBLE tensor_shape { dim { size: 2 } }
              double_val: 1.5 double_val: -2 } } } }
node { name: "n" op: "Const" attr { key: "dtype" value { type: DT_INT64 } }
       attr { key: "value" value { tensor { dtype: DT_INT64 tensor_shape { } int64_val: 9000000000 } } } }
node { name: "words" op: "Const" attr { key: "dtype" value { type: DT_STRING } }
       attr { key: "value" value { tensor { dtype: DT_STRING tensor_shape { dim { size: 2 } }
              string_val: "a" string_val: "bc" } } } }
node { name: "y" op: "Pool" input: "x" input: "^w" attr { key: "padding" value { s: "SAME" } }
       attr { key: "ksize" value { list { i: 1 i: 3 } } } attr { key: "ratio" value { f: 0.5 } }
       attr { key: "flag" value { b: true } } }
)";

tfjs::GraphModel written_and_read() {
  const test::TempDir directory;
  const tensorflow::GraphDef graph = tensorflow::read_graph(Bytes::own(std::string(kGraph)), Budget::unlimited());
  const tfjs::GraphModelFiles files = tfjs::to_graph_model(graph, Budget::unlimited());
  test::write_text(directory / "weights.bin", files.weights);
  return tfjs::read_graph_model(Bytes::own(files.json), directory.path().string(), {}, Budget::unlimited());
}

const tensorflow::TensorProto& constant(const tfjs::GraphModel& model, std::size_t node) {
  return *std::get<std::shared_ptr<const tensorflow::TensorProto>>(*model.graph.nodes.at(node).find("value"));
}

TEST(TfjsWriter, KeepsNodesAndAttributes) {
  const tfjs::GraphModel model = written_and_read();
  ASSERT_EQ(model.graph.nodes.size(), 5u);
  const tensorflow::NodeDef& y = model.graph.nodes[4];
  EXPECT_EQ(y.op, "Pool");
  EXPECT_EQ(y.inputs, (std::vector<std::string>{"x", "^w"}));
  EXPECT_EQ(std::get<std::string>(*y.find("padding")), "SAME");
  EXPECT_EQ(std::get<std::shared_ptr<const tensorflow::AttrList>>(*y.find("ksize"))->ints,
            (std::vector<std::int64_t>{1, 3}));
  EXPECT_EQ(std::get<float>(*y.find("ratio")), 0.5f);
  EXPECT_TRUE(std::get<bool>(*y.find("flag")));
  EXPECT_EQ(std::get<tensorflow::TensorShape>(*model.graph.nodes[0].find("shape")).dims,
            (std::vector<std::int64_t>{-1, 2}));
}

TEST(TfjsWriter, HoldsWeightsInTheTypesThatTfjsHas) {
  const tfjs::GraphModel model = written_and_read();
  const tensorflow::TensorProto &w = constant(model, 1), &n = constant(model, 2), &words = constant(model, 3);
  EXPECT_EQ(w.dtype, tensorflow::DataType::f64);  // as the graph says; the shards hold floats
  double values[2];
  ASSERT_EQ(w.elements.size(), sizeof values);
  std::memcpy(values, w.elements.data(), sizeof values);
  EXPECT_EQ(values[0], 1.5);
  EXPECT_EQ(values[1], -2.0);
  EXPECT_EQ(n.dtype, tensorflow::DataType::i64);  // as the graph says; the shards hold what fits 32 bits
  std::int64_t number = 0;
  ASSERT_EQ(n.elements.size(), sizeof number);
  std::memcpy(&number, n.elements.data(), sizeof number);
  EXPECT_EQ(number, std::numeric_limits<std::int32_t>::max());
  EXPECT_EQ(words.strings, (std::vector<std::string>{"a", "bc"}));
}

}  // namespace
}  // namespace ingot::formats
