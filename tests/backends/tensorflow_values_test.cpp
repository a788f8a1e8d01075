// What TensorFlow has other words for: quantised numbers, sequences, texts that are looked up.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <filesystem>
#include <limits>
#include <map>

#include "ingot/backends/tensorflow/export.h"
#include "ingot/base/budget.h"
#include "ingot/base/error.h"
#include "ingot/driver/load.h"
#include "ingot/engine/session.h"
#include "ingot/onnx/text.h"
#include "ingot/ops/infer.h"
#include "tests/backends/agreement.h"
#include "tests/support/files.h"
#include "tests/support/refusal.h"

namespace ingot {
namespace {

namespace tf = formats::tensorflow;
using backends::tensorflow::Exported;
using backends::tensorflow::to_tensorflow;

std::size_t count_of(const Exported& e, std::string_view op) {
  return static_cast<std::size_t>(std::ranges::count(e.graph.nodes, op, &tf::NodeDef::op));
}

std::vector<Tensor> run(const Model& model, const std::vector<engine::NamedDatum>& inputs) {
  std::vector<Tensor> outputs;
  for (const auto& output : engine::Session(model).run(inputs)) outputs.push_back(output.value.array()->to_tensor());
  return outputs;
}

/// Written and read again.
Model again(const Model& model, const std::string& path, const char* format, driver::SaveOptions options = {}) {
  options.to = &driver::format_by_name(format);
  driver::save(model, path, options);
  return std::move(driver::load(path).model);
}

/// Scales and zero points of all quantised tensors, in the order of the nodes.
std::vector<std::string> parameters(const Model& model) {
  std::vector<std::string> all;
  for (const Node& n : model.graph->nodes()) {
    if (!n.is("DequantizeLinear")) continue;
    const Tensor &scale = *ops::constant_of(n.input(1)), &zero = *ops::constant_of(n.input(2));
    std::string text(name_of(zero.dtype()));
    for (const float s : scale.to_vector<float>()) text += " " + std::to_string(std::bit_cast<std::uint32_t>(s));
    for (const double z : zero.to_doubles()) text += " " + std::to_string(static_cast<int>(z));
    all.push_back(text);
  }
  std::ranges::sort(all);
  return all;
}

const char* const kQuantised = R"(<ir_version: 10, opset_import: ["" : 21]>
g (float[N,3,4,4] x) => (float[N,4] y)
<float sx = {0.0173}, int8 zx = {-7}, float[2] sw = {0.011, 0.0234}, int8[2] zw = {0, 0},
 int8[2,3,1,1] w = {100, -128, 127, 3, -2, 1}, float[2] b = {0.5, -0.25},
 float sy = {0.31}, uint8 zy = {113}, float[2] sd = {0.07, 0.0123}, int8[2] zd = {0, 0},
 int8[2,1,3,3] d = {1,2,3,4,5,6,7,8,9, -1,-2,-3,-4,-5,-6,-7,-8,-9},
 float[4] sm = {0.01, 0.02, 0.03, 0.07}, uint8[4] zm = {128, 127, 3, 200}, uint8[4,2] m = {1,2,3,4,250,255,0,9},
 float sz = {0.0005}, uint16 zz = {40000}> {
  q = QuantizeLinear(x, sx, zx)  dq = DequantizeLinear(q, sx, zx)
  wd = DequantizeLinear<axis = 0>(w, sw, zw)  c = Conv(dq, wd, b)
  r = Relu(c)  qr = QuantizeLinear(r, sy, zy)  dr = DequantizeLinear(qr, sy, zy)
  dd = DequantizeLinear<axis = 0>(d, sd, zd)  e = Conv<group = 2, pads = [1,1,1,1]>(dr, dd)
  p = GlobalAveragePool(e)  f = Flatten(p)  qf = QuantizeLinear(f, sz, zz)  df = DequantizeLinear(qf, sz, zz)
  md = DequantizeLinear<axis = 0>(m, sm, zm)  y = Gemm<transB = 1>(df, md) })";

Tensor ramp(const Dims& dims) {
  std::int64_t count = 1;
  for (const std::int64_t d : dims) count *= d;
  std::vector<float> values(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i % 23) * 0.13F - 1;
  return Tensor::of<float>(dims, values);
}

TEST(TensorflowExport, QuantisedNetworksRoundToTheSameGrids) {
  const Model model = onnx::parse_text(kQuantised);
  const Exported e = to_tensorflow(model);
  EXPECT_EQ(count_of(e, "FakeQuantWithMinMaxVars"), 3U);
  EXPECT_EQ(count_of(e, "FakeQuantWithMinMaxVarsPerChannel"), 3U);
  EXPECT_EQ(count_of(e, "Round") + count_of(e, "Cast"), 0U) << "nothing is computed by hand";
  const test::TempDir directory;
  const std::vector<engine::NamedDatum> inputs{{"x", Array::from(ramp({2, 3, 4, 4}))}};
  for (const char* format : {"tensorflow", "savedmodel"}) {
    const Model read = again(model, directory / (std::string(format) + ".pb"), format);
    EXPECT_EQ(parameters(read), parameters(model)) << format;
    EXPECT_EQ(test::difference(run(read, inputs), run(model, inputs)), "") << format;
  }
}

/// What TensorFlow's kernel of FakeQuantWithMinMaxVars makes of a range: by its own steps, in float.
struct Nudged {
  float scale, zero;
  float low, high;
  float operator()(float x) const {
    const float shifted = std::clamp(x, low, high) - low;
    return std::floor(shifted * (1.0F / scale) + 0.5F) * scale + low;
  }
};
Nudged nudged(float min, float max, std::int64_t bits) {
  const auto most = static_cast<float>((std::int64_t{1} << bits) - 1);
  Nudged n{};
  n.scale = (max - min) / most;
  const float from_min = 0.0F - min / n.scale;
  n.zero = from_min < 0 ? 0 : from_min > most ? most : std::round(from_min);
  n.low = (0.0F - n.zero) * n.scale;
  n.high = (most - n.zero) * n.scale;
  return n;
}

std::vector<float> constant_floats(const Exported& e, const std::string& name) {
  for (const tf::NodeDef& node : e.graph.nodes)
    if (node.name == name) {
      const auto& proto = *std::get<std::shared_ptr<const tf::TensorProto>>(*node.find("value"));
      return Tensor(DType::f32, proto.shape.dims, tf::expanded_elements(proto, Budget::unlimited())).to_vector<float>();
    }
  return {};
}

TEST(TensorflowExport, TensorflowsKernelsFindTheGridsOfTheModel) {
  const Model model = onnx::parse_text(kQuantised);
  const Exported e = to_tensorflow(model);
  std::vector<std::pair<float, int>> wanted, found;
  for (const Node& n : model.graph->nodes()) {
    if (!n.is("DequantizeLinear")) continue;
    const Tensor &scale = *ops::constant_of(n.input(1)), &zero = *ops::constant_of(n.input(2));
    const std::vector<double> zeros = zero.to_doubles();
    for (std::size_t i = 0; i < zeros.size(); ++i)
      wanted.emplace_back(scale.to_vector<float>()[i], static_cast<int>(zeros[i]));
  }
  for (const tf::NodeDef& node : e.graph.nodes) {
    if (!node.op.starts_with("FakeQuant")) continue;
    const std::int64_t bits = std::get<std::int64_t>(*node.find("num_bits"));
    const std::vector<float> lows = constant_floats(e, node.inputs[1]), highs = constant_floats(e, node.inputs[2]);
    const bool is_signed = std::get<tf::DataType>(*node.find("_quantized_type")) == tf::DataType::i8;
    ASSERT_FALSE(lows.empty());
    for (std::size_t i = 0; i < lows.size(); ++i) {
      const Nudged n = nudged(lows[i], highs[i], bits);
      found.emplace_back(n.scale, static_cast<int>(n.zero) - (is_signed ? 128 : 0));
      // The kernel subtracts an end of the range and adds it again, in floats.
      const float rounding = 2 * std::numeric_limits<float>::epsilon() * (highs[i] - lows[i]);
      ASSERT_LT(rounding, n.scale / 50);
      for (int q = 0; q < (1 << bits); q += bits == 16 ? 97 : 1) {
        const float on_grid = (static_cast<float>(q) - n.zero) * n.scale;
        EXPECT_NEAR(n(on_grid), on_grid, 1e-3F * n.scale + rounding) << node.name << " " << q;
      }
    }
  }
  std::ranges::sort(wanted);
  std::ranges::sort(found);
  ASSERT_EQ(found.size(), wanted.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    EXPECT_NEAR(found[i].first, wanted[i].first, 2e-7F * wanted[i].first);
    EXPECT_EQ(found[i].second, wanted[i].second);
  }
}

TEST(TensorflowExport, IntegersThatOthersReadStayIntegers) {
  const Exported e = to_tensorflow(onnx::parse_text(R"(<ir_version: 10, opset_import: ["" : 21]>
      g (float[4] x) => (uint8[4] q, float[4] y) <float s = {0.1}, uint8 z = {3}> {
        q = QuantizeLinear(x, s, z)  y = DequantizeLinear(q, s, z) })"));
  EXPECT_EQ(count_of(e, "FakeQuantWithMinMaxVars"), 0U);
}

TEST(TensorflowExport, SequencesAreRaggedTensorsOutside) {
  const Model model = onnx::parse_text(R"(<ir_version: 10, opset_import: ["" : 21]>
      g (seq(float[?,2]) s, float[N,2] x) => (seq(float[?,2]) t, int64 n) {
        t = SequenceInsert(s, x)  n = SequenceLength(t) })");
  EXPECT_THROW(to_tensorflow(model), Error) << "lists are no inputs";
  const test::TempDir directory;
  driver::SaveOptions options;
  options.sequences = driver::Sequences::ragged;
  const Tensor values = ramp({5, 2}), splits = Tensor::of<std::int64_t>({4}, {0, 2, 2, 5}), x = ramp({1, 2});
  for (const char* format : {"tensorflow", "savedmodel"}) {
    const Model read = again(model, directory / (std::string(format) + ".pb"), format, options);
    std::vector<engine::NamedDatum> inputs;
    for (const Value* v : read.graph->inputs())
      inputs.push_back({v->name(), Array::from(v->name() == "s/values"       ? values
                                               : v->name() == "s/row_splits" ? splits
                                                                             : x)});
    ASSERT_EQ(inputs.size(), 3U) << format;
    std::map<std::string, Tensor> given;
    for (const auto& output : engine::Session(read).run(inputs))
      given.emplace(output.name, output.value.array()->to_tensor());
    EXPECT_EQ(given.at("t/row_splits").to_ints(), (std::vector<std::int64_t>{0, 2, 2, 5, 6})) << format;
    std::vector<float> all = values.to_vector<float>();
    for (const float last : x.to_vector<float>()) all.push_back(last);
    EXPECT_EQ(given.at("t/values").to_vector<float>(), all) << format;
    EXPECT_EQ(given.at("n").to_ints()[0], 4) << format;
  }
}

TEST(TensorflowExport, SequencesOfNumbersAreLists) {
  const Model model = onnx::parse_text(R"(<ir_version: 10, opset_import: ["" : 21]>
      g (seq(float) s, int64 i) => (float y) { y = SequenceAt(s, i) })");
  backends::tensorflow::ExportOptions options;
  options.has_ragged_ports = true;
  const Exported e = to_tensorflow(model, options);
  ASSERT_EQ(e.signature.inputs.size(), 2U);
  EXPECT_EQ(e.signature.inputs[0].first, "s");
  EXPECT_EQ(e.signature.inputs[0].second.shape.dims, (std::vector<std::int64_t>{-1}));
}

TEST(TensorflowExport, TextsAreLookedUpInTablesWithFiles) {
  const Model model = onnx::parse_text(R"(<ir_version: 10, opset_import: ["" : 21, "ai.onnx.ml" : 4]>
      g (string[N] x, int64[N] k) => (int64[N] a, int64[N] b, string[N] c, int64[N] d) {
        a = ai.onnx.ml.LabelEncoder<keys_strings = ["cat", "dog", "a b"], values_int64s = [0, 1, 2], default_int64 = -5>(x)
        b = ai.onnx.ml.LabelEncoder<keys_strings = ["cat", "dog"], values_int64s = [7, 3]>(x)
        c = ai.onnx.ml.LabelEncoder<keys_int64s = [0, 1], values_strings = ["no", "yes"], default_string = "?">(k)
        d = ai.onnx.ml.LabelEncoder<keys_strings = ["two
lines", "dog"], values_int64s = [0, 1]>(x) })");
  const test::TempDir directory;
  const Model read = again(model, directory / "saved", "savedmodel");
  EXPECT_EQ(test::read_text(directory / "saved/assets/vocabulary_0.txt"), "cat\ndog\na b\n");
  EXPECT_EQ(test::read_text(directory / "saved/assets/vocabulary_1.txt"), "cat\t7\ndog\t3\n");
  EXPECT_EQ(test::read_text(directory / "saved/assets/vocabulary_2.txt"), "no\nyes\n");
  EXPECT_FALSE(std::filesystem::exists(directory / "saved/assets/vocabulary_3.txt")) << "a line is no text of two";
  const std::vector<engine::NamedDatum> inputs{
      {"x", Array::from(Tensor::of_strings({4}, {"dog", "a b", "two\nlines", ""}))},
      {"k", Array::from(Tensor::of<std::int64_t>({4}, {1, 0, 2, -1}))}};
  EXPECT_EQ(test::difference(run(read, inputs), run(model, inputs)), "");
}

TEST(TensorflowExport, FrozenGraphsHaveNoTablesAndCompareTexts) {
  const Model model = onnx::parse_text(R"(<ir_version: 10, opset_import: ["" : 21, "ai.onnx.ml" : 4]>
      g (string[N,2] x, int64[N] k) => (int64[N,2] a, string[N] b, string[N,2] c) {
        a = ai.onnx.ml.LabelEncoder<keys_strings = ["cat", "dog", "cat"], values_int64s = [4, 1, 9], default_int64 = -5>(x)
        b = ai.onnx.ml.LabelEncoder<keys_int64s = [7, 2], values_strings = ["no", "yes"], default_string = "?">(k)
        c = ai.onnx.ml.LabelEncoder<keys_strings = ["cat", ""], values_strings = ["chat", "rien"]>(x) })");
  const test::TempDir directory;
  const std::vector<engine::NamedDatum> inputs{
      {"x", Array::from(Tensor::of_strings({2, 2}, {"dog", "cat", "mouse", ""}))},
      {"k", Array::from(Tensor::of<std::int64_t>({2}, {2, 3}))}};
  EXPECT_EQ(test::difference(run(again(model, directory / "g.pb", "tensorflow"), inputs), run(model, inputs)), "");
}

/// A model as a frozen graph gives what it gives itself.
void expect_back(const std::string& graph, const std::vector<engine::NamedDatum>& inputs) {
  const Model model = onnx::parse_text("<ir_version: 10, opset_import: [\"\" : 26]> g " + graph);
  const test::TempDir directory;
  EXPECT_EQ(test::difference(run(again(model, directory / "g.pb", "tensorflow"), inputs), run(model, inputs)), "")
      << graph;
}

TEST(TensorflowExport, SizesThatOnlyARunKnows) {
  const engine::NamedDatum x{"x", Array::from(ramp({3, 4}))};
  const auto ints = [](const char* name, const std::vector<std::int64_t>& values) {
    return engine::NamedDatum{
        name, Array::from(Tensor::of<std::int64_t>({static_cast<std::int64_t>(values.size())}, values))};
  };
  expect_back("(float[N,M] x) => (float[N,M] y) { y = EyeLike<k = 1>(x) }", {x});
  for (const char* mode : {"edge", "reflect", "wrap"}) {
    const std::string pad = std::string("Pad<mode = \"") + mode + "\">";
    expect_back("(float[3,4] x, int64[4] p) => (float[A,B] y) { y = " + pad + "(x, p) }", {x, ints("p", {1, 0, 2, 3})});
    expect_back("(float[N,M] x) => (float[A,B] y) <int64[4] p = {0, 2, 1, 1}> { y = " + pad + "(x, p) }", {x});
  }
  expect_back("(float[N,M] x, int64[N,1] i) => (float[N] y) { y = GatherND<batch_dims = 1>(x, i) }",
              {x, {"i", Array::from(Tensor::of<std::int64_t>({3, 1}, {2, 0, 3}))}});
}

TEST(TensorflowExport, PlacesThatNobodyCouldStoreAreCountedByTheRun) {
  for (const char* graph :
       {R"((float[3] x) => (float[N] y) <int64[2] p = {0, 1000000000}> { y = Pad<mode = "edge">(x, p) })",
        "(float[100000,1000000] x, int64[100000,1000000] i) => (float[A,B] y) { y = GatherElements(x, i) }",
        "(float[9,99999999] x, int64[9,99999999,1] i) => (float[A,B] y) { y = GatherND<batch_dims = 1>(x, i) }"}) {
    const Exported e =
        to_tensorflow(onnx::parse_text(std::string("<ir_version: 10, opset_import: [\"\" : 21]> g ") + graph));
    EXPECT_GE(count_of(e, "Range"), 1U) << graph;
  }
}

TEST(TensorflowExport, LongSumsAreSumsOfSumsInTfjs) {
  const auto means = [](const std::string& dims, backends::tensorflow::Dialect dialect) {
    backends::tensorflow::ExportOptions options;
    options.dialect = dialect;
    return count_of(to_tensorflow(onnx::parse_text("<ir_version: 10, opset_import: [\"\" : 21]> g (float[1,3," + dims +
                                                   "] x) => (float[1,3,1,1] y) <int64[2] axes = {2, 3}> "
                                                   "{ y = ReduceMean(x, axes) }"),
                                  options),
                    "Mean");
  };
  using backends::tensorflow::Dialect;
  EXPECT_EQ(means("720,720", Dialect::tfjs), 2U);
  EXPECT_EQ(means("7,7", Dialect::tfjs), 1U);
  EXPECT_EQ(means("720,720", Dialect::tensorflow), 1U);
}

TEST(TensorflowExport, AnAxisThatThereIsNotEndsNoProgram) {
  backends::tensorflow::ExportOptions options;
  options.dialect = backends::tensorflow::Dialect::tfjs;
  const Model model = onnx::parse_text(
      "<ir_version: 10, opset_import: [\"\" : 21]> g (float[90,90] x) => (float[1,1] y) "
      "<int64[2] axes = {0, 7}> { y = ReduceMean(x, axes) }");
  EXPECT_REFUSED(Code::axis_out_of_range, to_tensorflow(model, options));
}

TEST(TensorflowExport, BoolsAreBytesOfZeroAndOne) {
  const engine::NamedDatum x{"x", Array::from(ramp({5}))};
  expect_back(R"((float[5] x, uint8[2] u, int8[2] v) => (uint8[5] a, int8[5] b, bool[2] c, bool[2] d) <float z = {0}> {
    t = Greater(x, z)  a = BitCast<to = 2>(t)  b = BitCast<to = 3>(t)  c = BitCast<to = 9>(u)  d = BitCast<to = 9>(v) })",
              {x,
               {"u", Array::from(Tensor::of<std::uint8_t>({2}, {0, 1}))},
               {"v", Array::from(Tensor::of<std::int8_t>({2}, {1, 0}))}});
}

TEST(TensorflowExport, TextsAreNormalisedAndSplit) {
  const engine::NamedDatum words{"x", Array::from(Tensor::of_strings({4}, {"Monday", "tuesday", "a  b c", ""}))};
  for (const char* how : {"case_change_action = \"UPPER\", is_case_sensitive = 1, stopwords = [\"Monday\"]",
                          "case_change_action = \"LOWER\", is_case_sensitive = 0, stopwords = [\"MONDAY\", \"\"]",
                          "case_change_action = \"NONE\"", "stopwords = [\"monday\", \"tuesday\", \"a  b c\", \"\"]"})
    expect_back(std::string("(string[N] x) => (string[M] y) { y = StringNormalizer<") + how + ">(x) }", {words});
  expect_back("(string[N] x) => (string[N,M] y, int64[N] n) { y, n = StringSplit(x) }", {words});
  expect_back("(string[N] x) => (string[N,M] y, int64[N] n) { y, n = StringSplit<delimiter = \"a\", maxsplit = 1>(x) }",
              {words});
}

}  // namespace
}  // namespace ingot
