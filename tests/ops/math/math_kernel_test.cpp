// Elementwise functions, casts and functions along an axis at run time.
#include <gmock/gmock.h>

#include <cmath>
#include <limits>

#include "ingot/base/float_types.h"
#include "tests/ops/values.h"
#include "tests/support/refusal.h"

namespace ingot::test {
namespace {

using testing::ElementsAre;
using testing::FloatEq;
using testing::HasSubstr;
using testing::IsNan;

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
constexpr auto kLeast = std::numeric_limits<std::int32_t>::min();

std::vector<float> mapped(std::string_view op, const std::vector<float>& x, const Attrs& attrs = {}) {
  return values<float>(run_op(op, {floats(x)}, attrs));
}

TEST(ElementwiseKernels, RoundHalvesToEven) {
  EXPECT_THAT(mapped("Round", {0.5f, 1.5f, -2.5f, 2.4f}), ElementsAre(0, 2, -2, 2));
}

TEST(ElementwiseKernels, KeepNaN) {
  for (const char* op : {"Abs", "Sign", "Relu", "LeakyRelu", "Elu", "Celu", "Selu", "HardSigmoid", "Sigmoid", "Gelu",
                         "Softplus", "Clip"})
    EXPECT_THAT(mapped(op, {kNaN}), ElementsAre(IsNan())) << op;
}

TEST(ElementwiseKernels, DoNotOverflowAtTheEnds) {
  EXPECT_THAT(mapped("Sigmoid", {-1000, 1000, -kInf, kInf}), ElementsAre(0, 1, 0, 1));
  EXPECT_THAT(mapped("Softplus", {-1000, 1000}), ElementsAre(0, 1000));
}

TEST(ElementwiseKernels, WrapTheLeastInteger) {
  EXPECT_THAT(values<std::int32_t>(run_op("Abs", {Array::scalar(kLeast)})), ElementsAre(kLeast));
  EXPECT_THAT(values<std::int32_t>(run_op("Neg", {Array::scalar(kLeast)})), ElementsAre(kLeast));
}

TEST(ElementwiseKernels, MultiplyShortIntegersWithoutOverflow) {
  const Array x = Array::of<std::uint16_t>({1}, {65535});
  EXPECT_THAT(values<std::uint16_t>(run_op("Mul", {x, x})), ElementsAre(1));
}

TEST(Activations, FollowTheirFormulas) {
  EXPECT_THAT(mapped("LeakyRelu", {-2, 3}, {{"alpha", 0.5}}), ElementsAre(-1, 3));
  EXPECT_THAT(mapped("ThresholdedRelu", {1, 2, 3}, {{"alpha", 2.0}}), ElementsAre(0, 0, 3));
  EXPECT_THAT(mapped("Elu", {-1, 2}, {{"alpha", 2.0}}), ElementsAre(FloatEq(2 * std::expm1(-1.0f)), 2));
  EXPECT_THAT(mapped("Celu", {-1, 2}, {{"alpha", 2.0}}), ElementsAre(FloatEq(2 * std::expm1(-0.5f)), 2));
  EXPECT_THAT(mapped("HardSigmoid", {-3, 0, 3}, {{"alpha", 0.5}, {"beta", 0.25}}), ElementsAre(0, 0.25f, 1));
  EXPECT_THAT(mapped("HardSwish", {-4, 0, 4}), ElementsAre(0, 0, 4));
  EXPECT_THAT(mapped("Softsign", {-1, 3}), ElementsAre(-0.5f, 0.75f));
  EXPECT_THAT(mapped("Shrink", {-2, 0.5f, 2}, {{"lambd", 1.0}, {"bias", 0.5}}), ElementsAre(-1.5f, 0, 1.5f));
  EXPECT_THAT(mapped("Swish", {2}, {{"alpha", 0.0}}), ElementsAre(1));
}

TEST(Shrink, CutsItsNumbersForIntegers) {
  const Array x = Array::of<std::int32_t>({4}, {-3, -1, 1, 3});
  EXPECT_THAT(values<std::int32_t>(run_op("Shrink", {x}, {{"lambd", 1.5}, {"bias", 1.5}})), ElementsAre(-2, 0, 0, 2));
  const Array u = Array::of<std::uint8_t>({2}, {1, 200});
  EXPECT_THAT(values<std::uint8_t>(run_op("Shrink", {u}, {{"lambd", 1.0}, {"bias", 2.0}})), ElementsAre(0, 198));
}

TEST(Mod, HasTheSignOfTheDivisorOrDividend) {
  const Array x = ints({-4, 7, 5}), y = ints({3, -3, -5});
  EXPECT_THAT(values<std::int64_t>(run_op("Mod", {x, y})), ElementsAre(2, -2, 0));
  EXPECT_THAT(values<std::int64_t>(run_op("Mod", {x, y}, {{"fmod", 1}})), ElementsAre(-1, 1, 0));
  const Array least = ints({std::numeric_limits<std::int64_t>::min()});
  EXPECT_THAT(values<std::int64_t>(run_op("Mod", {least, ints({-1})})), ElementsAre(0));
  EXPECT_THAT(refusal([&] { run_op("Mod", {x, ints({0})}); }), HasSubstr("division by zero"));
}

TEST(Pow, IsExactForIntegers) {
  EXPECT_THAT(values<std::int64_t>(run_op("Pow", {ints({3, -2, 2, -1}), ints({39, 3, 0, -3})})),
              ElementsAre(4052555153018976267, -8, 1, -1));
  EXPECT_THAT(values<std::int32_t>(run_op("Pow", {Array::scalar(9), Array::scalar(0.5f)})), ElementsAre(3));
  EXPECT_THAT(values<float>(run_op("Pow", {floats({2}), Array::scalar(std::uint64_t{10})})), ElementsAre(1024));
  EXPECT_THAT(refusal([] { run_op("Pow", {ints({0}), ints({-1})}); }), HasSubstr("negative power"));
}

TEST(Clip, TakesTheUpperBoundWhereTheyCross) {
  const Array x = floats({-1, 0, 5});
  EXPECT_THAT(values<float>(run_op("Clip", {x, Array::scalar(3.0f), Array::scalar(1.0f)})), ElementsAre(1, 1, 1));
  EXPECT_THAT(values<float>(run_op("Clip", {x, Datum(), Array::scalar(1.0f)})), ElementsAre(-1, 0, 1));
  EXPECT_THAT(refusal([&] { run_op("Clip", {x, floats({1, 2})}); }), HasSubstr("not one number"));
}

TEST(Max, LetsNaNWin) {
  const Array x = floats({1, kNaN, 3}), y = floats({2, 0, kNaN});
  EXPECT_THAT(values<float>(run_op("Max", {x, y})), ElementsAre(2, IsNan(), IsNan()));
  EXPECT_THAT(values<float>(run_op("Min", {y, x})), ElementsAre(1, IsNan(), IsNan()));
}

TEST(Mean, RoundsOnce) {
  const Array big = floats({1e8f}), one = floats({1}), minus = floats({-1e8f});
  EXPECT_THAT(values<float>(run_op("Mean", {big, one, minus})), ElementsAre(FloatEq(1.0f / 3)));
  EXPECT_THAT(values<float>(run_op("Sum", {big, one, minus})), ElementsAre(1));
}

TEST(PRelu, RefusesSlopesThatDoNotFit) {
  EXPECT_THAT(values<float>(run_op("PRelu", {floats({2, 2}, {-1, 1, -2, 2}), floats({2, 1}, {3, 4})})),
              ElementsAre(-3, 1, -8, 2));
  EXPECT_REFUSED(Code::execution_failed, run_op("PRelu", {floats({-1}), floats({2}, {3, 4})}));
}

TEST(Cast, WritesPlainNumbers) {
  const Array x = floats({314.15926f, 1e-5f, -kInf, kNaN, 3});
  EXPECT_THAT(values<std::string>(run_op("Cast", {x}, {{"to", DType::string}})),
              ElementsAre("314.15927", "0.00001", "-INF", "NaN", "3"));
}

TEST(Cast, ReadsNumbers) {
  const Array x = Array::of<std::string>({6}, {"3.5", "1e-5", "+INF", "-inf", "NaN", " 7 "});
  EXPECT_THAT(values<float>(run_op("Cast", {x}, {{"to", DType::f32}})),
              ElementsAre(3.5f, 1e-5f, kInf, -kInf, IsNan(), 7));
  const Array whole = Array::of<std::string>({3}, {"9223372036854775807", "-12", "100.5"});
  EXPECT_THAT(values<std::int64_t>(run_op("Cast", {whole}, {{"to", DType::i64}})),
              ElementsAre(std::numeric_limits<std::int64_t>::max(), -12, 100));
  const Array huge = Array::of<std::string>({2}, {"1e999", "-1e-999"});
  EXPECT_THAT(values<double>(run_op("Cast", {huge}, {{"to", DType::f64}})), ElementsAre(HUGE_VAL, 0));
  const Array word = Array::of<std::string>({1}, {"Hello"});
  EXPECT_THAT(refusal([&] { run_op("Cast", {word}, {{"to", DType::f32}}); }), HasSubstr("'Hello' is no number"));
}

TEST(Cast, TakesTheNearestIntegerThatExists) {
  const Array x = floats({-1.9f, 300, -300, kNaN});
  EXPECT_THAT(values<std::int8_t>(run_op("Cast", {x}, {{"to", DType::i8}})), ElementsAre(-1, 127, -128, 0));
  EXPECT_THAT(values<bool>(run_op("Cast", {x}, {{"to", DType::boolean}})), ElementsAre(true, true, true, true));
}

TEST(BitCast, KeepsBits) {
  const Array x = Array::of<std::int8_t>({2}, {-1, 1});
  EXPECT_THAT(values<std::uint8_t>(run_op("BitCast", {x}, {{"to", DType::u8}})), ElementsAre(255, 1));
  Array small(DType::i4, {1});
  small.mutable_data<Int4>()[0] = Int4(-1);
  EXPECT_EQ(run_op("BitCast", {small}, {{"to", DType::u4}}).data<UInt4>()[0], UInt4(15));
}

TEST(Softmax, SumsToOneAlongTheAxis) {
  const Array y = run_op("Softmax", {floats({2, 2}, {0, 1000, 0, 1000})}, {{"axis", 0}});
  EXPECT_THAT(values<float>(y), ElementsAre(0.5f, 0.5f, 0.5f, 0.5f));
  EXPECT_EQ(run_op("Softmax", {floats({0, 3}, {})}).dims(), (Dims{0, 3}));
  EXPECT_EQ(run_op("Softmax", {floats({3, 0}, {})}).dims(), (Dims{3, 0}));
}

TEST(Softmax, NeedsNoMemoryForNothing) {
  const Dims huge = {0, std::int64_t{1} << 60};
  EXPECT_EQ(run_op("Softmax", {Array(DType::f32, huge)}).dims(), huge);
}

TEST(LogSoftmax, DoesNotOverflow) {
  EXPECT_THAT(mapped("LogSoftmax", {1000, 1000}), ElementsAre(FloatEq(-std::log(2.0f)), FloatEq(-std::log(2.0f))));
}

TEST(Hardmax, MarksTheFirstOfTheLargest) { EXPECT_THAT(mapped("Hardmax", {1, 3, 3}), ElementsAre(0, 1, 0)); }

TEST(TopK, OrdersAndBreaksTiesByPlace) {
  const Array x = floats({2, 4}, {1, 3, 3, 2, 5, 5, 4, kNaN});
  auto y = run_ops("TopK", {x, ints({2})}, {}, 2);
  EXPECT_THAT(values<float>(*y[0].array()), ElementsAre(3, 3, IsNan(), 5));
  EXPECT_THAT(values<std::int64_t>(*y[1].array()), ElementsAre(1, 2, 3, 0));
  y = run_ops("TopK", {x, ints({1})}, {{"axis", 0}, {"largest", 0}}, 2);
  EXPECT_THAT(values<std::int64_t>(*y[1].array()), ElementsAre(0, 0, 0, 0));
  EXPECT_REFUSED(Code::execution_failed, run_ops("TopK", {x, ints({5})}, {}, 2));
  EXPECT_REFUSED(Code::execution_failed, run_ops("TopK", {x, ints({-1})}, {}, 2));
}

TEST(CumSum, GoesBothWays) {
  const Array x = floats({1, 2, 3}), axis = Array::scalar(std::int64_t{0});
  EXPECT_THAT(values<float>(run_op("CumSum", {x, axis})), ElementsAre(1, 3, 6));
  EXPECT_THAT(values<float>(run_op("CumSum", {x, axis}, {{"reverse", 1}})), ElementsAre(6, 5, 3));
  EXPECT_THAT(values<float>(run_op("CumSum", {x, axis}, {{"exclusive", 1}})), ElementsAre(0, 1, 3));
  EXPECT_THAT(values<float>(run_op("CumProd", {x, axis}, {{"exclusive", 1}, {"reverse", 1}})), ElementsAre(6, 3, 1));
  EXPECT_REFUSED(Code::axis_out_of_range, run_op("CumSum", {x, Array::scalar(std::int64_t{1})}));
}

TEST(Dropout, DropsItsShareAndKeepsTheMean) {
  const Array x = Array::of<float>({10000}, std::vector<float>(10000, 1));
  const auto run = [&](int seed) {
    return run_ops("Dropout", {x, Array::scalar(0.25f), Array::scalar(true)}, {{"seed", seed}}, 2);
  };
  const auto y = run(7);
  const auto mask = y[1].array()->data<bool>();
  EXPECT_NEAR(static_cast<double>(std::ranges::count(mask, true)), 7500, 150);
  for (std::size_t i = 0; i < mask.size(); ++i)
    ASSERT_FLOAT_EQ(y[0].array()->data<float>()[i], mask[i] ? 4.0f / 3 : 0.0f);
  EXPECT_EQ(values<float>(*run(7)[0].array()), values<float>(*y[0].array()));
  EXPECT_NE(values<float>(*run(8)[0].array()), values<float>(*y[0].array()));
}

}  // namespace
}  // namespace ingot::test
