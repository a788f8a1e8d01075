// TF.js graph-models: JSON graphs, quantised weights, paths that must not leave the directory.
#include "ingot/formats/tfjs/graph_model.h"

#include <gtest/gtest.h>

#include <cstring>

#include "ingot/base/budget.h"
#include "ingot/base/error.h"
#include "ingot/formats/tfjs/json_message.h"
#include "tests/support/files.h"
#include "tests/support/refusal.h"

namespace ingot::formats::tfjs {
namespace {

std::string model_json(const std::string& path) {
  return R"({"format":"graph-model","modelTopology":{"node":[
    {"name":"x","op":"Placeholder","attr":{"dtype":{"type":"DT_FLOAT"},"shape":{"shape":{"dim":[{"size":"-1"}]}}}},
    {"name":"w","op":"Const","attr":{"dtype":{"type":"DT_FLOAT"},"value":{"tensor":{"dtype":"DT_FLOAT","tensorShape":{"dim":[{"size":"2"}]}}}}},
    {"name":"h","op":"Const","attr":{"value":{"tensor":{"dtype":"DT_FLOAT","tensorShape":{}}}}},
    {"name":"y","op":"Mul","input":["x","w"],"attr":{"T":{"type":"DT_FLOAT"},"s":{"s":"TkhXQw=="},"old":{"s":[78,72]}}}]},
    "weightsManifest":[{"paths":[")" +
         path + R"("],"weights":[
      {"name":"w","shape":[2],"dtype":"float32","quantization":{"dtype":"uint8","min":-1.0,"scale":0.5}},
      {"name":"h","shape":[],"dtype":"float32","quantization":{"dtype":"float16"}}]}],
    "signature":{"inputs":{"in":{"name":"x:0","dtype":"DT_FLOAT"}},"outputs":{"out":{"name":"y:0"}}}})";
}

TEST(TfjsGraphModel, HasItsWeightsInItsConstants) {
  const test::TempDir dir;
  test::write_text(dir / "group1-shard1of1.bin", std::string("\x00\x04\x00\x3c", 4));
  const Bytes file = Bytes::own(model_json("group1-shard1of1.bin"));
  EXPECT_TRUE(looks_like_graph_model(file));
  const GraphModel model = read_graph_model(file, dir.path().string(), {}, Budget::unlimited());
  ASSERT_EQ(model.graph.nodes.size(), 4U);
  const auto& w = *std::get<std::shared_ptr<const tensorflow::TensorProto>>(*model.graph.nodes[1].find("value"));
  float values[2];
  ASSERT_EQ(w.elements.size(), sizeof values);
  std::memcpy(values, w.elements.data(), sizeof values);
  EXPECT_EQ(values[0], -1.0F);
  EXPECT_EQ(values[1], 1.0F);
  const auto& h = *std::get<std::shared_ptr<const tensorflow::TensorProto>>(*model.graph.nodes[2].find("value"));
  std::memcpy(values, h.elements.data(), 4);
  EXPECT_EQ(values[0], 1.0F);
  EXPECT_EQ(std::get<std::string>(*model.graph.nodes[3].find("s")), "NHWC");
  EXPECT_EQ(std::get<std::string>(*model.graph.nodes[3].find("old")), "NH");
  ASSERT_TRUE(model.signature);
  EXPECT_EQ(model.signature->outputs[0].second.name, "y:0");
}

TEST(TfjsGraphModel, ConstantsHaveTheTypeThatTheGraphStates) {
  const test::TempDir dir;
  test::write_text(dir / "w.bin", std::string("\xfe\xff\xff\xff\x05\x00\x00\x00", 8));
  const Bytes file = Bytes::own(std::string(R"({"format":"graph-model","modelTopology":{"node":[
    {"name":"n","op":"Const","attr":{"dtype":{"type":"DT_INT64"},"value":{"tensor":{"dtype":"DT_INT64","tensorShape":{"dim":[{"size":"2"}]}}}}}]},
    "weightsManifest":[{"paths":["w.bin"],"weights":[{"name":"n","shape":[2],"dtype":"int32"}]}]})"));
  const GraphModel model = read_graph_model(file, dir.path().string(), {}, Budget::unlimited());
  const auto& n = *std::get<std::shared_ptr<const tensorflow::TensorProto>>(*model.graph.nodes[0].find("value"));
  EXPECT_EQ(n.dtype, tensorflow::DataType::i64);
  std::int64_t values[2];
  ASSERT_EQ(n.elements.size(), sizeof values);
  std::memcpy(values, n.elements.data(), sizeof values);
  EXPECT_EQ(values[0], -2);
  EXPECT_EQ(values[1], 5);
}

TEST(TfjsGraphModel, IsNotALayersModelWhichIsRefusedByName) {
  for (const char* topology : {R"({"class_name":"Sequential","config":{}})",
                               R"({"keras_version":"2.4.0","model_config":{"class_name":"Model","config":{}}})"}) {
    const Bytes file = Bytes::own(R"({"modelTopology":)" + std::string(topology) + R"(,"weightsManifest":[]})");
    EXPECT_FALSE(looks_like_graph_model(file));
    EXPECT_TRUE(looks_like_layers_model(file));
    try {
      (void)read_graph_model(file, ".", {}, Budget::unlimited());
      FAIL() << topology;
    } catch (const Error& error) {
      EXPECT_EQ(error.exit_code(), 4);
      EXPECT_NE(error.message().find("layers-model"), std::string::npos) << error.message();
    }
  }
}

TEST(TfjsGraphModel, TheOldFormIsABinaryGraphWithAManifestBesideIt) {
  const test::TempDir dir;
  test::write_text(dir / "group1-shard1of1", std::string("\x00\x00\x80\x3f", 4));
  test::write_text(dir / "weights_manifest.json",
                   R"([{"paths":["group1-shard1of1"],"weights":[{"name":"w","shape":[1],"dtype":"float32"}]}])");
  // node { name: "w" op: "Const" attr { key: "value" value { tensor { dtype: DT_FLOAT } } } }
  const std::string file(
      "\x0a\x19\x0a\x01w\x12\x05"
      "Const*\x0d\x0a\x05value\x12\x04\x42\x02\x08\x01",
      27);
  const GraphModel model = read_graph_model(Bytes::own(file), dir.path().string(), {}, Budget::unlimited());
  ASSERT_EQ(model.graph.nodes.size(), 1U);
  const auto& w = *std::get<std::shared_ptr<const tensorflow::TensorProto>>(*model.graph.nodes[0].find("value"));
  EXPECT_EQ(w.shape.dims, std::vector<std::int64_t>{1});
  EXPECT_EQ(w.elements.text(), std::string_view("\x00\x00\x80\x3f", 4));
}

TEST(TfjsGraphModel, RefusesWeightsQuantisedInAWayThatTheFormatDoesNotKnow) {
  const test::TempDir dir;
  test::write_text(dir / "w", std::string(8, '\0'));
  std::string text = model_json("w");
  text.replace(text.find("\"uint8\""), 7, "\"string\"");
  EXPECT_REFUSED(Code::unsupported_feature,
                 read_graph_model(Bytes::own(text), dir.path().string(), {}, Budget::unlimited()));
}

TEST(TfjsGraphModel, OpensNothingOutsideItsDirectory) {
  const test::TempDir dir;
  test::write_text(dir / "weights.bin", std::string(4, '\0'));
  for (const char* path : {"../weights.bin", "/etc/passwd", "a/../../weights.bin", "https://example.org/w.bin"})
    EXPECT_THROW((void)read_graph_model(Bytes::own(model_json(path)), dir.path().string(), {}, Budget::unlimited()),
                 Error)  // for the reason that each path gives
        << path;
}

TEST(TfjsGraphModel, RefusesWeightsThatAreCutOff) {
  const test::TempDir dir;
  test::write_text(dir / "w.bin", "\x01");
  EXPECT_REFUSED(Code::truncated,
                 read_graph_model(Bytes::own(model_json("w.bin")), dir.path().string(), {}, Budget::unlimited()));
}

TEST(TfjsJson, RefusesDeepNesting) {
  std::string text = R"({"format":"graph-model","modelTopology":)";
  for (int i = 0; i < 2000; ++i) text += R"({"node":[)";
  EXPECT_REFUSED(Code::bad_json, read_graph_model(Bytes::own(text), ".", {}, Budget::unlimited()));
}

TEST(TfjsBase64, ReadsBothAlphabets) {
  EXPECT_EQ(from_base64("-_8="), from_base64("+/8"));
  EXPECT_REFUSED(Code::bad_json, from_base64("a b"));
}

}  // namespace
}  // namespace ingot::formats::tfjs
