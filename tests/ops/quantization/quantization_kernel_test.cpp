// Quantised operators at run time: exact integers.
#include <gmock/gmock.h>

#include <limits>

#include "tests/ops/values.h"
#include "tests/support/refusal.h"

namespace ingot::test {
namespace {

using testing::ElementsAre;
using Bytes8 = std::vector<std::uint8_t>;

Array bytes(Dims dims, const Bytes8& numbers) { return Array::of<std::uint8_t>(std::move(dims), numbers); }

TEST(QuantizeLinearKernel, RoundsHalvesToEvenAndSaturates) {
  const Array x = floats({1, 3, -1, 1000, -1000}), scale = Array::scalar(2.0f);
  EXPECT_THAT(values<std::uint8_t>(run_op("QuantizeLinear", {x, scale, Array::scalar(std::uint8_t{10})})),
              ElementsAre(10, 12, 10, 255, 0));
  EXPECT_THAT(values<std::int8_t>(run_op("QuantizeLinear", {x, scale}, {{"output_dtype", DType::i8}})),
              ElementsAre(0, 2, 0, 127, -128));
  const Array nan = floats({std::numeric_limits<float>::quiet_NaN()});
  EXPECT_THAT(values<std::uint8_t>(run_op("QuantizeLinear", {nan, scale, Array::scalar(std::uint8_t{10})})),
              ElementsAre(10));
}

TEST(QuantizeLinearKernel, TakesScalesPerAxisAndBlock) {
  const Array x = floats({2, 3}, {2, 2, 2, 8, 8, 8});
  EXPECT_THAT(values<std::uint8_t>(run_op("QuantizeLinear", {x, floats({1, 2})}, {{"axis", 0}})),
              ElementsAre(2, 2, 2, 4, 4, 4));
  EXPECT_THAT(values<std::uint8_t>(
                  run_op("QuantizeLinear", {x, floats({2, 2}, {1, 2, 4, 8})}, {{"axis", 1}, {"block_size", 2}})),
              ElementsAre(2, 2, 1, 2, 2, 1));
  EXPECT_REFUSED(Code::execution_failed, run_op("QuantizeLinear", {x, floats({1, 2})}, {{"axis", 1}}));
  EXPECT_REFUSED(Code::execution_failed, run_op("QuantizeLinear", {x, floats({2, 1}, {1, 2})}, {{"block_size", 2}}));
}

TEST(DequantizeLinearKernel, SubtractsTheZeroPointExactly) {
  const auto most = std::numeric_limits<std::int32_t>::max();
  EXPECT_THAT(values<float>(run_op("DequantizeLinear", {bytes({2}, {0, 255}), floats({0.5f}), bytes({1}, {128})})),
              ElementsAre(-64, 63.5f));
  EXPECT_THAT(values<float>(run_op("DequantizeLinear", {Array::scalar(most), Array::scalar(1.0f)})),
              ElementsAre(2147483648.0f));
}

TEST(DynamicQuantizeLinearKernel, HoldsZeroExactly) {
  const auto y = run_ops("DynamicQuantizeLinear", {floats({0, 2, -3, -2.5f, 1.34f, 0.5f})}, {}, 3);
  EXPECT_THAT(values<std::uint8_t>(*y[0].array()), ElementsAre(153, 255, 0, 26, 221, 179));
  EXPECT_FLOAT_EQ(values<float>(*y[1].array())[0], 5.0f / 255);
  EXPECT_THAT(values<std::uint8_t>(*y[2].array()), ElementsAre(153));
  const auto zeros = run_ops("DynamicQuantizeLinear", {floats({0, 0})}, {}, 3);
  EXPECT_THAT(values<std::uint8_t>(*zeros[0].array()), ElementsAre(0, 0));
}

TEST(MatMulIntegerKernel, TakesZeroPointsPerRowAndColumn) {
  const Array a = bytes({2, 2}, {11, 12, 21, 22}), b = bytes({2, 2}, {1, 12, 3, 14});
  EXPECT_THAT(values<std::int32_t>(run_op("MatMulInteger", {a, b, bytes({2}, {10, 20}), bytes({2}, {0, 10})})),
              ElementsAre(7, 10, 7, 10));
}

TEST(ConvIntegerKernel, PadsWithTheZeroPoint) {
  const Array x = bytes({1, 1, 1, 2}, {11, 12}), w = bytes({1, 1, 1, 3}, {1, 2, 3});
  EXPECT_THAT(values<std::int32_t>(run_op("ConvInteger", {x, w, bytes({}, {10})}, {{"pads", {0, 1, 0, 1}}})),
              ElementsAre(8, 5));
}

TEST(QLinearMatMulKernel, ScalesAndSaturates) {
  const Array a = bytes({1, 2}, {200, 200}), b = bytes({2, 1}, {200, 200}), zero = bytes({1}, {0});
  const auto run = [&](float scale) {
    return values<std::uint8_t>(
        run_op("QLinearMatMul", {a, floats({1}), zero, b, floats({1}), zero, floats({scale}), zero}));
  };
  EXPECT_THAT(run(1000), ElementsAre(80));
  EXPECT_THAT(run(1), ElementsAre(255));
}

TEST(QLinearConvKernel, TakesScalesPerFilterAndABias) {
  const Array x = bytes({1, 1, 1, 1}, {4}), w = bytes({2, 1, 1, 1}, {10, 10}), zero = bytes({1}, {0});
  const Array bias = Array::of<std::int32_t>({2}, {10, -40});
  EXPECT_THAT(values<std::uint8_t>(run_op("QLinearConv", {x, floats({0.5f}), zero, w, floats({1, 2}),
                                                          bytes({2}, {0, 0}), floats({1}), zero, bias})),
              ElementsAre(25, 0));
}

}  // namespace
}  // namespace ingot::test
