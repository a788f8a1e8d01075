// What a user may ask of quantised and custom operators, and the forms of quantisation that TFLite's C library lacks.
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <random>

#include "ingot/driver/adjust.h"
#include "ingot/driver/check.h"
#include "ingot/driver/load.h"
#include "tests/formats/tflite/sample.h"
#include "tests/frontends/tflite/one_op.h"
#include "tests/support/files.h"

namespace ingot::frontends::tflite {
namespace {

namespace fs = std::filesystem;
namespace tfl = formats::tflite;
using testing::Contains;
using testing::HasSubstr;

tfl::Quantization scaled(std::vector<float> scale, std::vector<std::int64_t> zero) {
  return {{}, {}, std::move(scale), std::move(zero), 0, {}};
}

/// x int8[1,2] -> FULLY_CONNECTED(w int8[2,2] with a scale per row, b int32[2]) -> y int8[1,2]
tfl::Model quantised_layer() {
  tfl::Model model;
  model.buffers = {Bytes(), tfl::bytes_from<std::int8_t>({1, -2, 3, 4}), tfl::bytes_from<std::int32_t>({8, -4})};
  tfl::SubGraph& graph = model.subgraphs.emplace_back();
  const auto add = [&](std::string name, std::vector<std::int64_t> shape, tfl::TensorType type, std::uint32_t buffer,
                       tfl::Quantization q) {
    tfl::Tensor& t = graph.tensors.emplace_back();
    t.name = std::move(name);
    t.shape = std::move(shape);
    t.type = type;
    t.buffer = buffer;
    t.quantization = std::move(q);
  };
  add("x", {1, 2}, INT8, 0, scaled({0.5F}, {1}));
  add("w", {2, 2}, INT8, 1, scaled({0.25F, 0.5F}, {0, 0}));
  add("b", {2}, INT32, 2, scaled({0.125F, 0.25F}, {0, 0}));
  add("y", {1, 2}, INT8, 0, scaled({0.25F}, {-3}));
  graph.inputs = {0};
  graph.outputs = {3};
  tfl::Operator& op = graph.operators.emplace_back();
  op.code.builtin = tfl::BuiltinOperator::FULLY_CONNECTED;
  op.inputs = {0, 1, 2};
  op.outputs = {3};
  op.options = tfl::Options(op.code.builtin);
  return model;
}

std::vector<double> answer(const Imported& imported, Array x) {
  return engine::Session(imported.model).run({{"x", std::move(x)}}).at(0).value.array()->to_doubles();
}

TEST(TfliteOptions, DequantizeComputesTheSameInRealNumbers) {
  // x = (3, -1) -> (1, -1); w = ((0.25, -0.5), (1.5, 2)); b = (1, -1): y = (1.75, -1.5)
  EXPECT_THAT(answer(import_model(quantised_layer()), Array::of<std::int8_t>({1, 2}, {3, -1})),
              near({1.75 / 0.25 - 3, -1.5 / 0.25 - 3}));
  ImportOptions options;
  options.dequantize = true;
  const Imported real = import_model(quantised_layer(), options);
  EXPECT_EQ(real.model.graph->output(0)->type.elem, DType::f32);
  EXPECT_THAT(answer(real, Array::of<float>({1, 2}, {1, -1})), near({1.75, -1.5}));
}

TEST(TfliteOptions, DequantizedNetworksGiveWhatTheQuantisedOnesGive) {
  const auto shared = test::shared_dir();
  const fs::path path = shared ? *shared /
                                     "corpus/tflite/mlperf_tiny/image_classification/trained_models/"
                                     "pretrainedResnet_quant.tflite"
                               : fs::path();
  if (!shared || !fs::exists(path)) GTEST_SKIP() << "no corpus: set INGOT_SHARED";
  driver::LoadOptions options;
  const driver::Loaded integers = driver::load(path, options);
  options.import.dequantize = true;
  const driver::Loaded reals = driver::load(path, options);
  const Value* input = reals.model.graph->inputs()[0];
  ASSERT_EQ(input->type.elem, DType::f32);
  for (const Node& node : reals.model.graph->nodes())
    EXPECT_THAT(node.op, testing::Not(testing::AnyOf("QuantizeLinear", "DequantizeLinear")));
  const tfl::Quantization in = scaled({1}, {-128}), out = scaled({1 / 256.0F}, {-128});
  std::mt19937 random(7);
  std::vector<std::int8_t> bytes(32 * 32 * 3);
  std::vector<float> pixels;
  for (std::int8_t& b : bytes) {
    b = static_cast<std::int8_t>(static_cast<int>(random() % 256) - 128);
    pixels.push_back(in.scale[0] * static_cast<float>(b - in.zero_point[0]));
  }
  const Dims dims{1, 32, 32, 3};
  const auto quantised =
      engine::Session(integers.model).run({{input->name(), Array::of<std::int8_t>(dims, bytes)}}).at(0);
  const auto real = engine::Session(reals.model).run({{input->name(), Array::of<float>(dims, pixels)}}).at(0);
  const std::vector<double> a = quantised.value.array()->to_doubles(), b = real.value.array()->to_doubles();
  ASSERT_EQ(a.size(), b.size());
  // Rounding to 8 bits on the way moves a probability by some hundredths.
  double apart = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    apart += std::abs(static_cast<double>(out.scale[0]) * (a[i] - static_cast<double>(out.zero_point[0])) - b[i]);
  EXPECT_LT(apart / static_cast<double>(a.size()), 0.05);
  EXPECT_EQ(std::ranges::max_element(a) - a.begin(), std::ranges::max_element(b) - b.begin());
}

TEST(TfliteOptions, CustomOperatorsOfAFileStayWithTheirOptions) {
  const auto shared = test::shared_dir();
  const fs::path path =
      shared ? *shared / "corpus/tflite/tflite_micro/tensorflow/lite/micro/models/person_detect_vela.tflite"
             : fs::path();
  if (!shared || !fs::exists(path)) GTEST_SKIP() << "no corpus: set INGOT_SHARED";
  EXPECT_EQ(tfl::error_of([&] { (void)driver::load(path); }).exit_code(), 4);
  driver::LoadOptions options;
  options.import.allow_custom = {"ethos-u:my.domain"};
  driver::Loaded loaded = driver::load(path, options);
  EXPECT_THAT(loaded.notes, Contains(HasSubstr("stays as a custom operator of domain 'my.domain'")));
  const Node* custom = nullptr;
  for (const Node& node : loaded.model.graph->nodes())
    if (node.is("ethos-u", "my.domain")) custom = &node;
  ASSERT_TRUE(custom);
  EXPECT_EQ(loaded.model.opsets.version("my.domain"), 1);
  driver::AdjustOptions changes;
  changes.opset = 21;
  driver::adjust(loaded.model, changes);
  for (const driver::Problem& problem : driver::check(loaded.model))
    EXPECT_NE(problem.severity, driver::Severity::error) << problem.str();
}

/// x[2,4] -> FULLY_CONNECTED(w int4[2,4] in blocks of 2 with scales float16[2,2]) -> y[2,2]
tfl::Model layer_in_blocks(bool has_zeros, bool keeps_rank) {
  tfl::Model model;
  // Rows (1, -2, 3, 4) and (-8, 7, 0, 5), two numbers in a byte, the first in the lower half.
  model.buffers = {Bytes(), tfl::bytes_from<std::uint8_t>({0xE1, 0x43, 0x78, 0x50}),
                   tfl::bytes_from<std::uint16_t>({0x3C00, 0x3800, 0x4000, 0x3400}),  // 1, 0.5, 2, 0.25
                   tfl::bytes_from<std::int32_t>({1, 0, -1, 2})};
  tfl::SubGraph& graph = model.subgraphs.emplace_back();
  const auto add = [&](std::string name, std::vector<std::int64_t> shape, tfl::TensorType type, std::uint32_t buffer) {
    tfl::Tensor& t = graph.tensors.emplace_back();
    t.name = std::move(name);
    t.shape = std::move(shape);
    t.type = type;
    t.buffer = buffer;
  };
  const std::vector<std::int64_t> x = keeps_rank ? std::vector<std::int64_t>{1, 2, 4} : std::vector<std::int64_t>{2, 4};
  add("x", x, FLOAT32, 0);
  add("w", {2, 4}, INT4, 1);
  add("scales", {2, 2}, FLOAT16, 2);
  add("zeros", {2, 2}, INT32, 3);
  add("y", keeps_rank ? std::vector<std::int64_t>{1, 2, 2} : std::vector<std::int64_t>{2, 2}, FLOAT32, 0);
  graph.tensors[1].quantization =
      tfl::Quantization{.details = tfl::BlockwiseQuantization{2, has_zeros ? 3 : tfl::kNoTensor, 2}};
  graph.inputs = {0};
  graph.outputs = {4};
  tfl::Operator& op = graph.operators.emplace_back();
  op.code.builtin = tfl::BuiltinOperator::FULLY_CONNECTED;
  op.inputs = {0, 1, tfl::kNoTensor};
  op.outputs = {4};
  op.options = tfl::Options(op.code.builtin).set("keep_num_dims", keeps_rank);
  return model;
}

TEST(TfliteOptions, WeightsInBlocksHaveAScaleForEach) {
  // Without zero points the rows are (1, -2, 1.5, 2) and (-16, 14, 0, 1.25); with (1, 0; -1, 2) they are
  // (0, -3, 1.5, 2) and (-14, 16, -0.5, 0.75).
  const std::vector<double> plain{1 - 4 + 4.5 + 8, -16 + 28 + 5, 2, 1.25};
  const std::vector<double> shifted{0 - 6 + 4.5 + 8, -14 + 32 - 1.5 + 3, 2, 0.75};
  for (const bool keeps_rank : {false, true})
    for (const bool has_zeros : {false, true})
      for (const bool dequantizes : {false, true}) {
        ImportOptions options;
        options.dequantize = dequantizes;
        const Imported imported = import_model(layer_in_blocks(has_zeros, keeps_rank), options);
        const Array x = Array::of<float>(keeps_rank ? Dims{1, 2, 4} : Dims{2, 4}, {1, 2, 3, 4, 0, 0, 0, 1});
        EXPECT_THAT(answer(imported, x), near(has_zeros ? shifted : plain))
            << "zero points " << has_zeros << ", rank kept " << keeps_rank << ", dequantised " << dequantizes;
      }
}

TEST(TfliteOptions, ProductsOfSixteenBitsAreRoundedOnce) {
  // Steps of 1/1024 and 1/512 into steps of 1/256: (0.5, 0.25) . (1, -2) and (0.5, 0.25) . (0.125, 3)
  const In x = quantized(In{{1, 1, 2}, {512, 256}}, 1 / 1024.0F, 0, INT16);
  const In w = quantized(In{{1, 2, 2}, {512, -1024, 64, 1536}}, 1 / 512.0F, 0, INT16);
  const In y = quantized(In{{1, 1, 2}, {}}, 1 / 256.0F, 0, INT16);
  const tfl::Options options = tfl::Options(tfl::BuiltinOperator::BATCH_MATMUL).set("adj_y", true);
  const Array result = run_op("BATCH_MATMUL", options, {x, w}, {y}).at(0);
  EXPECT_EQ(result.dtype(), DType::i16);
  EXPECT_THAT(result.to_doubles(), near({0, 0.8125 * 256}));
  // With the matrix as it is: (0.5 * 1 + 0.25 * 0.125, 0.5 * -2 + 0.25 * 3), to the nearest step.
  EXPECT_THAT(values_of("BATCH_MATMUL", {x, w}, y), near({0.53125 * 256, -0.25 * 256}));
  // Results beyond the range stay at its ends.
  EXPECT_THAT(values_of("BATCH_MATMUL", {quantized(In{{1, 1, 2}, {32767, 32767}}, 1, 0, INT16), w},
                        quantized(In{{1, 1, 2}, {}}, 1 / 256.0F, 0, INT16)),
              near({32767, 32767}));
}

}  // namespace
}  // namespace ingot::frontends::tflite
