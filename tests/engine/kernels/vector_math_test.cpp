// Vector functions against the standard library, in units of the last place.
#include "ingot/engine/kernels/vector_math.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace ingot::engine {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

struct Function {
  const char* name;
  Unary op;
  double (*exact)(double);
  float low, high;
  double units;  // of the last place of the result, or of 1e-7 for results below it
};

class VectorFunction : public testing::TestWithParam<Function> {};

TEST_P(VectorFunction, IsExactToFewUnitsOfTheLastPlace) {
  const Function& f = GetParam();
  constexpr int kCount = 100003;  // not a multiple of any vector's width
  std::vector<float> x(kCount), y(kCount);
  for (int i = 0; i < kCount; ++i)
    x[static_cast<std::size_t>(i)] = f.low + (f.high - f.low) * static_cast<float>(i) / kCount;
  apply(f.op, x.data(), y.data(), kCount);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double exact = f.exact(x[i]);
    const double unit = std::max(std::abs(exact), 1e-7) * std::numeric_limits<float>::epsilon();
    ASSERT_LE(std::abs(y[i] - exact), f.units * unit) << f.name << "(" << x[i] << ")";
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, VectorFunction,
    testing::Values(Function{"exp", Unary::exp, std::exp, -80, 88, 2},
                    Function{"log", Unary::log, std::log, 2, 1e6f, 2},
                    Function{"tanh", Unary::tanh, std::tanh, -10, 10, 4},
                    Function{"erf", Unary::erf, std::erf, -5, 5, 6},
                    Function{"sigmoid", Unary::sigmoid, [](double x) { return 1 / (1 + std::exp(-x)); }, -80, 80, 4},
                    Function{"softplus", Unary::softplus, [](double x) { return std::log1p(std::exp(x)); }, -80, 80, 4},
                    Function{"sqrt", Unary::sqrt, std::sqrt, 0, 1e6f, 1},
                    Function{"reciprocal", Unary::reciprocal, [](double x) { return 1 / x; }, 0.01f, 100, 1}),
    [](const auto& f) { return std::string(f.param.name); });

float one(Unary op, float x, float a = 0, float b = 0) {
  float y = 0;
  apply(op, &x, &y, 1, a, b);
  return y;
}

TEST(VectorFunction, EluIsExactNearZero) {
  constexpr float kSlope = 1.5f, kFactor = 1.25f;
  for (float x = -90; x < 10; x += x < -1 ? 0.37f : 0.0007f) {
    const double exact = kFactor * (x > 0 ? x : kSlope * std::expm1(static_cast<double>(x)));
    ASSERT_NEAR(one(Unary::elu, x, kSlope, kFactor), exact, std::abs(exact) * 1e-6) << x;
  }
  EXPECT_FLOAT_EQ(one(Unary::elu, -kInfinity, kSlope, kFactor), -kSlope * kFactor);
  EXPECT_EQ(one(Unary::elu, kInfinity, kSlope, kFactor), kInfinity);
  EXPECT_EQ(one(Unary::elu, -1e-30f, 1, 1), -1e-30f);
}

TEST(VectorFunction, HasTheRightLimits) {
  EXPECT_EQ(one(Unary::exp, kInfinity), kInfinity);
  EXPECT_EQ(one(Unary::exp, -kInfinity), 0);
  EXPECT_EQ(one(Unary::exp, 100), kInfinity);
  EXPECT_EQ(one(Unary::log, 0), -kInfinity);
  EXPECT_EQ(one(Unary::log, kInfinity), kInfinity);
  EXPECT_TRUE(std::isnan(one(Unary::log, -1)));
  EXPECT_NEAR(one(Unary::log, 1e-40f), std::log(1e-40), 1e-4);
  EXPECT_EQ(one(Unary::tanh, -kInfinity), -1);
  EXPECT_EQ(one(Unary::tanh, kInfinity), 1);
  EXPECT_EQ(one(Unary::tanh, 1e-40f), 1e-40f);
  EXPECT_EQ(one(Unary::sigmoid, -kInfinity), 0);
  EXPECT_EQ(one(Unary::sigmoid, kInfinity), 1);
  EXPECT_NEAR(one(Unary::sigmoid, -88.5f), 0, 1e-38);
  EXPECT_EQ(one(Unary::sigmoid, 88.5f), 1);
  EXPECT_EQ(one(Unary::relu, -kInfinity), 0);
}

TEST(VectorFunction, PassesNaNOn) {
  for (const Unary op :
       {Unary::abs, Unary::elu, Unary::erf, Unary::exp, Unary::gelu, Unary::hard_sigmoid, Unary::hard_swish,
        Unary::leaky_relu, Unary::log, Unary::relu, Unary::sigmoid, Unary::softplus, Unary::tanh})
    EXPECT_TRUE(std::isnan(one(op, kNaN, 1, 1))) << static_cast<int>(op);
  EXPECT_TRUE(std::isnan(one(Unary::clip, kNaN, 0, 6)));
}

TEST(VectorFunction, BroadcastsEitherOperand) {
  std::vector<float> x(21, 3), z(21);
  const float two = 2;
  apply(Binary::subtract, x.data(), 1, &two, 0, z.data(), 21);
  EXPECT_EQ(z, std::vector<float>(21, 1));
  apply(Binary::subtract, &two, 0, x.data(), 1, z.data(), 21);
  EXPECT_EQ(z, std::vector<float>(21, -1));
}

TEST(VectorFunction, JoinedStepsGiveTheBitsOfSingleOnes) {
  constexpr Unary kUnary[] = {Unary::abs,    Unary::ceil, Unary::clip, Unary::floor,  Unary::hard_sigmoid,
                              Unary::negate, Unary::relu, Unary::sqrt, Unary::square, Unary::hard_swish};
  constexpr Binary kBinary[] = {Binary::add,     Binary::subtract, Binary::multiply, Binary::divide,
                                Binary::maximum, Binary::minimum,  Binary::gate};
  std::mt19937 random(3);
  const auto below = [&](std::size_t n) { return std::size_t{random()} % n; };
  for (int round = 0; round < 300; ++round) {
    const std::size_t n = 1 + below(300);
    const auto floats = [&] {
      std::vector<float> x(n);
      for (float& v : x) v = static_cast<float>(random()) / 1e9f - 2;
      return x;
    };
    const std::vector<float> x = floats(), other = floats();
    std::vector<JoinedStep> steps;
    std::vector<float> expected = x, y(n);
    for (std::size_t count = 1 + below(kMostJoined); steps.size() < count;) {
      JoinedStep s{.is_binary = below(3) > 0, .unary = kUnary[below(10)], .a = -1, .b = 2, .binary = kBinary[below(7)]};
      ASSERT_TRUE(is_simple(s.unary));
      if (below(4)) s.other = other.data();
      s.step = static_cast<std::int64_t>(below(2));
      s.is_second = below(2) > 0;
      const float* const second = s.other ? s.other : expected.data();
      const std::int64_t step = s.other ? s.step : 1, size = static_cast<std::int64_t>(n);
      if (!s.is_binary)
        apply(s.unary, expected.data(), expected.data(), size, s.a, s.b);
      else if (s.is_second)
        apply(s.binary, second, step, expected.data(), 1, expected.data(), size);
      else
        apply(s.binary, expected.data(), 1, second, step, expected.data(), size);
      steps.push_back(s);
    }
    apply(steps, x.data(), y.data(), static_cast<std::int64_t>(n));
    for (std::size_t i = 0; i < n; ++i)
      ASSERT_EQ(std::isnan(y[i]) ? 0 : std::bit_cast<std::uint32_t>(y[i]),
                std::isnan(expected[i]) ? 0 : std::bit_cast<std::uint32_t>(expected[i]));
  }
}

TEST(VectorFunction, MaximumAndMinimumKeepNaN) {
  for (const Binary op : {Binary::maximum, Binary::minimum}) {
    const float x[] = {kNaN, 1}, y[] = {1, kNaN};
    float z[2];
    apply(op, x, 1, y, 1, z, 2);
    EXPECT_TRUE(std::isnan(z[0]) && std::isnan(z[1]));
  }
}

}  // namespace
}  // namespace ingot::engine
