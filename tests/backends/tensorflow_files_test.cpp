// Small models as TensorFlow's files: what they look like, and that they are read again as what they were.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "ingot/backends/tensorflow/export.h"
#include "ingot/base/error.h"
#include "ingot/driver/load.h"
#include "ingot/engine/session.h"
#include "ingot/onnx/text.h"
#include "tests/backends/agreement.h"
#include "tests/support/files.h"

namespace ingot {
namespace {

namespace tf = formats::tensorflow;
using backends::tensorflow::Exported;
using backends::tensorflow::ExportOptions;
using backends::tensorflow::to_tensorflow;

const std::string kHead = "<ir_version: 8, opset_import: [\"\" : 18]>\n";

Exported exported(const std::string& graph, const ExportOptions& options = {}) {
  return to_tensorflow(onnx::parse_text(kHead + graph), options);
}

/// The operators in the order in which they stand, constants and inputs aside.
std::string operators(const Exported& e) {
  std::string text;
  for (const tf::NodeDef& n : e.graph.nodes)
    if (n.op != "Const" && n.op != "Placeholder") text += (text.empty() ? "" : " ") + n.op;
  return text;
}

TEST(TensorflowExport, ConvolutionsAreNeighboursWithChannelsLast) {
  const Exported e = exported(R"(g (float[1,3,8,8] x, float[4,3,3,3] w, float[4,4,3,3] v) => (float[1,4,8,8] y) {
      a = Conv<pads = [1,1,1,1]>(x, w)  b = Relu(a)  c = Conv<pads = [1,1,1,1]>(b, v)  y = Add(c, b) })");
  const std::string all = operators(e);
  EXPECT_EQ(std::ranges::count_if(e.graph.nodes, [](const tf::NodeDef& n) { return n.op == "Conv2D"; }), 2) << all;
  // Into the network and out of it, and the two weights, which are inputs here.
  EXPECT_EQ(std::ranges::count_if(e.graph.nodes, [](const tf::NodeDef& n) { return n.op == "Transpose"; }), 4) << all;
}

TEST(TensorflowExport, NamesAreTheSignatureAndNamedSizesStayOpen) {
  const Exported e =
      exported("g (float[N,4] first, float[N,4] second) => (float[N,4] sum) { sum = Add(first, second) }");
  EXPECT_EQ(operators(e), "AddV2");
  ASSERT_EQ(e.signature.inputs.size(), 2U);
  EXPECT_EQ(e.signature.inputs[1].first, "second");
  EXPECT_EQ(e.signature.inputs[1].second.shape.dims, (std::vector<std::int64_t>{-1, 4}));
  EXPECT_EQ(e.signature.outputs[0].second.name, "sum:0");
}

TEST(TensorflowExport, NamesThatTensorflowDoesNotTakeAreWrittenInItsLetters) {
  const Exported e = exported("g (float[2] x) => (float[2] y) { a = Relu(x)  y = Neg(a) }");
  EXPECT_EQ(e.graph.nodes.back().name, "y");
  Model odd = onnx::parse_text(kHead + "g (float[2] x) => (float[2] y) { y = Neg(x) }");
  odd.graph->rename(odd.graph->inputs()[0], "input:0");
  odd.graph->rename(odd.graph->output(0), "_out put");
  const Exported written = to_tensorflow(odd);
  EXPECT_EQ(written.signature.inputs[0].second.name, "input:0");
  EXPECT_EQ(written.signature.outputs[0].first, "_out put");
  EXPECT_EQ(written.signature.outputs[0].second.name, "value_out_put:0");
}

TEST(TensorflowExport, AllThatCannotBeSaidIsListedAtOnce) {
  try {
    to_tensorflow(onnx::parse_text(R"(<ir_version: 9, opset_import: ["" : 20]>
        g (uint8[n] x) => (uint8[h,w,3] low, uint8[u,v,1] high) {
        low = ImageDecoder(x)  high = ImageDecoder<pixel_format = "Grayscale">(x) })"));
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.exit_code(), 4);
    EXPECT_NE(error.message().find("'low' (ImageDecoder)"), std::string::npos) << error.what();
    EXPECT_NE(error.message().find("'high' (ImageDecoder)"), std::string::npos) << error.what();
  }
}

/// A network with a convolution and a product, and what it gives.
class Files : public testing::Test {
 protected:
  Files() {
    model_ = onnx::parse_text(kHead + R"(g (float[N,1,4,4] x) => (float[N,3] y)
        <float[2,1,3,3] w = {1,2,3,4,5,6,7,8,9, -1,-2,-3,-4,-5,-6,-7,-8,-9}, float[2] b = {0.5, -0.5},
         float[8,3] m = {1,0,0, 0,1,0, 0,0,1, 1,1,0, 0,1,1, 1,0,1, 2,0,0, 0,2,0}> {
        c = Conv<pads = [1,1,1,1], strides = [2,2]>(x, w, b)  r = Relu(c)  f = Flatten(r)  y = MatMul(f, m) })");
    std::vector<float> values(32);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i % 7) - 3;
    input_ = Tensor::of<float>({2, 1, 4, 4}, values);
    expected_ = run(model_);
  }

  std::vector<Tensor> run(const Model& model) const {
    std::vector<Tensor> outputs;
    for (const auto& output : engine::Session(model).run({{model.graph->inputs()[0]->name(), Array::from(input_)}}))
      outputs.push_back(output.value.array()->to_tensor());
    return outputs;
  }

  /// Written, read and run; empty: it gives the same.
  std::string difference_after(const char* format, const std::string& name, driver::SaveOptions options = {}) {
    options.to = &driver::format_by_name(format);
    driver::save(model_, directory_ / name, options);
    const driver::Loaded loaded = driver::load(directory_ / name);
    EXPECT_EQ(loaded.format->name, format);
    EXPECT_EQ(loaded.model.graph->inputs()[0]->name(), "x");
    EXPECT_EQ(loaded.model.graph->output(0)->name(), "y");
    return test::difference(run(loaded.model), expected_);
  }

  test::TempDir directory_;
  Model model_;
  Tensor input_;
  std::vector<Tensor> expected_;
};

TEST_F(Files, ComeBackWithTheSameNumbers) {
  EXPECT_EQ(difference_after("tensorflow", "m.pb"), "");
  EXPECT_EQ(difference_after("tfjs", "web"), "");
  EXPECT_EQ(difference_after("savedmodel", "saved"), "");
  driver::SaveOptions options;
  options.variables = true;
  EXPECT_EQ(difference_after("savedmodel", "trainable", options), "");
  options.variables = false;
  options.quantize = driver::Quantize::uint16;
  EXPECT_EQ(difference_after("tfjs", "small", options), "") << "weights this small stay floats";
}

// A graph without a signature has for outputs what no other node reads.
TEST_F(Files, KeepOutputsThatAreReadInside) {
  model_ = onnx::parse_text(kHead + R"(g (float[2] x, float[2] k) => (float[2] y, float[2] z, float[2] t, float[2] s)
      { y = Relu(x)  z = Add(y, k)  t = Identity(y)  w = Concat<axis = 0>(z, z)  u, s = Split<num_outputs = 2>(w) })");
  for (const char* format : {"tensorflow", "savedmodel", "tfjs"}) {
    driver::SaveOptions options;
    options.to = &driver::format_by_name(format);
    const std::string path = directory_ / (std::string("many-") + format);
    driver::save(model_, path, options);
    driver::LoadOptions load;
    load.from = options.to;
    std::vector<std::string> names;
    const Model again = driver::load(path, load).model;
    for (const Value* v : again.graph->outputs()) names.emplace_back(v->name());
    std::ranges::sort(names);
    EXPECT_EQ(names, (std::vector<std::string>{"s", "t", "y", "z"})) << format;
  }
}

TEST_F(Files, KeepVariablesInTheCheckpoint) {
  driver::SaveOptions options;
  options.variables = true;
  difference_after("savedmodel", "trainable", options);
  difference_after("savedmodel", "frozen");
  const auto size = [&](const char* name) {
    return std::filesystem::file_size(directory_.path() / name / "variables/variables.data-00000-of-00001");
  };
  EXPECT_GE(size("trainable"), size("frozen") + (18 + 2 + 24) * sizeof(float));
}

TEST_F(Files, AreNotMixedWithOthers) {
  std::filesystem::create_directory(directory_.path() / "home");
  test::write_text(directory_ / "home/letter.txt", "dear");
  EXPECT_THROW(difference_after("tfjs", "home"), Error);
  EXPECT_THROW(difference_after("savedmodel", "home"), Error);
  EXPECT_EQ(test::read_text(directory_ / "home/letter.txt"), "dear");
}

}  // namespace
}  // namespace ingot
