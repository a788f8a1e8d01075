// What losses, MaxUnpool, Col2Im, DeformConv, regions and NonMaxSuppression compute.
#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <limits>

#include "tests/ops/values.h"
#include "tests/support/refusal.h"

namespace ingot::test {
namespace {

using Ints = std::vector<std::int64_t>;
using Floats = std::vector<float>;

Array f32(Dims dims, const Floats& values) { return Array::of<float>(std::move(dims), values); }
Array i64(Dims dims, const Ints& values) { return Array::of<std::int64_t>(std::move(dims), values); }

TEST(NegativeLogLikelihoodLossKernel, WeighsAndIgnores) {
  const Array x = f32({3, 2}, {-1, -2, -3, -4, -5, -6}), target = i64({3}, {0, 1, -7}), weights = f32({2}, {1, 3});
  const auto loss = [&](const char* reduction) {
    return values(
        run_op("NegativeLogLikelihoodLoss", {x, target, weights}, {{"reduction", reduction}, {"ignore_index", -7}}));
  };
  EXPECT_EQ(loss("none"), (Floats{1, 12, 0}));
  EXPECT_EQ(loss("sum"), Floats{13});
  EXPECT_EQ(loss("mean"), Floats{3.25f});
}

TEST(NegativeLogLikelihoodLossKernel, RefusesClassesThatDoNotExist) {
  const Array x = f32({1, 2}, {-1, -2});
  for (const std::int64_t target :
       {Ints::value_type{2}, Ints::value_type{-1}, std::numeric_limits<std::int64_t>::min()})
    EXPECT_REFUSED(Code::execution_failed, run_op("NegativeLogLikelihoodLoss", {x, i64({1}, {target})}));
  EXPECT_REFUSED(Code::execution_failed, run_op("NegativeLogLikelihoodLoss", {x, i64({2}, {0, 0})}));
}

TEST(SoftmaxCrossEntropyLossKernel, GivesLogProbabilitiesToo) {
  const Array x = f32({1, 2, 1}, {0, std::log(3.0f)});
  const auto out = run_ops("SoftmaxCrossEntropyLoss", {x, i64({1, 1}, {1})}, {}, 2);
  EXPECT_NEAR(values(*out[0].array())[0], -std::log(0.75), 1e-6);
  EXPECT_EQ(out[1].array()->dims(), (Dims{1, 2, 1}));
  EXPECT_NEAR(values(*out[1].array())[0], std::log(0.25), 1e-6);
}

TEST(SoftmaxCrossEntropyLossKernel, DoesNotOverflow) {
  EXPECT_EQ(values(run_op("SoftmaxCrossEntropyLoss", {f32({1, 2}, {1000, 0}), i64({1}, {1})})), Floats{1000});
}

TEST(MaxUnpoolKernel, PutsElementsBack) {
  const Attrs attrs = {{"kernel_shape", Ints{2}}, {"strides", Ints{2}}};
  const Array x = f32({1, 1, 2}, {5, 6});
  EXPECT_EQ(values(run_op("MaxUnpool", {x, i64({1, 1, 2}, {1, 2})}, attrs)), (Floats{0, 5, 6, 0}));
  EXPECT_EQ(values(run_op("MaxUnpool", {x, i64({1, 1, 2}, {1, 2}), i64({3}, {1, 1, 5})}, attrs)),
            (Floats{0, 5, 6, 0, 0}));
  EXPECT_REFUSED(Code::execution_failed, run_op("MaxUnpool", {x, i64({1, 1, 2}, {1, 4})}, attrs));
  EXPECT_REFUSED(Code::execution_failed, run_op("MaxUnpool", {x, i64({1, 1, 2}, {-1, 0})}, attrs));
}

TEST(Col2ImKernel, AddsOverlappingBlocks) {
  const Array columns = f32({1, 2, 3}, {1, 2, 3, 10, 20, 30});  // blocks of 2 over 4 elements
  EXPECT_EQ(values(run_op("Col2Im", {columns, i64({1}, {4}), i64({1}, {2})})), (Floats{1, 12, 23, 30}));
}

TEST(Col2ImKernel, AddsEveryKindOfNumber) {
  const Array shape = i64({1}, {2}), block = i64({1}, {1});
  const std::complex<float> z(1, 2);
  EXPECT_EQ(
      values<std::complex<float>>(run_op("Col2Im", {Array::of<std::complex<float>>({1, 1, 2}, {z, z}), shape, block})),
      (std::vector<std::complex<float>>{z, z}));
  const std::int8_t most = 127;
  const Array y = run_op("Col2Im", {Array::of<std::int8_t>({1, 2, 1}, {most, most}), i64({1}, {2}), i64({1}, {2})});
  EXPECT_EQ(values<std::int8_t>(y), (std::vector<std::int8_t>{most, most}));
  EXPECT_REFUSED(Code::execution_failed, run_op("Col2Im", {f32({1, 1, 3}, {1, 2, 3}), shape, block}));
  EXPECT_REFUSED(Code::inference_failed, run_op("Col2Im", {f32({1, 1, 2}, {1, 2}), i64({1}, {-2}), block}));
}

TEST(DeformConvKernel, IsAConvolutionWhereNothingMoves) {
  const Array x = f32({1, 1, 2, 2}, {1, 2, 3, 4}), w = f32({1, 1, 2, 2}, {1, 1, 1, 1});
  EXPECT_EQ(values(run_op("DeformConv", {x, w, Array(DType::f32, {1, 8, 1, 1})})), Floats{10});
}

TEST(DeformConvKernel, MovesAndWeighsItsTaps) {
  const Array x = f32({1, 1, 1, 3}, {1, 2, 4}), w = f32({1, 1, 1, 1}, {10});
  const Array offset = f32({1, 2, 1, 3}, {0, 0, 0, 0.5f, -0.5f, 0.5f}), mask = f32({1, 1, 1, 3}, {1, 1, 0.5f});
  EXPECT_EQ(values(run_op("DeformConv", {x, w, offset})), (Floats{15, 15, 20}));  // half of it lies outside
  EXPECT_EQ(values(run_op("DeformConv", {x, w, offset, f32({1}, {1}), mask})), (Floats{16, 16, 11}));
  EXPECT_REFUSED(Code::execution_failed, run_op("DeformConv", {x, w, mask}));
}

TEST(NonMaxSuppressionKernel, KeepsTheBestOfOverlappingBoxes) {
  const Array boxes = f32({1, 3, 4}, {0, 0, 1, 1, 0, 0.1f, 1, 1.1f, 0, 5, 1, 6});
  const Array scores = f32({1, 1, 3}, {0.8f, 0.9f, 0.7f});
  const Array most = i64({1}, {3}), overlap = f32({1}, {0.5f});
  EXPECT_EQ(run_op("NonMaxSuppression", {boxes, scores, most, overlap}).to_ints(), (Ints{0, 0, 1, 0, 0, 2}));
  EXPECT_EQ(run_op("NonMaxSuppression", {boxes, scores, most, overlap, f32({1}, {0.75f})}).to_ints(), (Ints{0, 0, 1}));
  EXPECT_EQ(run_op("NonMaxSuppression", {boxes, scores}).dims(), (Dims{0, 3}));
  EXPECT_REFUSED(Code::execution_failed, run_op("NonMaxSuppression", {boxes, scores, most, f32({1}, {2})}));
  EXPECT_REFUSED(Code::execution_failed, run_op("NonMaxSuppression", {boxes, f32({1, 1, 2}, {1, 1}), most}));
}

TEST(NonMaxSuppressionKernel, TakesBoxesByTheirCentre) {
  const Array boxes = f32({1, 2, 4}, {0, 0, 2, 2, 0.1f, 0, 2, 2}), scores = f32({1, 1, 2}, {0.5f, 0.5f});
  const Array found =
      run_op("NonMaxSuppression", {boxes, scores, i64({1}, {9}), f32({1}, {0.5f})}, {{"center_point_box", 1}});
  EXPECT_EQ(found.to_ints(), (Ints{0, 0, 0}));
}

TEST(MaxRoiPoolKernel, TakesTheLargestOfEachBin) {
  const Array x = f32({1, 1, 2, 4}, {1, 2, 3, 4, 5, 6, 7, 8}), roi = f32({1, 5}, {0, 0, 0, 3, 1});
  EXPECT_EQ(values(run_op("MaxRoiPool", {x, roi}, {{"pooled_shape", Ints{1, 2}}})), (Floats{6, 8}));
  EXPECT_REFUSED(Code::execution_failed,
                 run_op("MaxRoiPool", {x, f32({1, 5}, {1, 0, 0, 3, 1})}, {{"pooled_shape", Ints{1, 2}}}));
  const float inf = std::numeric_limits<float>::infinity();
  EXPECT_EQ(
      run_op("MaxRoiPool", {x, f32({1, 5}, {0, -inf, 0, inf, std::nanf("")})}, {{"pooled_shape", Ints{1, 1}}}).size(),
      1);
}

TEST(RoiAlignKernel, SamplesBetweenElements) {
  const Array x = f32({1, 1, 2, 2}, {1, 2, 3, 4}), roi = f32({1, 4}, {0, 0, 2, 2}), image = i64({1}, {0});
  EXPECT_EQ(values(run_op("RoiAlign", {x, roi, image}, {{"sampling_ratio", 1}})), Floats{2.5f});
  EXPECT_REFUSED(Code::execution_failed, run_op("RoiAlign", {x, roi, i64({1}, {1})}));
}

}  // namespace
}  // namespace ingot::test
