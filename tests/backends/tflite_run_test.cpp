// Small models as TFLite files, in TFLite and in LiteRT: they give what Ingot's engine gives.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "ingot/backends/tflite/export.h"
#include "ingot/engine/session.h"
#include "ingot/formats/tflite/check.h"
#include "ingot/formats/tflite/writer.h"
#include "ingot/onnx/text.h"
#include "tests/backends/agreement.h"
#include "tests/backends/other_runtime.h"

namespace ingot {
namespace {

namespace tfl = formats::tflite;
using backends::tflite::Exported;
using backends::tflite::ExportOptions;

Model parsed(const std::string& graph, int opset = 21) {
  return onnx::parse_text("<ir_version: 10, opset_import: [\"\" : " + std::to_string(opset) + "]>\n" + graph, ".", {});
}

Tensor numbers(const Dims& dims, std::uint32_t seed = 7) {
  std::vector<float> values(static_cast<std::size_t>(tensor_size(dims)));
  for (float& x : values) {
    seed = seed * 1664525U + 1013904223U;
    x = static_cast<float>(seed >> 8) / 8388608.0f - 1;
  }
  return Tensor::of<float>(dims, values);
}

std::string operators(const Exported& e) {
  std::string text;
  for (const tfl::Operator& op : e.model.subgraphs.at(0).operators)
    text += (text.empty() ? "" : " ") + tfl::describe(op.code);
  return text;
}

class TfliteRun : public testing::Test {
 protected:
  void SetUp() override {
    tflite_ = test::OtherRuntime::find(verify::Runtime::tflite);
    litert_ = test::OtherRuntime::find(verify::Runtime::litert);
    if (!tflite_ || !litert_) GTEST_SKIP() << "build/peers lacks TFLite or LiteRT: script/bootstrap installs them";
  }

  std::vector<Tensor> expected(const Model& model, const std::vector<Tensor>& inputs) {
    std::vector<engine::NamedDatum> named;
    std::size_t at = 0;
    for (const Value* v : model.graph->inputs())
      if (!v->initializer) named.push_back({v->name(), Array::from(inputs.at(at++))});
    std::vector<Tensor> outputs;
    for (const auto& d : engine::Session(model).run(named)) outputs.push_back(d.value.array()->to_tensor());
    return outputs;
  }

  /// The model agrees in TFLite, in its first run and in its third, and in LiteRT.
  Exported agrees(const Model& model, const std::vector<Tensor>& inputs, const ExportOptions& options = {}) {
    const Exported made = backends::tflite::to_tflite(model, options);
    const std::string file = tfl::to_bytes(made.model);
    const std::vector<Tensor> wanted = expected(model, inputs);
    for (const int runs : {1, 3}) {
      const auto native = tflite_->run(file, inputs, runs);
      EXPECT_EQ(native.failure, "") << operators(made);
      EXPECT_EQ(test::difference(native.outputs, wanted), "") << "run " << runs << " of " << operators(made);
    }
    const auto litert = litert_->run(file, inputs);
    EXPECT_EQ(litert.failure, "") << operators(made);
    EXPECT_EQ(test::difference(litert.outputs, wanted), "") << "LiteRT: " << operators(made);
    return made;
  }

  std::unique_ptr<test::OtherRuntime> tflite_, litert_;
};

/// An LSTM of `directions` with drawn weights.
Model lstm(const std::string& direction, int directions, bool has_peepholes, int layout, bool gives_last) {
  const std::string d = std::to_string(directions);
  const std::string y = layout ? "float[2,5," + d + ",4]" : "float[5," + d + ",2,4]",
                    h = layout ? "float[2," + d + ",4]" : "float[" + d + ",2,4]";
  Model model = parsed(
      "g (" + std::string(layout ? "float[2,5,3]" : "float[5,2,3]") + " x, float[" + d + ",16,3] w, float[" + d +
      ",16,4] r, float[" + d + ",32] b, float[" + d + ",12] p) => (" + y + " y" + (gives_last ? ", " + h + " h" : "") +
      ") { y" + (gives_last ? ", h" : "") + " = LSTM<hidden_size = 4, direction = \"" + direction +
      "\", layout = " + std::to_string(layout) + ">(x, w, r, b" + (has_peepholes ? ", , , , p" : "") + ") }");
  for (const char* name : {"w", "r", "b", "p"}) {
    Value* v = model.graph->find(name);
    if (!v) continue;
    Dims dims;
    for (const Dim& size : *v->type.shape) dims.push_back(size.value());
    Value* stored =
        model.graph->add_initializer(model.graph->fresh_name(name), numbers(dims, 3 + static_cast<unsigned>(name[0])));
    model.graph->replace_all_uses(v, stored);
  }
  model.graph->erase_inputs_if([](const Value& v) { return v.uses().empty(); });
  return model;
}

TEST_F(TfliteRun, LstmsAgreeInBothRuntimes) {
  agrees(lstm("forward", 1, true, 0, true), {numbers({5, 2, 3})});
  agrees(lstm("bidirectional", 2, false, 1, true), {numbers({2, 5, 3})});
}

/// An LSTM as TFLite's own operator: the same numbers in each run, although it keeps its states.
Exported native_lstm_agrees(test::OtherRuntime& tflite, test::OtherRuntime& litert, const Model& model,
                            const std::vector<Tensor>& inputs, const std::vector<Tensor>& wanted) {
  ExportOptions options;
  options.native_lstm = true;
  Exported made = backends::tflite::to_tflite(model, options);
  const std::string file = tfl::to_bytes(made.model);
  for (const int runs : {1, 3}) {
    const auto got = tflite.run(file, inputs, runs);
    EXPECT_EQ(got.failure, "");
    EXPECT_EQ(test::difference(got.outputs, wanted), "") << "run " << runs;
  }
  // LiteRT 2.5.3 loads no file with variable tensors, which the operator must have.
  EXPECT_NE(litert.run(file, inputs).failure, "");
  return made;
}

TEST_F(TfliteRun, AnLstmIsOneOperatorOnRequestAndStartsAtZeroInEachRun) {
  const std::vector<Tensor> x{numbers({5, 2, 3})}, turned{numbers({2, 5, 3})};
  for (const bool has_peepholes : {false, true}) {
    const Model model = lstm("forward", 1, has_peepholes, 0, true);
    const Exported e = native_lstm_agrees(*tflite_, *litert_, model, x, expected(model, x));
    EXPECT_EQ(operators(e), "PAD PADV2 UNIDIRECTIONAL_SEQUENCE_LSTM STRIDED_SLICE SLICE EXPAND_DIMS EXPAND_DIMS");
  }
  const Model batches_first = lstm("forward", 1, false, 1, false), reverse = lstm("reverse", 1, false, 0, true);
  native_lstm_agrees(*tflite_, *litert_, batches_first, turned, expected(batches_first, turned));
  native_lstm_agrees(*tflite_, *litert_, reverse, x, expected(reverse, x));
}

TEST_F(TfliteRun, AnLstmOfBothDirectionsIsTwoOperators) {
  const std::vector<Tensor> x{numbers({5, 2, 3})};
  const Model model = lstm("bidirectional", 2, false, 0, true);
  const Exported e = native_lstm_agrees(*tflite_, *litert_, model, x, expected(model, x));
  EXPECT_EQ(std::ranges::count_if(e.model.subgraphs[0].operators,
                                  [](const tfl::Operator& op) {
                                    return op.code.builtin == tfl::BuiltinOperator::UNIDIRECTIONAL_SEQUENCE_LSTM;
                                  }),
            2);
}

TEST_F(TfliteRun, DeterminantsAgree) {
  agrees(parsed("g (float[2,3,4,4] x) => (float[2,3] y) { y = Det(x) }"), {numbers({2, 3, 4, 4})});
  agrees(parsed("g (float[3,3] x) => (float y) { y = Det(x) }"),
         {Tensor::of<float>({3, 3}, {0, 2, 1, 3, 0, 4, 5, 1, 0})});
  agrees(parsed("g (float[3,3] x) => (float y) { y = Det(x) }"),
         {Tensor::of<float>({3, 3}, {1, 2, 3, 2, 4, 6, 0, 1, 5})});
}

TEST_F(TfliteRun, UniqueSlicesAreFoundAlongAnAxis) {
  const Tensor x = Tensor::of<float>({5, 2}, {2, 1, 0, 3, 2, 1, 0, 2, 0, 3});
  for (const char* sorted : {"0", "1"}) {
    const Model model = parsed(std::string("g (float[5,2] x) => (float[K,2] y, int64[K] i, int64[5] j, int64[K] c) "
                                           "{ y, i, j, c = Unique<axis = 0, sorted = ") +
                               sorted + ">(x) }");
    const Exported made = backends::tflite::to_tflite(model);
    const auto native = tflite_->run(tfl::to_bytes(made.model), {x});
    EXPECT_EQ(native.failure, "");
    EXPECT_EQ(test::difference(native.outputs, expected(model, {x})), "") << sorted;
  }
}

TEST_F(TfliteRun, ResizesBySizesThatAreComputed) {
  for (const char* how :
       {"mode = \"nearest\", coordinate_transformation_mode = \"asymmetric\", nearest_mode = \"floor\"",
        "mode = \"nearest\"", "mode = \"linear\"",
        "mode = \"linear\", coordinate_transformation_mode = \"align_corners\"",
        "mode = \"cubic\", coordinate_transformation_mode = \"pytorch_half_pixel\""}) {
    // As large as another tensor is.
    const Model model = parsed(std::string("g (float[1,2,4,3] x, float[1,2,H,W] like) => (float[1,2,H,W] y) "
                                           "<float[0] none = {}> { s = Shape(like)  y = Resize<") +
                               how + ">(x, none, none, s) }");
    const Exported made = backends::tflite::to_tflite(model);
    for (const Dims& dims : {Dims{1, 2, 7, 6}, Dims{1, 2, 3, 9}, Dims{1, 2, 1, 3}}) {
      const std::vector<Tensor> inputs{numbers({1, 2, 4, 3}), numbers(dims)};
      const auto native = tflite_->run(tfl::to_bytes(made.model), inputs);
      EXPECT_EQ(native.failure, "") << how;
      EXPECT_EQ(test::difference(native.outputs, expected(model, inputs)), "") << how << " to " << dims[2];
    }
  }
}

TEST_F(TfliteRun, ResizesOpenSizesByScales) {
  const Model model =
      parsed(R"(g (float[1,2,H,W] x) => (float[1,2,A,B] y) <float[4] s = {1, 1, 2, 2.5}, float[0] none = {}>
      { y = Resize<mode = "linear">(x, none, s) })");
  const Exported made = backends::tflite::to_tflite(model);
  for (const Dims& dims : {Dims{1, 2, 2, 2}, Dims{1, 2, 5, 3}}) {
    const auto native = tflite_->run(tfl::to_bytes(made.model), {numbers(dims)});
    EXPECT_EQ(native.failure, "");
    EXPECT_EQ(test::difference(native.outputs, expected(model, {numbers(dims)})), "");
  }
}

TEST_F(TfliteRun, RegionsAreCutOutAndResized) {
  agrees(parsed(R"(g (float[1,2,6,6] x) => (float[1,2,4,5] y)
      <float[8] roi = {0, 0, 0.2, -0.3, 1, 1, 0.7, 1.1}, int64[4] s = {1, 2, 4, 5}, float[0] none = {}>
      { y = Resize<mode = "linear", coordinate_transformation_mode = "tf_crop_and_resize", extrapolation_value = 9.0>
            (x, roi, none, s) })"),
         {numbers({1, 2, 6, 6})});
}

TEST_F(TfliteRun, HalfTheSpaceForWeightsOnRequest) {
  Model model = parsed("g (float[3,32] x, float[32,64] w) => (float[3,64] y) { y = MatMul(x, w) }");
  Value* w = model.graph->find("w");
  model.graph->replace_all_uses(w, model.graph->add_initializer("stored", numbers({32, 64}, 5)));
  model.graph->erase_inputs_if([](const Value& v) { return v.uses().empty(); });
  ExportOptions options;
  options.float16_weights = true;
  const Exported half = backends::tflite::to_tflite(model, options), full = backends::tflite::to_tflite(model);
  EXPECT_EQ(operators(half), "DEQUANTIZE FULLY_CONNECTED");
  const std::string file = tfl::to_bytes(half.model);
  EXPECT_LT(file.size() + 32 * 64 * 2 - 256, tfl::to_bytes(full.model).size());
  const std::vector<Tensor> inputs{numbers({3, 32})};
  const Tensor y = expected(model, inputs)[0];
  for (test::OtherRuntime* runtime : {tflite_.get(), litert_.get()}) {
    const auto got = runtime->run(file, inputs);
    ASSERT_EQ(got.failure, "");
    for (std::int64_t i = 0; i < y.size(); ++i)  // 32 products of numbers below 1, each 2^-11 off at most
      EXPECT_NEAR(got.outputs.at(0).at<float>(i), y.at<float>(i), 32.0 / 2048);
    EXPECT_NE(test::difference(got.outputs, {y}), "") << "the weights were not rounded";
  }
}

/// Weights alone are quantised: whatever reads them computes in float, and they stay as small as they are.
TEST_F(TfliteRun, WeightsOfEightBitsStayEightBitsBesideFloats) {
  const auto drawn = []<class T>(const Dims& dims, T) {
    std::vector<T> values;
    for (const float v : numbers(dims, 9).to_vector<float>())
      values.push_back(static_cast<T>(v * 100 + (T(-1) > 0 ? 128 : 0)));
    return Tensor::of<T>(dims, values);
  };
  struct Case {
    std::string graph, operators;
    Tensor weights;
    Dims input;
  };
  const Case cases[] = {
      {"g (float[3,32] x, int8[32,64] w) => (float[3,64] y) <float s = {0.02}> { f = DequantizeLinear(w, s)  y = "
       "MatMul(x, f) }",
       "DEQUANTIZE FULLY_CONNECTED",
       drawn({32, 64}, std::int8_t{}),
       {3, 32}},
      {"g (float[3,32] x, uint8[16,32] w) => (float[3,16] y) <float s = {0.02}, uint8 z = {120}> { f = "
       "DequantizeLinear(w, s, z)  y = Gemm<transB = 1>(x, f) }",
       "DEQUANTIZE FULLY_CONNECTED",
       drawn({16, 32}, std::uint8_t{}),
       {3, 32}},
      {"g (float[1,16,6,6] x, int8[4,16,3,3] w) => (float[1,4,4,4] y) <float[4] s = {0.02, 0.01, 0.03, 0.5}, int8[4] z "
       "= {0, 0, 0, 0}> { f = DequantizeLinear<axis = 0>(w, s, z)  y = Conv(x, f) }",
       "TRANSPOSE DEQUANTIZE CONV_2D TRANSPOSE",
       drawn({4, 16, 3, 3}, std::int8_t{}),
       {1, 16, 6, 6}},
      {"g (float[1,32,6,6] x, int8[32,1,3,3] w) => (float[1,32,4,4] y) <float s = {0.02}> { f = DequantizeLinear(w, s) "
       " y = Conv<group = 32>(x, f) }",
       "TRANSPOSE DEQUANTIZE DEPTHWISE_CONV_2D TRANSPOSE",
       drawn({32, 1, 3, 3}, std::int8_t{}),
       {1, 32, 6, 6}},
      {"g (float[1,16,6,6] x, int8[16,4,2,2] w) => (float[1,4,12,12] y) <float s = {0.02}> { f = DequantizeLinear(w, "
       "s)  y = ConvTranspose<strides = [2, 2]>(x, f) }",
       "TRANSPOSE DEQUANTIZE TRANSPOSE_CONV TRANSPOSE",
       drawn({16, 4, 2, 2}, std::int8_t{}),
       {1, 16, 6, 6}},
  };
  for (const Case& one : cases) {
    Model model = parsed(one.graph);
    model.graph->replace_all_uses(model.graph->find("w"), model.graph->add_initializer("stored", one.weights));
    model.graph->erase_inputs_if([](const Value& v) { return v.uses().empty(); });
    const Exported e = agrees(model, {numbers(one.input)});
    EXPECT_EQ(operators(e), one.operators);
    const auto is_wide = [&](const tfl::Tensor& t) {
      return t.type == tfl::TensorType::FLOAT32 && tfl::constant_data(e.model, t).size() >= 1024;
    };
    EXPECT_TRUE(std::ranges::none_of(e.model.subgraphs[0].tensors, is_wide)) << one.graph;
  }
}

TEST_F(TfliteRun, WeightsOfFourBitsStayFourBits) {
  const Model model = parsed(R"(g (int8[2,4] x) => (int8[2,2] y)
      <float s = {0.5}, int8 z = {3}, int4[2,4] w = {1, -2, 3, 7, -8, 5, 0, -1}, float ws = {0.25}, int4 wz = {0}> {
      a = DequantizeLinear(x, s, z)  b = DequantizeLinear(w, ws, wz)  c = Gemm<transB = 1>(a, b)
      y = QuantizeLinear(c, s, z) })");
  const Exported e = backends::tflite::to_tflite(model);
  const bool is_small = std::ranges::any_of(e.model.subgraphs[0].tensors, [](const tfl::Tensor& t) {
    return t.type == tfl::TensorType::INT4 && t.quantization && t.quantization->scale == std::vector<float>{0.25f};
  });
  EXPECT_TRUE(is_small);
  EXPECT_EQ(operators(e), "FULLY_CONNECTED");
  const Tensor x = Tensor::of<std::int8_t>({2, 4}, {1, 20, -30, 4, 50, -6, 70, 8});
  const auto litert = litert_->run(tfl::to_bytes(e.model), {x});
  EXPECT_EQ(litert.failure, "");
  EXPECT_EQ(test::difference(litert.outputs, expected(model, {x})), "");
}

TEST_F(TfliteRun, CastsOnRequestAgree) {
  ExportOptions options;
  options.auto_cast = backends::tflite::AutoCast::all;
  const Model model = parsed("g (int64[2,3] x) => (int64[2,1] y) { [largest] y = ArgMax<axis = 1>(x) }");
  const Exported e = backends::tflite::to_tflite(model, options);
  ASSERT_FALSE(e.notes.empty());
  EXPECT_EQ(e.notes[0], "node 'largest' (ArgMax): computed in int32 instead of int64");
  const Tensor x = Tensor::of<std::int64_t>({2, 3}, {1, -2, 3, -40000, 5, -6});
  for (test::OtherRuntime* runtime : {tflite_.get(), litert_.get()})
    EXPECT_EQ(test::difference(runtime->run(tfl::to_bytes(e.model), {x}).outputs, expected(model, {x})), "");
}

TEST_F(TfliteRun, ACustomOperatorIsInTheFileAndTheRuntimeMissesIt) {
  ExportOptions options;
  options.allow_custom = {"Det"};
  const Exported e =
      backends::tflite::to_tflite(parsed("g (float[3,3] x) => (float y) { a = Relu(x)  y = Det(a) }"), options);
  EXPECT_EQ(operators(e), "RELU CUSTOM:Det");
  const auto native = tflite_->run(tfl::to_bytes(e.model), {numbers({3, 3})});
  EXPECT_NE(native.failure, "");
}

TEST_F(TfliteRun, OneIndexOfAnAxisOfAnySizePicksOneSlice) {
  // The size is open inside; LiteRT cannot resize inputs.
  const Model model = parsed(R"(g (float[3, 2] x, float[1] at_least, int64 i) => (float[2] y) {
      rows = ReduceMax<axes = [1], keepdims = 0>(x) open = Greater(rows, at_least) some = Compress<axis = 0>(x, open)
      y = Gather(some, i) })",
                             17);
  agrees(model, {Tensor::of<float>({3, 2}, {1, 2, 3, 4, 5, 6}), Tensor::of<float>({1}, {2.5f}),
                 Tensor::scalar<std::int64_t>(-1)});
}

TEST_F(TfliteRun, LoopsThatNobodyCountsCarryNoCounter) {
  const Model model = parsed(R"(g (float x) => (float y) <bool go = {1}, float limit = {100.0}> {
      y = Loop( , go, x) <body = b (int64 i, bool c, float s) => (bool on, float next) {
          next = Mul(s, s)  on = Less(next, limit) }> })");
  const Exported e = agrees(model, {Tensor::scalar<float>(1.5f)});
  EXPECT_TRUE(e.model.subgraphs.at(1).operators.empty());
}

}  // namespace
}  // namespace ingot
