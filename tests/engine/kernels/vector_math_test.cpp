// Vector functions against the standard library, in units of the last place.
#include "ingot/engine/kernels/vector_math.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
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
  for (const Unary op : {Unary::abs, Unary::erf, Unary::exp, Unary::gelu, Unary::hard_sigmoid, Unary::hard_swish,
                         Unary::leaky_relu, Unary::log, Unary::relu, Unary::sigmoid, Unary::softplus, Unary::tanh})
    EXPECT_TRUE(std::isnan(one(op, kNaN, 1, 1))) << static_cast<int>(op);
  EXPECT_TRUE(std::isnan(one(Unary::clip, kNaN, 0, 6)));
}

TEST(VectorFunction, CellsOfAnLstmAgreeWithTheFormula) {
  constexpr std::size_t kCells = 21, kStride = 24;
  std::vector<float> gates(4 * kStride), cell(kCells), h(kCells);
  for (std::size_t i = 0; i < gates.size(); ++i) gates[i] = std::sin(static_cast<float>(i)) * 4;
  for (std::size_t i = 0; i < kCells; ++i) cell[i] = std::cos(static_cast<float>(i));
  const std::vector<float> before = cell;
  lstm_cells(gates.data(), kStride, cell.data(), h.data(), kCells);
  const auto sigmoid = [](float x) { return 1 / (1 + std::exp(-static_cast<double>(x))); };
  for (std::size_t i = 0; i < kCells; ++i) {
    const double now = sigmoid(gates[2 * kStride + i]) * before[i] +
                       sigmoid(gates[i]) * std::tanh(static_cast<double>(gates[3 * kStride + i]));
    EXPECT_NEAR(cell[i], now, 1e-6);
    EXPECT_NEAR(h[i], sigmoid(gates[kStride + i]) * std::tanh(now), 1e-6);
  }
}

TEST(VectorFunction, BroadcastsEitherOperand) {
  std::vector<float> x(21, 3), z(21);
  const float two = 2;
  apply(Binary::subtract, x.data(), 1, &two, 0, z.data(), 21);
  EXPECT_EQ(z, std::vector<float>(21, 1));
  apply(Binary::subtract, &two, 0, x.data(), 1, z.data(), 21);
  EXPECT_EQ(z, std::vector<float>(21, -1));
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
