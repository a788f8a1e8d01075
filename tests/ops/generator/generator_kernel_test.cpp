// Operators that make tensors, at run time.
#include <gmock/gmock.h>

#include <cmath>
#include <limits>
#include <numeric>

#include "ingot/ops/generator/random.h"
#include "tests/ops/values.h"
#include "tests/support/refusal.h"

namespace ingot::test {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::FloatNear;
using testing::HasSubstr;

TEST(Philox, GivesItsPublishedNumbers) {
  EXPECT_THAT(ops::Random(0, 0).block(0), ElementsAre(0x6627e8d5u, 0xe169c58du, 0xbc57ac4cu, 0x9b00dbd8u));
}

TEST(RandomUniform, RepeatsBySeedAndFillsItsRange) {
  const Attrs attrs = {{"shape", {10000}}, {"low", -1.0}, {"high", 3.0}, {"seed", 5.0}};
  const auto x = values<float>(run_op("RandomUniform", {}, attrs));
  EXPECT_EQ(values<float>(run_op("RandomUniform", {}, attrs)), x);
  EXPECT_GE(*std::ranges::min_element(x), -1.0f);
  EXPECT_LT(*std::ranges::max_element(x), 3.0f);
  EXPECT_NEAR(std::accumulate(x.begin(), x.end(), 0.0) / 10000, 1.0, 0.05);
  EXPECT_NE(values<float>(run_op("RandomUniform", {}, {{"shape", {10000}}, {"seed", 6.0}})), x);
}

TEST(RandomNormal, HasItsMeanAndDeviation) {
  const auto x = values<double>(run_op(
      "RandomNormal", {}, {{"shape", {10000}}, {"mean", 2.0}, {"scale", 3.0}, {"seed", 1.0}, {"dtype", DType::f64}}));
  const double mean = std::accumulate(x.begin(), x.end(), 0.0) / 10000;
  double squares = 0;
  for (const double number : x) squares += (number - mean) * (number - mean);
  EXPECT_NEAR(mean, 2, 0.1);
  EXPECT_NEAR(std::sqrt(squares / 10000), 3, 0.1);
}

TEST(Bernoulli, DrawsByProbability) {
  const Array p = Array::of<double>({10000}, std::vector<double>(10000, 0.3));
  const auto y = values<bool>(run_op("Bernoulli", {p}, {{"dtype", DType::boolean}, {"seed", 2.0}}));
  EXPECT_NEAR(static_cast<double>(std::ranges::count(y, true)), 3000, 150);
  EXPECT_THAT(values<float>(run_op("Bernoulli", {floats({0, 1})})), ElementsAre(0, 1));
}

TEST(Multinomial, DrawsByLogits) {
  const float never = -std::numeric_limits<float>::infinity();
  const auto y = values<std::int32_t>(
      run_op("Multinomial", {floats({1, 3}, {never, 0, std::log(3.0f)})}, {{"sample_size", 8000}, {"seed", 3.0}}));
  EXPECT_EQ(std::ranges::count(y, 0), 0);
  EXPECT_NEAR(static_cast<double>(std::ranges::count(y, 2)), 6000, 200);
}

TEST(RangeKernel, CountsExactly) {
  const auto range = [](auto start, auto limit, auto delta) {
    return run_op("Range", {Array::scalar(start), Array::scalar(limit), Array::scalar(delta)});
  };
  EXPECT_THAT(values<std::int64_t>(range(std::int64_t{10}, std::int64_t{4}, std::int64_t{-3})), ElementsAre(10, 7));
  EXPECT_EQ(range(1.0f, 1.0f, 0.5f).size(), 0);
  EXPECT_THAT(values<float>(range(1.0f, 2.2f, 0.5f)), ElementsAre(1, 1.5f, 2));
  constexpr auto kMost = std::numeric_limits<std::int64_t>::max();
  constexpr auto kLowest = std::numeric_limits<std::int64_t>::min();
  EXPECT_THAT(values<std::int64_t>(range(kLowest, kMost, kMost)), ElementsAre(kLowest, -1, kMost - 1));
  EXPECT_THAT(refusal([&] { range(kLowest, kMost, std::int64_t{1}); }), HasSubstr("too long"));
  EXPECT_REFUSED(Code::execution_failed, range(1, 2, 0));
  EXPECT_REFUSED(Code::execution_failed, range(0.0f, std::numeric_limits<float>::infinity(), 1.0f));
}

TEST(EyeLikeKernel, PutsOnesOnADiagonal) {
  const Array x = floats({2, 3}, {0, 0, 0, 0, 0, 0});
  EXPECT_THAT(values<bool>(run_op("EyeLike", {x}, {{"k", 1}, {"dtype", DType::boolean}})),
              ElementsAre(false, true, false, false, false, true));
  EXPECT_THAT(values<float>(run_op("EyeLike", {x}, {{"k", std::numeric_limits<std::int64_t>::min()}})), Each(0.0f));
}

TEST(ConstantOfShapeKernel, FillsAnyType) {
  const Tensor two = Tensor::of<std::int8_t>({1}, {2});
  EXPECT_THAT(values<std::int8_t>(run_op("ConstantOfShape", {ints({2})}, {{"value", two}})), ElementsAre(2, 2));
  EXPECT_EQ(run_op("ConstantOfShape", {ints({})}).dims(), Dims{});
  EXPECT_EQ(run_op("ConstantOfShape", {ints({0, 4})}).dims(), (Dims{0, 4}));
  EXPECT_REFUSED(Code::execution_failed, run_op("ConstantOfShape", {ints({-1})}));
  EXPECT_REFUSED(Code::bad_shape, run_op("ConstantOfShape", {ints({std::int64_t{1} << 62, 8})}));
}

TEST(ConstantKernel, TakesPlainNumbersAndStrings) {
  EXPECT_THAT(values<float>(run_op("Constant", {}, {{"value_floats", std::vector<float>{1, 2}}})), ElementsAre(1, 2));
  EXPECT_THAT(values<std::string>(run_op("Constant", {}, {{"value_string", "a"}})), ElementsAre("a"));
}

TEST(Windows, AreSymmetricWhereAskedTo) {
  const auto window = [](const char* op, std::int64_t size, int periodic) {
    return values<float>(run_op(op, {Array::scalar(size)}, {{"periodic", periodic}}));
  };
  EXPECT_THAT(window("HannWindow", 3, 0), ElementsAre(0, 1, FloatNear(0, 1e-6f)));
  EXPECT_THAT(window("HannWindow", 4, 1), ElementsAre(0, FloatNear(0.5f, 1e-6f), 1, FloatNear(0.5f, 1e-6f)));
  EXPECT_THAT(window("BlackmanWindow", 1, 0), ElementsAre(1));
  EXPECT_REFUSED(Code::execution_failed, window("HannWindow", 0, 1));
}

}  // namespace
}  // namespace ingot::test
