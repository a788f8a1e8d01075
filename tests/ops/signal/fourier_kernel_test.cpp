// What DFT and STFT compute.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "tests/ops/op_case.h"
#include "tests/support/refusal.h"

namespace ingot::test {
namespace {

Array f64(Dims dims, const std::vector<double>& values) { return Array::of<double>(std::move(dims), values); }
Array number(std::int64_t value) { return Array::scalar(value); }

/// n numbers without a pattern.
Array signal(Dims dims) {
  std::vector<double> v(static_cast<std::size_t>(tensor_size(dims)));
  for (std::size_t i = 0; i < v.size(); ++i) v[i] = std::sin(static_cast<double>(i * i) + 0.5);
  return f64(std::move(dims), v);
}

void expect_near(const Array& actual, const std::vector<double>& expected) {
  const auto values = actual.to_doubles();
  ASSERT_EQ(values.size(), expected.size());
  for (std::size_t i = 0; i < values.size(); ++i) EXPECT_NEAR(values[i], expected[i], 1e-11) << i;
}

TEST(DFTKernel, IsTheSumItStandsForAtAnyLength) {
  for (const std::int64_t n : {1, 2, 3, 4, 5, 7, 8, 12, 16, 31, 60, 97}) {
    const Array x = signal({1, n, 2});
    const auto v = x.to_doubles();
    std::vector<double> expected;
    for (std::int64_t k = 0; k < n; ++k) {
      double re = 0, im = 0;
      for (std::int64_t i = 0; i < n; ++i) {
        const double angle = -2 * std::numbers::pi * static_cast<double>(i * k % n) / static_cast<double>(n);
        const double a = v[static_cast<std::size_t>(2 * i)], b = v[static_cast<std::size_t>(2 * i + 1)];
        re += a * std::cos(angle) - b * std::sin(angle);
        im += a * std::sin(angle) + b * std::cos(angle);
      }
      expected.push_back(re);
      expected.push_back(im);
    }
    SCOPED_TRACE(n);
    expect_near(run_op("DFT", {x}), expected);
  }
}

/// Real numbers are transformed in another way than complex ones that happen to be real.
TEST(DFTKernel, OfRealNumbersIsThatOfComplexOnes) {
  for (const std::int64_t n : {1, 2, 3, 4, 6, 10, 14, 22, 35, 64, 105, 210, 400}) {
    const Array real = signal({2, n, 1});
    Array complex(real.dtype(), {2, n, 2});
    for (std::size_t i = 0; i < static_cast<std::size_t>(2 * n); ++i)
      complex.mutable_data<double>()[2 * i] = real.data<double>()[i];
    SCOPED_TRACE(n);
    expect_near(run_op("DFT", {real}), run_op("DFT", {complex}).to_doubles());
  }
}

TEST(DFTKernel, InvertsItself) {
  for (const std::int64_t n : {6, 7, 8}) {
    const Array x = signal({2, n, 1});
    const Array spectrum = run_op("DFT", {x}, {{"onesided", 1}});
    EXPECT_EQ(spectrum.dims(), (Dims{2, n / 2 + 1, 2}));
    const Array back = run_op("DFT", {spectrum, number(n)}, {{"onesided", 1}, {"inverse", 1}});
    EXPECT_EQ(back.dims(), x.dims());
    expect_near(back, x.to_doubles());
  }
}

TEST(DFTKernel, CutsOrPadsToTheLength) {
  const Array x = f64({1, 3, 1}, {1, 2, 3});
  expect_near(run_op("DFT", {x, number(2)}), {3, 0, -1, 0});
  expect_near(run_op("DFT", {x, number(4)}), {6, 0, -2, -2, 2, 0, -2, 2});
}

TEST(DFTKernel, TransformsTheAxisAsked) {
  const Array x = f64({2, 2, 1}, {1, 2, 3, 4});
  expect_near(run_op("DFT", {x, {}, number(0)}), {4, 0, 6, 0, -2, 0, -2, 0});
  expect_near(run_op("DFT", {x, {}, number(1)}), {3, 0, -1, 0, 7, 0, -1, 0});
  EXPECT_REFUSED(Code::execution_failed, run_op("DFT", {x, {}, number(2)}));
  EXPECT_REFUSED(Code::execution_failed, run_op("DFT", {x, {}, number(-1)}));
}

TEST(DFTKernel, RefusesWhatCannotBe) {
  EXPECT_REFUSED(Code::execution_failed, run_op("DFT", {f64({1, 2, 3}, {1, 2, 3, 4, 5, 6})}));
  EXPECT_REFUSED(Code::execution_failed, run_op("DFT", {f64({1, 0, 1}, {})}));
  EXPECT_REFUSED(Code::execution_failed, run_op("DFT", {f64({1, 1, 1}, {1}), number(0)}));
  EXPECT_REFUSED(Code::execution_failed, run_op("DFT", {f64({1, 2, 2}, {1, 2, 3, 4})}, {{"onesided", 1}}));
}

TEST(STFTKernel, TransformsWindowedFrames) {
  const Array x = f64({1, 5, 1}, {1, 2, 3, 4, 5}), window = f64({2}, {1, 10});
  const Array y = run_op("STFT", {x, number(2), window});
  EXPECT_EQ(y.dims(), (Dims{1, 2, 2, 2}));
  expect_near(y, {21, 0, -19, 0, 43, 0, -37, 0});
  const Array whole = run_op("STFT", {x, number(5), {}, number(5)}, {{"onesided", 0}});
  EXPECT_EQ(whole.dims(), (Dims{1, 1, 5, 2}));
  EXPECT_NEAR(whole.to_doubles()[0], 15, 1e-12);
}

TEST(STFTKernel, RefusesWhatCannotBe) {
  const Array x = f64({1, 5, 1}, {1, 2, 3, 4, 5});
  EXPECT_REFUSED(Code::execution_failed, run_op("STFT", {x, number(0), {}, number(2)}));
  EXPECT_REFUSED(Code::execution_failed, run_op("STFT", {x, number(1), {}, number(6)}));
  EXPECT_REFUSED(Code::execution_failed, run_op("STFT", {x, number(1), f64({2}, {1, 1}), number(3)}));
}

}  // namespace
}  // namespace ingot::test
