// What a user may ask of an import: layouts, shapes, cuts, names, functions, casts.
#include <gmock/gmock.h>

#include "ingot/base/error.h"
#include "ingot/driver/adjust.h"
#include "ingot/driver/load.h"
#include "ingot/engine/session.h"
#include "tests/support/files.h"
#include "tests/support/refusal.h"

namespace ingot {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Pair;

/// x[N,4,4,2] -> Conv2D -> BiasAdd -> y[N,4,4,3]
const std::string kConvolution =
    R"(node { name: "x" op: "Placeholder" attr { key: "dtype" value { type: DT_FLOAT } }
      attr { key: "shape" value { shape { dim { size: -1 } dim { size: 4 } dim { size: 4 } dim { size: 2 } } } } }
    node { name: "w" op: "Const" attr { key: "dtype" value { type: DT_FLOAT } } attr { key: "value" value { tensor {
      dtype: DT_FLOAT tensor_shape { dim { size: 1 } dim { size: 1 } dim { size: 2 } dim { size: 3 } }
      float_val: [1, 2, 3, 4, 5, 6] } } } }
    node { name: "b" op: "Const" attr { key: "dtype" value { type: DT_FLOAT } } attr { key: "value" value { tensor {
      dtype: DT_FLOAT tensor_shape { dim { size: 3 } } float_val: [10, 20, 30] } } } }
    node { name: "c" op: "Conv2D" input: "x" input: "w" attr { key: "T" value { type: DT_FLOAT } }
      attr { key: "padding" value { s: "SAME" } } attr { key: "strides" value { list { i: [1, 1, 1, 1] } } } }
    node { name: "y" op: "BiasAdd" input: "c" input: "b" attr { key: "T" value { type: DT_FLOAT } } }
    versions { producer: 27 })";

class ImportOptions : public testing::Test {
 protected:
  driver::Loaded load(const std::string& text, const driver::ImportOptions& import = {}) {
    test::write_text(directory_ / "model.pbtxt", text);
    driver::LoadOptions options;
    options.import = import;
    return driver::load(directory_ / "model.pbtxt", options);
  }
  static std::size_t transposes(const Model& model) {
    std::size_t count = 0;
    for (const Node& node : model.graph->nodes()) count += node.is("Transpose");
    return count;
  }
  static std::vector<double> run(const Model& model, const Dims& dims) {
    std::vector<float> x(static_cast<std::size_t>(tensor_size(dims)));
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i);
    const auto results = engine::Session(model).run({{model.graph->inputs()[0]->name(), Array::of<float>(dims, x)}});
    return results.at(0).value.array()->to_doubles();
  }
  test::TempDir directory_;
};

TEST_F(ImportOptions, InputsAndOutputsKeepTheirLayoutAndSayWhichItIs) {
  const driver::Loaded loaded = load(kConvolution);
  EXPECT_EQ(loaded.model.graph->inputs()[0]->type.str(), "float[x_0,4,4,2]");
  EXPECT_EQ(loaded.model.graph->output(0)->type.str(), "float[x_0,4,4,3]");
  EXPECT_EQ(transposes(loaded.model), 2U);
  EXPECT_THAT(loaded.model.metadata, Contains(Pair("ingot.layout.x", "NHWC")));
  EXPECT_THAT(loaded.model.metadata, Contains(Pair("ingot.layout.y", "NHWC")));
  EXPECT_THAT(loaded.notes, Contains(HasSubstr("transposes are left")));
}

TEST_F(ImportOptions, AnotherLayoutTakesTheTransposesAway) {
  driver::ImportOptions import;
  import.layout = {driver::Layout::channels_first, driver::Layout::channels_first};
  const driver::Loaded loaded = load(kConvolution, import);
  EXPECT_EQ(loaded.model.graph->inputs()[0]->type.str(), "float[x_0,2,4,4]");
  EXPECT_EQ(loaded.model.graph->output(0)->type.str(), "float[x_0,3,4,4]");
  EXPECT_EQ(transposes(loaded.model), 0U);
  EXPECT_THAT(loaded.model.metadata, Contains(Pair("ingot.layout.x", "NCHW")));
  EXPECT_THAT(loaded.notes, Contains("layout: input 'x' is NCHW now"));
  // Channels 0 and 1 of the first pixel are 0 and 16 here: 4 * 16 + 10.
  EXPECT_EQ(run(loaded.model, {1, 2, 4, 4}).at(0), 74);
}

TEST_F(ImportOptions, RenamingTakesTheLayoutAlong) {
  driver::Loaded loaded = load(kConvolution);
  driver::AdjustOptions changes;
  changes.renames = {{"x", "image"}};
  changes.opset = 21;
  driver::adjust(loaded.model, changes);
  EXPECT_EQ(loaded.model.graph->inputs()[0]->name(), "image");
  EXPECT_THAT(loaded.model.metadata, Contains(Pair("ingot.layout.image", "NHWC")));
}

TEST_F(ImportOptions, CutsAndShapesAreTaken) {
  driver::ImportOptions import;
  import.inputs = {"c"};
  import.input_shapes = {{ "c", Shape { 1, 2, 2, 3 } }};
  const driver::Loaded loaded = load(kConvolution, import);
  EXPECT_EQ(loaded.model.graph->inputs()[0]->name(), "c");
  EXPECT_EQ(loaded.model.graph->output(0)->type.str(), "float[1,2,2,3]");
  EXPECT_EQ(run(loaded.model, {1, 2, 2, 3}).at(4), 24);
  import.outputs = {"nobody"};
  EXPECT_REFUSED(Code::unknown_name, load(kConvolution, import));
}

TEST_F(ImportOptions, FunctionsGiveCustomOperatorsAMeaning) {
  test::write_text(directory_ / "mine.onnxtxt",
                   "<ir_version: 10, opset_import: [\"\" : 21, \"my\" : 1]>\n"
                   "g (float[2] x) => (float[2] y) { y = my.Twice(x) }\n"
                   "<domain: \"my\", opset_import: [\"\" : 21]>\n"
                   "Twice (a) => (b) { b = Add(a, a) }\n");
  const std::string text = R"(node { name: "x" op: "Placeholder" attr { key: "dtype" value { type: DT_FLOAT } }
      attr { key: "shape" value { shape { dim { size: 3 } } } } }
    node { name: "y" op: "Twice" input: "x" attr { key: "T" value { type: DT_FLOAT } } } versions { producer: 27 })";
  EXPECT_REFUSED(Code::unsupported_operator, load(text));
  driver::ImportOptions import;
  import.functions = directory_ / "mine.onnxtxt";
  const driver::Loaded loaded = load(text, import);
  EXPECT_EQ(run(loaded.model, {3}), (std::vector<double>{0, 2, 4}));
}

TEST_F(ImportOptions, TypesThatTheOpsetLacksAreCastOnRequestAndNamed) {
  std::string text = kConvolution;
  for (std::size_t at; (at = text.find("DT_FLOAT")) != std::string::npos;) text.replace(at, 8, "DT_BFLOAT16");
  for (std::size_t at; (at = text.find("float_val: [1, 2, 3, 4, 5, 6]")) != std::string::npos;)
    text.replace(at, 29, "half_val: [16256]");
  for (std::size_t at; (at = text.find("float_val: [10, 20, 30]")) != std::string::npos;)
    text.replace(at, 23, "half_val: [16256]");
  driver::AdjustOptions changes;
  changes.opset = 21;
  driver::Loaded cast = load(text);
  changes.auto_cast = driver::AutoCast::up;
  const driver::AdjustReport report = driver::adjust(cast.model, changes);
  EXPECT_THAT(report.notes, Contains(HasSubstr("computes in float instead of bfloat16, which opset 21 lacks")));
  EXPECT_EQ(cast.model.graph->inputs()[0]->type.elem, DType::bf16);
}

}  // namespace
}  // namespace ingot
