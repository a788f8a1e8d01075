// What is written for TensorFlow is read back as what it was.
#include "ingot/formats/tensorflow/writer.h"

#include <gtest/gtest.h>

#include "ingot/base/budget.h"
#include "ingot/formats/tensorflow/checkpoint.h"
#include "ingot/formats/tensorflow/checkpoint_writer.h"
#include "ingot/formats/tensorflow/reader.h"
#include "ingot/formats/tensorflow/table_file.h"

namespace ingot::formats::tensorflow {
namespace {

constexpr const char* kGraph = R"(
node { name: "x" op: "Placeholder" attr { key: "dtype" value { type: DT_FLOAT } }
       attr { key: "shape" value { shape { dim { size: -1 } dim { size: 2 } } } } }
node { name: "w" op: "Const" attr { key: "dtype" value { type: DT_FLOAT } }
       attr { key: "value" value { tensor { dtype: DT_FLOAT tensor_shape { dim { size: 2 } }
              float_val: 1.5 float_val: -2 } } } }
node { name: "words" op: "Const" attr { key: "value" value { tensor { dtype: DT_STRING tensor_shape { dim { size: 2 } }
              string_val: "a" string_val: "bc" } } } }
node { name: "y" op: "If" input: "x" input: "w:1" input: "^words" attr { key: "then_branch" value { func { name: "f" } } }
       attr { key: "Tout" value { list { type: DT_FLOAT type: DT_INT64 } } }
       attr { key: "ksize" value { list { i: 1 i: -3 } } } attr { key: "ratio" value { f: 0.5 } }
       attr { key: "none" value { list { } } } attr { key: "flag" value { b: true } } }
library { function { signature { name: "f" input_arg { name: "a" type: DT_FLOAT } output_arg { name: "b" type: DT_FLOAT } }
          node_def { name: "n" op: "Neg" input: "a" } ret { key: "b" value: "n:y:0" } } }
versions { producer: 898 }
)";

TEST(TensorflowWriter, KeepsGraphs) {
  const GraphDef graph = read_graph(Bytes::own(std::string(kGraph)), Budget::unlimited());
  StringSink sink;
  write_graph(graph, sink);
  const GraphDef again = read_graph(Bytes::own(sink.take()), Budget::unlimited());
  ASSERT_EQ(again.nodes.size(), graph.nodes.size());
  EXPECT_EQ(again.producer, 898);
  const NodeDef& y = again.nodes[3];
  EXPECT_EQ(y.inputs, graph.nodes[3].inputs);
  EXPECT_EQ(std::get<std::shared_ptr<const FunctionName>>(*y.find("then_branch"))->name, "f");
  EXPECT_EQ(std::get<std::shared_ptr<const AttrList>>(*y.find("Tout"))->types,
            (std::vector<DataType>{DataType::f32, DataType::i64}));
  EXPECT_EQ(std::get<std::shared_ptr<const AttrList>>(*y.find("ksize"))->ints, (std::vector<std::int64_t>{1, -3}));
  EXPECT_EQ(std::get<float>(*y.find("ratio")), 0.5f);
  EXPECT_TRUE(std::get<bool>(*y.find("flag")));
  EXPECT_EQ(*std::get<std::shared_ptr<const TensorProto>>(*again.nodes[2].find("value")),
            *std::get<std::shared_ptr<const TensorProto>>(*graph.nodes[2].find("value")));
  ASSERT_EQ(again.functions.size(), 1u);
  EXPECT_EQ(again.functions[0].nodes.at(0).inputs.at(0), "a");
  EXPECT_EQ(again.functions[0].returns.at(0).second, "n:y:0");
}

TEST(TensorflowWriter, WritesTheSameBytesTwice) {
  const GraphDef graph = read_graph(Bytes::own(std::string(kGraph)), Budget::unlimited());
  StringSink one, two;
  write_graph(graph, one);
  write_graph(graph, two);
  EXPECT_EQ(one.text(), two.text());
}

TensorProto floats(const std::vector<float>& values) {
  TensorProto tensor;
  tensor.dtype = DataType::f32;
  tensor.shape.dims = {static_cast<std::int64_t>(values.size())};
  tensor.elements = Bytes::copy(std::as_bytes(std::span(values)));
  return tensor;
}

TEST(TensorflowWriter, KeepsCheckpointsWithTheirChecksums) {
  TensorProto words;
  words.dtype = DataType::string;
  words.shape.dims = {3};
  words.strings = {"", "one", std::string(300, 'x')};
  StringSink index, data;
  write_checkpoint({{"b/.ATTRIBUTES/VARIABLE_VALUE", floats({1, -2.5f})}, {"a", words}, {"empty", floats({})}}, index,
                   data);
  const Checkpoint read = Checkpoint::of(Bytes::own(index.take()), {Bytes::own(data.take())}, Budget::unlimited());
  EXPECT_EQ(read.keys().size(), 3u);
  EXPECT_EQ(read.read("a", Budget::unlimited())->strings, words.strings);
  EXPECT_EQ(read.read("b/.ATTRIBUTES/VARIABLE_VALUE", Budget::unlimited())->elements.text(),
            floats({1, -2.5f}).elements.text());
  EXPECT_FALSE(read.read("c", Budget::unlimited()));
}

TEST(TensorflowWriter, KeepsTablesOfManyBlocks) {
  std::vector<std::pair<std::string, std::string>> entries;
  for (int i = 0; i < 5000; ++i) {
    std::string number = std::to_string(i);
    entries.emplace_back("key/" + std::string(6 - number.size(), '0') + number, std::string(200, static_cast<char>(i)));
  }
  StringSink sink;
  write_table(entries, sink);
  const auto read = read_table(Bytes::own(sink.take()), Budget::unlimited());
  ASSERT_EQ(read.size(), entries.size());
  for (const auto& [key, value] : entries) EXPECT_EQ(read.at(key).text(), value);
}

SavedModel small_model() {
  SavedModel model;
  MetaGraph& meta = model.meta_graphs.emplace_back();
  meta.tags = {"serve"};
  meta.graph = read_graph(Bytes::own(std::string(kGraph)), Budget::unlimited());
  meta.saver = SaverDef{"file:0", "save:0", "restore"};
  Signature& signature = meta.signatures.emplace_back();
  signature.key = "serving_default";
  signature.method = "tensorflow/serving/predict";
  signature.inputs.emplace_back("x", TensorInfo{"x:0", DataType::f32, {false, {-1, 2}}, false, {}, {}, {}});
  signature.outputs.emplace_back("y", TensorInfo{"y:0", DataType::f32, {true, {}}, false, {}, {}, {}});
  meta.objects.objects.resize(4);
  meta.objects.objects[0] = {
      SavedObject::Kind::user_object, {{"w", 3}, {"signatures", 1}}, "_generic_user_object", DataType::invalid, {}, 0};
  meta.objects.objects[1] = {
      SavedObject::Kind::user_object, {{"serving_default", 2}}, "signature_map", DataType::invalid, {}, 0};
  meta.objects.objects[2] = {SavedObject::Kind::concrete_function, {}, "serve", DataType::invalid, {}, 0};
  meta.objects.objects[3] = {SavedObject::Kind::variable, {}, "w", DataType::f32, {false, {2}}, 0};
  meta.objects.functions.push_back({"serve", {3}});
  return model;
}

TEST(TensorflowWriter, KeepsSavedModels) {
  StringSink sink;
  write_saved_model(small_model(), sink);
  const SavedModel read = read_saved_model(Bytes::own(sink.take()), Budget::unlimited());
  ASSERT_EQ(read.meta_graphs.size(), 1u);
  const MetaGraph& meta = read.meta_graphs[0];
  EXPECT_EQ(meta.tags, (std::vector<std::string>{"serve"}));
  EXPECT_EQ(meta.saver->restore_op, "restore");
  ASSERT_EQ(meta.signatures.size(), 1u);
  EXPECT_EQ(meta.signatures[0].inputs.at(0).second.shape.dims, (std::vector<std::int64_t>{-1, 2}));
  EXPECT_TRUE(meta.signatures[0].outputs.at(0).second.shape.unknown_rank);
  ASSERT_EQ(meta.objects.objects.size(), 4u);
  EXPECT_EQ(meta.objects.objects[3].kind, SavedObject::Kind::variable);
  EXPECT_EQ(meta.objects.objects[3].name, "w");
  EXPECT_EQ(meta.objects.objects[0].children.at(0), (std::pair<std::string, std::int32_t>("w", 3)));
  ASSERT_EQ(meta.objects.functions.size(), 1u);
  EXPECT_EQ(meta.objects.functions[0].bound_inputs, (std::vector<std::int32_t>{3}));
}

}  // namespace
}  // namespace ingot::formats::tensorflow
