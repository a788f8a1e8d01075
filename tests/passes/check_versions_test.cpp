// The IR version, imports, and what an IR version does not have.
#include "tests/passes/problems.h"

namespace ingot {
namespace {

using test::problems_of;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::string_view kGraph = " g (float[2] x) => (float[2] y) { y = Relu(x) }";

std::vector<std::string> with_header(std::string_view header) {
  return problems_of(std::string(header) + std::string(kGraph));
}

TEST(CheckVersions, AcceptsEveryKnownIrVersion) {
  for (int version = 3; version <= 14; ++version)
    EXPECT_THAT(with_header("<ir_version: " + std::to_string(version) + R"(, opset_import: ["": 13]>)"), IsEmpty());
}

TEST(CheckVersions, WantsAnIrVersion) {
  EXPECT_THAT(with_header(R"(<opset_import: ["": 13]>)"),
              ElementsAre("error: model: the model does not state its IR version [IG0317]"));
}

TEST(CheckVersions, RefusesIrVersionsOfTheFuture) {
  EXPECT_THAT(with_header(R"(<ir_version: 15, opset_import: ["": 13]>)"),
              ElementsAre("error: model: IR version 15 is not supported: versions 1 to 14 are [IG0317]"));
}

TEST(CheckVersions, RefusesNumbersThatNoVersionHas) {
  Model model =
      onnx::parse_text(R"(<ir_version: 8, opset_import: ["": 13]> g (float[2] x) => (float[2] y) { y = Relu(x) })");
  for (const std::int64_t opset :
       {std::int64_t{0}, std::int64_t{-1}, std::int64_t{9999}, (std::int64_t{1} << 32) + 17}) {
    model.opsets.set("", opset);
    EXPECT_THAT(problems_of(model), testing::Contains(testing::HasSubstr("of operator set 'ai.onnx' does not exist")))
        << opset;
  }
  model.opsets.set("", 13);
  for (const std::int64_t ir : {std::int64_t{-5}, (std::int64_t{1} << 32) + 8}) {
    model.ir_version = ir;
    EXPECT_THAT(problems_of(model), ElementsAre(testing::HasSubstr("is not supported: versions 1 to 14 are"))) << ir;
  }
}

TEST(CheckVersions, WantsImports) {
  EXPECT_THAT(with_header("<ir_version: 8>"), ElementsAre("error: model: no operator set is imported [IG0309]"));
}

TEST(CheckVersions, OldModelsMeanOpset1AndCannotImport) {
  constexpr std::string_view kOld = " g (float[2] x) => (float[2] y) { y = Abs <consumed_inputs = [0]> (x) }";
  EXPECT_THAT(problems_of("<ir_version: 2>" + std::string(kOld)), IsEmpty());
  EXPECT_THAT(problems_of(R"(<ir_version: 2, opset_import: ["": 1]>)" + std::string(kOld)),
              ElementsAre("error: model: IR version 2 has no operator set imports [IG0309]"));
}

TEST(CheckVersions, RefusesVersionsOfStandardSetsThatDoNotExist) {
  EXPECT_THAT(with_header(R"(<ir_version: 8, opset_import: ["": 13, "ai.onnx.ml": 99]>)"),
              ElementsAre("error: model: version 99 of operator set 'ai.onnx.ml' does not exist [IG0309]"));
  EXPECT_THAT(with_header(R"(<ir_version: 8, opset_import: ["": 13, "ai.onnx.ml": 0]>)"),
              ElementsAre("error: model: version 0 of operator set 'ai.onnx.ml' does not exist [IG0309]"));
  EXPECT_THAT(with_header(R"(<ir_version: 8, opset_import: ["": 13, "acme": 0]>)"),
              ElementsAre("warning: model: version 0 of operator set 'acme' is not positive [IG0309]"));
}

TEST(CheckVersions, WantsEachDomainOnce) {
  EXPECT_THAT(with_header(R"(<ir_version: 8, opset_import: ["": 13, "ai.onnx": 13]>)"),
              ElementsAre("warning: model: operator set 'ai.onnx' is imported twice [IG0309]"));
  EXPECT_THAT(with_header(R"(<ir_version: 8, opset_import: ["": 13, "": 14]>)"),
              ElementsAre("error: model: operator set 'ai.onnx' is imported twice, in versions 13 and 14 [IG0309]"));
}

TEST(CheckVersions, EveryDomainInUseIsImported) {
  EXPECT_THAT(
      problems_of(R"(<ir_version: 8, opset_import: ["": 13]>
      g (float[2] x) => (float[2] y) { a = Relu(x) [second] b = acme.F(a) y = acme.G(b) })"),
      ElementsAre("warning: node 'second' (acme.F): domain 'acme' of the operator is not imported, which 2 nodes "
                  "need [IG0309]"));
}

TEST(CheckVersions, FunctionsImportForThemselves) {
  EXPECT_THAT(
      problems_of(R"(<ir_version: 8, opset_import: ["": 13, "acme": 1]>
      g (float[2] x) => (float[2] y) { y = acme.F(x) }
      <domain: "acme", opset_import: ["local": 1]> F (a) => (b) { b = Relu(a) })"),
      ElementsAre("error: function 'acme.F': the node that makes 'b' (Relu): domain 'ai.onnx' of the operator is "
                  "not imported [IG0309]"));
}

TEST(CheckVersions, FunctionsNeedIr8) {
  EXPECT_THAT(problems_of(R"(<ir_version: 7, opset_import: ["": 13, "acme": 1]>
      g (float[2] x) => (float[2] y) { y = acme.F(x) }
      <domain: "acme", opset_import: ["": 13]> F (a) => (b) { b = Relu(a) })"),
              ElementsAre("error: function 'acme.F': a model-local function needs IR version 8, but the model states 7 "
                          "[IG0317]"));
}

TEST(CheckVersions, ElementTypesHaveTheirIrVersion) {
  EXPECT_THAT(problems_of(R"(<ir_version: 8, opset_import: ["": 19]>
      g (float[2] x) => (float8e4m3fn[2] y) { y = Cast <to = 17> (x) })"),
              ElementsAre("warning: value 'y': element type float8e4m3fn needs IR version 9, but the model states 8 "
                          "[IG0317]"));
  EXPECT_THAT(
      problems_of(R"(<ir_version: 3, opset_import: ["": 13]>
      g (bfloat16[2] x) => (bfloat16[2] y) { y = Neg(x) })"),
      ElementsAre("warning: input 'x': element type bfloat16 needs IR version 4, but the model states 3 (2 uses) "
                  "[IG0317]"));
}

TEST(CheckVersions, NewerMessagesNeedNewerIrVersions) {
  Model model = onnx::parse_text(R"(<ir_version: 4, opset_import: ["": 13]>
      g (float[2] x) => (float[2] y) { y = Relu(x) })");
  model.graph->first()->metadata.emplace_back("key", "value");
  model.graph->metadata.emplace_back("key", "value");
  model.graph->inputs()[0]->metadata.emplace_back("key", "value");
  model.graph->quantization.push_back({"x", {}, {}});
  model.device_configurations.push_back({"pair", 2, {}, {}});
  model.training.emplace_back().algorithm = std::make_unique<Graph>(model.graph.get());
  model.training[0].algorithm->name = "step";
  EXPECT_THAT(
      problems_of(model),
      ElementsAre("warning: training info 0: training information needs IR version 7, but the model states 4 [IG0317]",
                  "warning: model: a device configuration needs IR version 11, but the model states 4 [IG0317]",
                  "warning: graph: a quantization annotation needs IR version 5, but the model states 4 [IG0317]",
                  "warning: graph: metadata of a graph needs IR version 10, but the model states 4 [IG0317]",
                  "warning: input 'x': metadata of a value needs IR version 10, but the model states 4 [IG0317]",
                  "warning: the node that makes 'y' (Relu): metadata of a node needs IR version 10, but the model "
                  "states 4 [IG0317]"));
}

}  // namespace
}  // namespace ingot
