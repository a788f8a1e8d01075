// What RotaryEmbedding, CausalConvWithState, LinearAttention and ImageDecoder compute.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/ops/op_case.h"
#include "tests/support/refusal.h"

namespace ingot::test {
namespace {

using Ints = std::vector<std::int64_t>;

Array f32(Dims dims, const std::vector<float>& values) { return Array::of<float>(std::move(dims), values); }

void expect_near(const Array& actual, const std::vector<double>& expected) {
  const auto values = actual.to_doubles();
  ASSERT_EQ(values.size(), expected.size());
  for (std::size_t i = 0; i < values.size(); ++i) EXPECT_NEAR(values[i], expected[i], 1e-5) << i;
}

TEST(RotaryEmbeddingKernel, RotatesPairsByTheirPosition) {
  // A quarter turn at position 1: (a, b) becomes (-b, a).
  const Array cos = f32({2, 2}, {1, 1, 0, 0}), sin = f32({2, 2}, {0, 0, 1, 1});
  const Array x = f32({1, 1, 2, 4}, {1, 2, 3, 4, 5, 6, 7, 8}), ids = Array::of<std::int64_t>({1, 2}, {1, 0});
  expect_near(run_op("RotaryEmbedding", {x, cos, sin, ids}), {-3, -4, 1, 2, 5, 6, 7, 8});
  expect_near(run_op("RotaryEmbedding", {x, cos, sin, ids}, {{"interleaved", 1}}), {-2, 1, -4, 3, 5, 6, 7, 8});
  expect_near(run_op("RotaryEmbedding", {x, cos, sin, ids}, {{"rotary_embedding_dim", 2}}), {-2, 1, 3, 4, 5, 6, 7, 8});
}

TEST(RotaryEmbeddingKernel, TakesPackedHeadsAndCachesOfEachStep) {
  const Array cos = f32({1, 1, 1}, {0}), sin = f32({1, 1, 1}, {1}), x = f32({1, 1, 4}, {1, 2, 3, 4});
  expect_near(run_op("RotaryEmbedding", {x, cos, sin}, {{"num_heads", 2}}), {-2, 1, -4, 3});
}

TEST(RotaryEmbeddingKernel, RefusesPositionsBeyondTheCaches) {
  const Array cache = f32({1, 1}, {1}), x = f32({1, 1, 1, 2}, {1, 2});
  for (const std::int64_t id : {Ints::value_type{1}, Ints::value_type{-1}}) {
    const Array ids = Array::of<std::int64_t>({1, 1}, {id});
    EXPECT_REFUSED(Code::execution_failed, run_op("RotaryEmbedding", {x, cache, cache, ids}));
  }
  EXPECT_REFUSED(Code::execution_failed, run_op("RotaryEmbedding", {x, cache, cache}));
}

TEST(CausalConvWithStateKernel, SeesThePastAndHandsItOn) {
  const Array x = f32({1, 1, 3}, {1, 2, 3}), w = f32({1, 1, 2}, {10, 1}), past = f32({1, 1, 1}, {5});
  const auto out = run_ops("CausalConvWithState", {x, w, f32({1}, {100}), past}, {}, 2);
  expect_near(*out[0].array(), {151, 112, 123});
  expect_near(*out[1].array(), {3});
  expect_near(*run_ops("CausalConvWithState", {x, w}, {{"activation", "silu"}}, 2)[0].array(),
              {1 / (1 + std::exp(-1.0)), 12 / (1 + std::exp(-12.0)), 23 / (1 + std::exp(-23.0))});
  EXPECT_REFUSED(Code::execution_failed, run_ops("CausalConvWithState", {x, w, {}, f32({1, 1, 2}, {1, 2})}, {}, 2));
}

TEST(LinearAttentionKernel, AddsKeysTimesValues) {
  const Attrs attrs = {{"q_num_heads", 2}, {"kv_num_heads", 1}, {"update_rule", "linear"}, {"scale", 1.0f}};
  const Array q = f32({1, 2, 2}, {1, 2, 1, 2}), k = f32({1, 2, 1}, {3, 4}), v = f32({1, 2, 1}, {5, 6});
  const auto out = run_ops("LinearAttention", {q, k, v}, attrs, 2);
  expect_near(*out[0].array(), {15, 30, 39, 78});
  expect_near(*out[1].array(), {39});
}

TEST(LinearAttentionKernel, DecaysAndCorrects) {
  const Attrs attrs = {{"q_num_heads", 1}, {"kv_num_heads", 1}, {"update_rule", "gated_delta"}, {"scale", 1.0f}};
  const Array one = f32({1, 1, 1}, {1}), k = f32({1, 1, 1}, {2}), v = f32({1, 1, 1}, {10}),
              past = f32({1, 1, 1, 1}, {8});
  const Array decay = f32({1, 1, 1}, {std::log(0.5f)}), beta = f32({1, 1, 1}, {0.5f});
  // 8 fades to 4, which says 4 * 2 of this key; half of what is missing to 10 is written: 4 + 2 * 0.5 * (10 - 8).
  expect_near(*run_ops("LinearAttention", {one, k, v, past, decay, beta}, attrs, 2)[1].array(), {6});
}

TEST(ImageDecoderKernel, GivesPixelsInTheFormatAsked) {
  const std::string text = "P3 1 1 255\n10 20 30\n";
  const Array file = Array::of<std::uint8_t>({static_cast<std::int64_t>(text.size())}, {text.begin(), text.end()});
  const Array y = run_op("ImageDecoder", {file}, {{"pixel_format", "BGR"}});
  EXPECT_EQ(y.dims(), (Dims{1, 1, 3}));
  EXPECT_EQ(y.to_ints(), (Ints{30, 20, 10}));
}

TEST(ImageDecoderKernel, GivesNoPixelsOfWhatIsNoImage) {
  EXPECT_EQ(run_op("ImageDecoder", {Array::of<std::uint8_t>({2}, {1, 2})}).dims(), (Dims{0, 0, 3}));
  EXPECT_EQ(run_op("ImageDecoder", {Array::of<std::uint8_t>({0}, {})}, {{"pixel_format", "Grayscale"}}).dims(),
            (Dims{0, 0, 1}));
}

}  // namespace
}  // namespace ingot::test
