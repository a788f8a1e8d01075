// Convolutions of images and their gradients against sums in double, for geometries of all kinds.
#include "ingot/engine/kernels/image_product.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "ingot/base/budget.h"
#include "ingot/base/threads.h"

namespace ingot::engine {
namespace {

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

class Images : public testing::TestWithParam<unsigned> {
 protected:
  void SetUp() override {
    const std::int64_t images = 1 + below(6), channels = 1 + below(40), filters = 1 + below(40);
    s.x = {images, channels};
    s.w = {filters, channels};
    s.y = {images, filters};
    for (int i = 0; i < 2; ++i) {
      const std::int64_t kernel = 1 + below(4), stride = 1 + below(3), dilation = 1 + below(2);
      const std::int64_t extent = (kernel - 1) * dilation + 1, size = extent + below(20), before = below(extent);
      const std::int64_t out = (size + before + below(extent) - extent) / stride + 1;
      s.x.push_back(size);
      s.w.push_back(kernel);
      s.y.push_back(out);
      s.strides.push_back(stride);
      s.dilations.push_back(dilation);
      s.pads_begin.push_back(before);
      s.pads_end.push_back((out - 1) * stride + extent - size - before);
    }
    x = floats(s.x);
    w = floats(s.w);
    dy = floats(s.y);
  }
  std::int64_t below(std::int64_t n) { return std::uniform_int_distribution<std::int64_t>(0, n - 1)(random_); }
  std::vector<float> floats(const Dims& dims) {
    std::vector<float> values(at(tensor_size(dims)));
    for (float& value : values) value = std::uniform_real_distribution<float>(-1, 1)(random_);
    return values;
  }

  /// Calls f(place in x, in w, in y) for each product of the convolution.
  template <class F> void each(F f) const {
    for (std::int64_t n = 0; n < s.y[0]; ++n)
      for (std::int64_t o = 0; o < s.y[1]; ++o)
        for (std::int64_t i = 0; i < s.y[2]; ++i)
          for (std::int64_t j = 0; j < s.y[3]; ++j)
            for (std::int64_t c = 0; c < s.x[1]; ++c)
              for (std::int64_t a = 0; a < s.w[2]; ++a)
                for (std::int64_t b = 0; b < s.w[3]; ++b) {
                  const std::int64_t u = i * s.strides[0] - s.pads_begin[0] + a * s.dilations[0];
                  const std::int64_t v = j * s.strides[1] - s.pads_begin[1] + b * s.dilations[1];
                  if (u < 0 || v < 0 || u >= s.x[2] || v >= s.x[3]) continue;
                  f(at(((n * s.x[1] + c) * s.x[2] + u) * s.x[3] + v), at(((o * s.x[1] + c) * s.w[2] + a) * s.w[3] + b),
                    at(((n * s.y[1] + o) * s.y[2] + i) * s.y[3] + j));
                }
  }

  /// Compares what `run(host, result)` makes with sums in double; all numbers of threads give the same bits.
  template <class F> void check(F run, const std::vector<double>& expected) {
    std::vector<float> first;
    for (const int threads : {1, 3}) {
      ThreadPool pool(threads);
      const ImageProduct::Host host{pool, Budget::unlimited(),
                                    [](std::int64_t count) { return Array(DType::f32, {count}); }};
      std::vector<float> made(expected.size(), -7);
      run(host, made.data());
      if (first.empty()) first = made;
      EXPECT_EQ(made, first) << threads << " threads";
    }
    for (std::size_t i = 0; i < expected.size(); ++i)
      ASSERT_NEAR(first[i], expected[i], 1e-5 * std::max(10.0, std::abs(expected[i]))) << i;
  }

  ConvolutionShape s;
  std::vector<float> x, w, dy;

 private:
  std::mt19937 random_{GetParam()};
};

TEST_P(Images, Forward) {
  const std::vector<float> bias = floats({s.w[0]});
  std::vector<double> expected(dy.size());
  const std::int64_t plane = s.y[2] * s.y[3];
  for (std::size_t i = 0; i < expected.size(); ++i)
    expected[i] = bias[at(static_cast<std::int64_t>(i) / plane % s.w[0])];
  each([&](std::size_t a, std::size_t b, std::size_t c) {
    expected[c] += static_cast<double>(x[a]) * static_cast<double>(w[b]);
  });
  check([&](const auto& host, float* y) { ImageProduct::forward(s, x.data(), w.data(), bias.data(), y, host); },
        expected);
}

TEST_P(Images, ToInput) {
  std::vector<double> expected(x.size());
  each([&](std::size_t a, std::size_t b, std::size_t c) {
    expected[a] += static_cast<double>(dy[c]) * static_cast<double>(w[b]);
  });
  check([&](const auto& host, float* dx) { ImageProduct::to_input(s, dy.data(), w.data(), dx, host); }, expected);
}

TEST_P(Images, ToWeights) {
  std::vector<double> expected(w.size());
  each([&](std::size_t a, std::size_t b, std::size_t c) {
    expected[b] += static_cast<double>(x[a]) * static_cast<double>(dy[c]);
  });
  check([&](const auto& host, float* dw) { ImageProduct::to_weights(s, x.data(), dy.data(), dw, host); }, expected);
}

INSTANTIATE_TEST_SUITE_P(Random, Images, testing::Range(0U, 40U));

}  // namespace
}  // namespace ingot::engine
