// Convolutions of bytes on channels last against the reference kernel of QLinearConv: the same bits.
#include "ingot/engine/kernels/byte_convolution.h"

#include <gtest/gtest.h>

#include <cmath>

#include "ingot/base/budget.h"
#include "ingot/base/threads.h"
#include "tests/engine/both_ways.h"
#include "tests/engine/random.h"

namespace ingot::engine {
namespace {

DType any_type(Random& random) { return random.below(2) ? DType::u8 : DType::i8; }

/// The same number in both types of bytes: some in the middle, and the extremes.
std::int64_t any_zero(Random& random, DType type) {
  constexpr std::int64_t kZeros[] = {0, 128, 255, 3, 200};
  return kZeros[random.below(5)] - (type == DType::i8 ? 128 : 0);
}

Tensor byte(DType type, std::int64_t value) {
  if (type == DType::i8) return Tensor::scalar(static_cast<std::int8_t>(value));
  return Tensor::scalar(static_cast<std::uint8_t>(value));
}

struct Layer {
  ByteSpec spec;
  Tensor x, w;
  Array expected;  // channels last
};

/// A random layer, and what the reference kernel makes of it.
Layer random_layer(Random& random, bool is_depthwise) {
  Layer layer;
  ByteSpec& spec = layer.spec;
  spec.is_depthwise = is_depthwise;
  const std::int64_t kernel[2] = {1 + random.below(4), 1 + random.below(4)};
  std::int64_t filters = 1 + random.below(random.below(4) ? 40 : 150);
  if (random.below(4) == 0) filters = std::int64_t{1} << random.below(5);
  const std::int64_t channels = is_depthwise ? filters : 1 + random.below(70);
  const bool is_pointwise = random.below(3) == 0 && !is_depthwise;
  const Dims size = {is_pointwise ? 1 : kernel[0], is_pointwise ? 1 : kernel[1]};
  for (std::size_t i = 0; i < 2; ++i) {
    spec.strides.push_back(is_pointwise && random.below(2) ? 1 : 1 + random.below(3));
    spec.dilations.push_back(1 + random.below(2));
    spec.pads_begin.push_back(random.below(size[i]));
    spec.pads_end.push_back(random.below(size[i]));
  }
  const std::int64_t reach[2] = {(size[0] - 1) * spec.dilations[0] + 1, (size[1] - 1) * spec.dilations[1] + 1};
  const Dims dims = {1 + random.below(2), reach[0] + random.below(12), reach[1] + random.below(12), channels};
  spec.x_type = any_type(random);
  spec.y_type = any_type(random);
  const DType w_type = any_type(random);
  layer.x = random.bytes(spec.x_type, dims);
  layer.w = random.bytes(w_type, {filters, is_depthwise ? 1 : channels, size[0], size[1]});
  const std::int64_t x_zero = any_zero(random, spec.x_type), y_zero = any_zero(random, spec.y_type);
  spec.x_zero = static_cast<std::int32_t>(x_zero);
  spec.y_zero = static_cast<float>(y_zero);
  spec.low = spec.y_type == DType::i8 ? -128 : 0;
  spec.high = spec.low + 255;

  Model model = empty_model();
  GraphBuilder g(*model.graph);
  Value* x = model.graph->add_input("x", Array::from(layer.x).type());
  const bool has_zeros = random.below(2) != 0, has_list = random.below(2) != 0;
  Tensor w_zeros = byte(w_type, w_type == DType::u8 ? 128 : 0);
  if (has_zeros && has_list) w_zeros = random.bytes(w_type, {filters});
  if (has_zeros && !has_list) w_zeros = byte(w_type, any_zero(random, w_type));
  for (const std::int64_t zero : w_zeros.to_ints()) spec.weight_zeros.push_back(static_cast<std::int32_t>(zero));
  const float x_scale = 0.02f, y_scale = 0.7f * std::sqrt(static_cast<float>(layer.w.size() / filters));
  const Tensor w_scales = random.floats({filters}, 0.001f, 0.05f);
  for (const float scale : w_scales.to_vector<float>()) spec.factors.push_back(x_scale * scale / y_scale);
  Values inputs = {g.transpose(x, {0, 3, 1, 2}),
                   g.scalar(x_scale, DType::f32),
                   g.constant(byte(spec.x_type, x_zero)),
                   g.constant(layer.w),
                   g.constant(w_scales),
                   g.constant(w_zeros),
                   g.constant(Tensor::scalar(y_scale)),
                   g.constant(byte(spec.y_type, y_zero))};
  if (random.below(2)) {
    for (std::int64_t i = 0; i < filters; ++i)
      spec.bias.push_back(static_cast<std::int32_t>(random.below(20000) - 10000));
    inputs.push_back(g.constant(Tensor::of<std::int32_t>({filters}, spec.bias)));
  }
  Dims pads = spec.pads_begin;
  pads.insert(pads.end(), spec.pads_end.begin(), spec.pads_end.end());
  Value* y = g.op("QLinearConv", inputs,
                  {{"strides", spec.strides},
                   {"dilations", spec.dilations},
                   {"pads", pads},
                   {"group", is_depthwise ? filters : std::int64_t{1}}});
  model.graph->add_output(g.transpose(y, {0, 2, 3, 1}));
  layer.expected = run(model, Array::from(layer.x), false, 1);
  return layer;
}

class ByteConvolutions : public testing::TestWithParam<bool> {};

TEST_P(ByteConvolutions, HaveTheBitsOfTheReferenceKernelInEachWayAndForAnyThreads) {
  for (unsigned seed = 0; seed < 120; ++seed) {
    Random random(seed);
    const Layer layer = random_layer(random, GetParam());
    const Array x = Array::from(layer.x);
    for (const ByteMath math : {ByteMath::pairs, ByteMath::quads}) {
      if (math == ByteMath::quads && !has_quads()) continue;
      const ByteConvolution convolution(layer.spec, layer.w, math);
      ASSERT_EQ(convolution.output_dims(x.dims()), layer.expected.dims()) << seed;
      for (const int threads : {1, 3}) {
        ThreadPool pool(threads);
        Array y(layer.spec.y_type, layer.expected.dims());
        std::vector<std::byte> room(static_cast<std::size_t>(convolution.room_size(x.dims())));
        convolution.run(x.bytes(), x.dims(), y.bytes(), room.data(), pool, Budget::unlimited());
        ASSERT_EQ(y.to_ints(), layer.expected.to_ints()) << seed << (math == ByteMath::quads ? " quads" : " pairs");
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, ByteConvolutions, testing::Bool(),
                         [](const auto& kind) { return kind.param ? "Depthwise" : "Dense"; });

TEST(ByteTiles, EveryHeightAndWidthOfTilesIsExact) {
  Random random(1);
  constexpr std::int64_t kQuads = 5;
  for (std::int64_t count = 1; count <= 26; ++count)
    for (std::int64_t panels = 1; panels <= kBytePanels; ++panels) {
      const Tensor rows = random.bytes(DType::u8, {count, 4 * kQuads});
      const Tensor weights = random.bytes(DType::i8, {panels, kQuads, kByteColumns, 4});
      const auto a = rows.to_vector<std::uint8_t>();
      const auto b = weights.to_vector<std::int8_t>();
      const std::int64_t columns = panels * kByteColumns;
      std::vector<std::int32_t> expected;
      for (std::int64_t r = 0; r < count; ++r)
        for (std::int64_t j = 0; j < columns; ++j) {
          std::int32_t sum = 0;
          for (std::int64_t k = 0; k < 4 * kQuads; ++k)
            sum += a[static_cast<std::size_t>(r * 4 * kQuads + k)] *
                   b[static_cast<std::size_t>(
                       ((j / kByteColumns * kQuads + k / 4) * kByteColumns + j % kByteColumns) * 4 + k % 4)];
          expected.push_back(sum);
        }
      for (const ByteMath math : {ByteMath::pairs, ByteMath::quads}) {
        if (math == ByteMath::quads && !has_quads()) continue;
        std::vector<std::int32_t> sums(expected.size(), -7);
        multiply({a.data(), 4 * kQuads, count, b.data(), kQuads * kByteColumns * 4, panels, kQuads, sums.data()}, math);
        ASSERT_EQ(sums, expected) << count << " x " << panels;
      }
    }
}

}  // namespace
}  // namespace ingot::engine
