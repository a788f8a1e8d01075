// JSON out.
#include "ingot/onnx/json.h"

#include <nlohmann/json.hpp>

#include "ingot/onnx/text.h"
#include "tests/onnx/corpus.h"

namespace ingot::onnx {
namespace {

using nlohmann::json;

json json_of(std::string_view text, const JsonOptions& options = {}) {
  return json::parse(to_json(parse_text(text), options));
}

TEST(Json, SaysWhatIsInTheModel) {
  const json model = json_of(R"(
    < ir_version: 8, opset_import: ["" : 17, "my" : 1], metadata_props: ["k": "v"] >
    g (float[N,?,3] x) => (float[] y) < float[2] w = {1, 2.5} >
    { [n1] y = my.Op <axis: int = -1, names: strings = ["a"], v: tensor = int64 {7}> (x, "", w) }
  )");
  EXPECT_EQ(model["ir_version"], 8);
  EXPECT_EQ(model["opset_import"][1]["domain"], "my");
  EXPECT_EQ(model["metadata_props"][0]["value"], "v");
  const json& graph = model["graph"];
  EXPECT_EQ(graph["input"][0]["type"], json::parse(R"({"kind":"tensor","elem_type":"float","shape":["N",null,3]})"));
  EXPECT_EQ(graph["output"][0]["type"], json::parse(R"({"kind":"tensor","elem_type":"float"})"));
  EXPECT_EQ(graph["initializer"][0], json::parse(R"({"name":"w","data_type":"float","dims":[2],"bytes":8})"));
  const json& node = graph["node"][0];
  EXPECT_EQ(node["op_type"], "Op");
  EXPECT_EQ(node["input"], json::parse(R"(["x","","w"])"));
  EXPECT_EQ(node["attribute"][0], json::parse(R"({"name":"axis","type":"int","value":-1})"));
  EXPECT_EQ(node["attribute"][2]["value"]["dims"], json::array());
}

TEST(Json, GivesValuesWhenAsked) {
  const json model = json_of(R"(g () => (y) <
    float[4] f = {1.5, nan, inf, -inf}, float16[2] h = {1.0, 49152}, uint64[1] u = {18446744073709551615},
    bool[2] b = {1, 0}, int4[3] i = {-8, 7, 1}, string[2] s = {"a", 0xff}, complex64[1] c = {1, -2} > {})",
                             {.values = true});
  const json& list = model["graph"]["initializer"];
  EXPECT_EQ(list[0]["values"], json::parse(R"([1.5,"nan","inf","-inf"])"));
  EXPECT_EQ(list[1]["values"], json::parse("[1.0,-2.0]"));
  EXPECT_EQ(list[2]["values"], json::parse("[18446744073709551615]"));
  EXPECT_EQ(list[3]["values"], json::parse("[1,0]"));
  EXPECT_EQ(list[4]["values"], json::parse("[-8,7,1]"));
  EXPECT_EQ(list[5]["values"], json::parse(R"(["a",{"hex":"ff"}])"));
  EXPECT_EQ(list[6]["values"], json::parse("[[1.0,-2.0]]"));
}

TEST(Json, EveryModelOfTheCorpusGivesValidJson) {
  test::for_each_shared_model([](const std::string& name, const Model& model) {
    const json parsed = json::parse(to_json(model), nullptr, false);
    EXPECT_FALSE(parsed.is_discarded()) << name;
    EXPECT_EQ(parsed["graph"].value("node", json::array()).size(), model.graph->node_count()) << name;
  });
}

}  // namespace
}  // namespace ingot::onnx
