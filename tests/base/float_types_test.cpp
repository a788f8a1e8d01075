// Conversions of the small element types against an oracle that knows only each format's definition: it computes the
// value of every pattern by ldexp, and rounds by searching that table.
#include "ingot/base/float_types.h"

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace ingot {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

/// The definition of a format, as its specification words it.
struct Definition {
  int exponent_bits, mantissa_bits, bias;
  bool has_infinity, only_nan_is_negative_zero;
  unsigned nan_patterns;  // topmost positive patterns that are NaN
  unsigned sign() const { return 1u << (exponent_bits + mantissa_bits); }
  unsigned largest() const { return sign() - 1 - nan_patterns - (has_infinity ? 1 : 0); }
  /// The value of a positive pattern, also of those beyond the largest as if they were numbers.
  double value(unsigned pattern) const {
    const unsigned mantissa = pattern & ((1u << mantissa_bits) - 1);
    const int exponent = static_cast<int>(pattern >> mantissa_bits);
    if (exponent == 0) return std::ldexp(mantissa, 1 - bias - mantissa_bits);
    return std::ldexp((1u << mantissa_bits) + mantissa, exponent - bias - mantissa_bits);
  }
};

template <class T> constexpr Definition kDefinition = {};
template <> constexpr Definition kDefinition<Float16> = {5, 10, 15, true, false, 1023};
template <> constexpr Definition kDefinition<BFloat16> = {8, 7, 127, true, false, 127};
template <> constexpr Definition kDefinition<Float8E4M3FN> = {4, 3, 7, false, false, 1};
template <> constexpr Definition kDefinition<Float8E4M3FNUZ> = {4, 3, 8, false, true, 0};
template <> constexpr Definition kDefinition<Float8E5M2> = {5, 2, 15, true, false, 3};
template <> constexpr Definition kDefinition<Float8E5M2FNUZ> = {5, 2, 16, false, true, 0};
template <> constexpr Definition kDefinition<Float4E2M1> = {2, 1, 1, false, false, 0};

template <class T> constexpr bool kIsFloat8 = sizeof(T) == 1 && !std::is_same_v<T, Float4E2M1>;

template <class T> class Oracle {
 public:
  Oracle() {
    for (unsigned p = 0; p <= d_.largest() + 1; ++p) values_.push_back(d_.value(p));
  }
  const std::vector<double>& values() const { return values_; }  // one beyond the largest at the end

  unsigned encode(double x, bool saturate) const {
    const unsigned sign = std::signbit(x) ? d_.sign() : 0;
    const double magnitude = std::fabs(x);
    const auto above = std::lower_bound(values_.begin(), values_.end(), magnitude);
    auto pattern = static_cast<unsigned>(above - values_.begin());
    if (pattern > d_.largest() + 1) {
      pattern = d_.largest() + 1;
    } else if (*above != magnitude) {
      const double middle = (values_[pattern - 1] + values_[pattern]) / 2;
      if (magnitude < middle || (magnitude == middle && pattern % 2 == 1)) --pattern;
    }
    if (pattern == d_.largest() + 1) {
      if (saturate) return sign | d_.largest();
      if (d_.has_infinity) return sign | pattern;
      return d_.only_nan_is_negative_zero ? d_.sign() : sign | (d_.sign() - 1);
    }
    return pattern == 0 && d_.only_nan_is_negative_zero ? 0 : sign | pattern;
  }

 private:
  Definition d_ = kDefinition<T>;
  std::vector<double> values_;
};

template <class T, class F> unsigned convert(F x, bool saturate) {
  if constexpr (kIsFloat8<T>)
    return T(x, saturate).to_bits();
  else
    return T(x).to_bits();
}

template <class T> class SmallFloatTest : public ::testing::Test {};
using AllSmallFloats =
    ::testing::Types<Float16, BFloat16, Float8E4M3FN, Float8E4M3FNUZ, Float8E5M2, Float8E5M2FNUZ, Float4E2M1>;
TYPED_TEST_SUITE(SmallFloatTest, AllSmallFloats);

template <class T> std::vector<bool> saturation_modes() {
  if constexpr (kIsFloat8<T>) return {false, true};
  return {std::is_same_v<T, Float4E2M1>};
}

TYPED_TEST(SmallFloatTest, EveryPatternHasTheValueOfItsDefinition) {
  constexpr Definition d = kDefinition<TypeParam>;
  for (unsigned pattern = 0; pattern < 2 * d.sign(); ++pattern) {
    const auto value = static_cast<float>(TypeParam::from_bits(pattern));
    const unsigned magnitude = pattern & (d.sign() - 1);
    const bool negative = pattern >= d.sign();
    if (d.only_nan_is_negative_zero && pattern == d.sign()) {
      ASSERT_TRUE(std::isnan(value));
    } else if (magnitude <= d.largest()) {
      ASSERT_EQ(value, static_cast<float>(negative ? -d.value(magnitude) : d.value(magnitude))) << pattern;
      ASSERT_EQ(std::signbit(value), negative) << pattern;
      ASSERT_EQ(static_cast<double>(TypeParam::from_bits(pattern)), static_cast<double>(value));
    } else if (d.has_infinity && magnitude == d.largest() + 1) {
      ASSERT_EQ(value, negative ? -INFINITY : INFINITY) << pattern;
    } else {
      ASSERT_TRUE(std::isnan(value)) << pattern;
    }
  }
}

TYPED_TEST(SmallFloatTest, EveryNumberSurvivesTheWayThroughFloat) {
  constexpr Definition d = kDefinition<TypeParam>;
  for (unsigned pattern = 0; pattern < 2 * d.sign(); ++pattern) {
    const TypeParam value = TypeParam::from_bits(pattern);
    if (std::isnan(static_cast<float>(value))) continue;
    const bool infinite = std::isinf(static_cast<float>(value));
    ASSERT_EQ(convert<TypeParam>(static_cast<float>(value), !infinite && kIsFloat8<TypeParam>), pattern);
    ASSERT_EQ(convert<TypeParam>(static_cast<double>(value), false), pattern);
  }
}

template <class T, class F> void expect_like_oracle(const Oracle<T>& oracle, F x) {
  for (const bool saturate : saturation_modes<T>())
    for (const F signed_x : {x, -x})
      ASSERT_EQ((convert<T, F>(signed_x, saturate)), oracle.encode(signed_x, saturate))
          << std::hexfloat << signed_x << (saturate ? " saturated" : "");
}

// Each number, each midpoint between two numbers, and the next float and double on both sides of these.
TYPED_TEST(SmallFloatTest, RoundsToNearestEvenAroundEveryBoundary) {
  const Oracle<TypeParam> oracle;
  const auto& values = oracle.values();
  for (std::size_t i = 0; i + 1 < values.size(); ++i) {
    for (const double x : {values[i], (values[i] + values[i + 1]) / 2, values[i + 1]}) {
      expect_like_oracle(oracle, x);
      expect_like_oracle(oracle, std::nextafter(x, kInf));
      expect_like_oracle(oracle, std::nextafter(x, 0.0));
      if (x > FLT_MAX) continue;
      const auto f = static_cast<float>(x);
      expect_like_oracle(oracle, f);
      expect_like_oracle(oracle, std::nextafter(f, 0.0f));
      if (f < FLT_MAX) expect_like_oracle(oracle, std::nextafter(f, INFINITY));
    }
    if (this->HasFatalFailure()) return;
  }
}

TYPED_TEST(SmallFloatTest, RoundsRandomPatternsLikeTheOracle) {
  const Oracle<TypeParam> oracle;
  std::mt19937_64 random(7);
  for (int i = 0; i < 200000; ++i) {
    const std::uint64_t bits = random();
    const auto f = std::bit_cast<float>(static_cast<std::uint32_t>(bits));
    const auto d = std::bit_cast<double>(bits);
    if (!std::isnan(f)) expect_like_oracle(oracle, f);
    if (!std::isnan(d)) expect_like_oracle(oracle, d);
    if (this->HasFatalFailure()) return;
  }
}

TYPED_TEST(SmallFloatTest, ExtremesRoundLikeTheOracle) {
  const Oracle<TypeParam> oracle;
  for (const double x : {0.0, kInf, std::numeric_limits<double>::max(), std::numeric_limits<double>::denorm_min(),
                         std::numeric_limits<double>::min()})
    expect_like_oracle(oracle, x);
  for (const float x : {0.0f, INFINITY, FLT_MAX, FLT_MIN, std::numeric_limits<float>::denorm_min()})
    expect_like_oracle(oracle, x);
}

TYPED_TEST(SmallFloatTest, EveryFloat16ConvertsLikeTheOracle) {
  const Oracle<TypeParam> oracle;
  for (unsigned pattern = 0; pattern < 0x7C01; ++pattern) {
    expect_like_oracle(oracle, static_cast<float>(Float16::from_bits(pattern)));
    if (this->HasFatalFailure()) return;
  }
}

TYPED_TEST(SmallFloatTest, ComparesAsNumbers) {
  using T = TypeParam;
  EXPECT_TRUE(T(1.0f) < T(2.0f));
  EXPECT_TRUE(T(-0.0f) == T(0.0f));
  EXPECT_TRUE(T(1.5f) == T(1.5));
  EXPECT_TRUE(T::lowest() < T::max());
  EXPECT_EQ(static_cast<double>(T::max()), kDefinition<T>.value(kDefinition<T>.largest()));
}

TEST(SmallFloat, NanBecomesNanAndNeverEqualsItself) {
  const auto check = []<class T>(T value) {
    EXPECT_TRUE(std::isnan(static_cast<float>(value)));
    EXPECT_FALSE(value == value);
  };
  for (const float nan :
       {std::nanf(""), -std::nanf(""), std::bit_cast<float>(0x7F800001u), std::bit_cast<float>(0xFFFFFFFFu)}) {
    check(Float16(nan));
    check(BFloat16(nan));
    check(Float8E4M3FN(nan));
    check(Float8E4M3FN(nan, false));
    check(Float8E4M3FNUZ(nan));
    check(Float8E5M2(nan));
    check(Float8E5M2(nan, false));
    check(Float8E5M2FNUZ(nan));
    check(Float8E8M0(nan));
    EXPECT_EQ(Float4E2M1(nan).bits, 0x8);
  }
  check(Float16(kNan));
  EXPECT_EQ(Float16(std::nanf("")).bits, 0x7E00);
  EXPECT_EQ(BFloat16(std::nanf("")).bits, 0x7FC0);
  EXPECT_EQ(Float8E5M2(std::nanf("")).bits, 0x7E);
  EXPECT_EQ(Float8E4M3FN(-std::nanf("")).bits, 0xFF);
}

TEST(SmallFloat, NanKeepsItsPayloadAsProcessorsDo) {
  EXPECT_EQ(Float16(std::bit_cast<float>(0xFFC02000u)).bits, 0xFE01);
  EXPECT_EQ(BFloat16(std::bit_cast<float>(0x7F810000u)).bits, 0x7FC1);
  EXPECT_EQ(std::bit_cast<std::uint32_t>(static_cast<float>(Float16::from_bits(0x7C01))), 0x7FC02000u);
}

// The vectors of ONNX's own Cast tests.
const float kCastInput[] = {0.4789254665374756f,
                            0.48033666610717773f,
                            0.4996848702430725f,
                            0.8191054463386536f,
                            0.4703124761581421f,
                            0.7229037880897522f,
                            1000000.0f,
                            1e-7f,
                            std::nanf(""),
                            INFINITY,
                            INFINITY,
                            -INFINITY,
                            -1e-7f,
                            1e-7f,
                            -1000000.0f};

template <class T> std::vector<int> cast_all(bool saturate) {
  std::vector<int> out;
  for (const float x : kCastInput) out.push_back(T(x, saturate).bits);
  return out;
}

TEST(SmallFloat, SaturatingCastsMatchOnnx) {
  using V = std::vector<int>;
  EXPECT_EQ(cast_all<Float8E4M3FN>(true),
            (V{0x2f, 0x2f, 0x30, 0x35, 0x2f, 0x34, 0x7e, 0, 0x7f, 0x7e, 0x7e, 0xfe, 0x80, 0, 0xfe}));
  EXPECT_EQ(cast_all<Float8E4M3FNUZ>(true),
            (V{0x37, 0x37, 0x38, 0x3d, 0x37, 0x3c, 0x7f, 0, 0x80, 0x7f, 0x7f, 0xff, 0, 0, 0xff}));
  EXPECT_EQ(cast_all<Float8E5M2>(true),
            (V{0x38, 0x38, 0x38, 0x3b, 0x38, 0x3a, 0x7b, 0, 0x7e, 0x7b, 0x7b, 0xfb, 0x80, 0, 0xfb}));
  EXPECT_EQ(cast_all<Float8E5M2FNUZ>(true),
            (V{0x3c, 0x3c, 0x3c, 0x3f, 0x3c, 0x3e, 0x7f, 0, 0x80, 0x7f, 0x7f, 0xff, 0, 0, 0xff}));
}

TEST(SmallFloat, NonSaturatingCastsMatchOnnx) {
  using V = std::vector<int>;
  EXPECT_EQ(cast_all<Float8E4M3FN>(false),
            (V{0x2f, 0x2f, 0x30, 0x35, 0x2f, 0x34, 0x7f, 0, 0x7f, 0x7f, 0x7f, 0xff, 0x80, 0, 0xff}));
  EXPECT_EQ(cast_all<Float8E4M3FNUZ>(false),
            (V{0x37, 0x37, 0x38, 0x3d, 0x37, 0x3c, 0x80, 0, 0x80, 0x80, 0x80, 0x80, 0, 0, 0x80}));
  EXPECT_EQ(cast_all<Float8E5M2>(false),
            (V{0x38, 0x38, 0x38, 0x3b, 0x38, 0x3a, 0x7c, 0, 0x7e, 0x7c, 0x7c, 0xfc, 0x80, 0, 0xfc}));
  EXPECT_EQ(cast_all<Float8E5M2FNUZ>(false),
            (V{0x3c, 0x3c, 0x3c, 0x3f, 0x3c, 0x3e, 0x80, 0, 0x80, 0x80, 0x80, 0x80, 0, 0, 0x80}));
}

TEST(SmallFloat, Float4CastsMatchOnnx) {
  const float input[] = {0.48f, 0.25f,         1.05f,    -3.5f,     -8.0f, 9.0f,  1e6f,
                         1e-7f, std::nanf(""), INFINITY, -INFINITY, -4.0f, 0.01f, -0.0f};
  const int expected[] = {1, 0, 2, 0xe, 0xf, 7, 7, 0, 8, 7, 0xf, 0xe, 0, 8};
  for (std::size_t i = 0; i < std::size(input); ++i) EXPECT_EQ(Float4E2M1(input[i]).bits, expected[i]) << input[i];
}

// An integer must be rounded once: through a rounded double it would land on the tie and go down.
TEST(SmallFloat, IntegersAreRoundedOnce) {
  const std::int64_t tie = (std::int64_t{1} << 60) + (std::int64_t{1} << 52);
  EXPECT_EQ(BFloat16(tie).bits, 0x5D80);
  EXPECT_EQ(BFloat16(tie + 1).bits, 0x5D81);
  EXPECT_EQ(BFloat16(-(tie + 1)).bits, 0xDD81);
  EXPECT_EQ(BFloat16(static_cast<std::uint64_t>(tie) + 1).bits, 0x5D81);
  EXPECT_EQ(static_cast<float>(BFloat16(INT64_MIN)), -9223372036854775808.0f);
  EXPECT_EQ(static_cast<float>(BFloat16(UINT64_MAX)), 18446744073709551616.0f);
  EXPECT_EQ(Float16(65504).bits, 0x7BFF);
  EXPECT_EQ(Float16(65520).bits, 0x7C00);
  EXPECT_EQ(Float8E4M3FN(1000, true).bits, 0x7E);
  EXPECT_EQ(Float8E4M3FN(1000, false).bits, 0x7F);
}

TEST(Float8E8M0, EveryPatternIsAPowerOfTwo) {
  for (unsigned pattern = 0; pattern < 255; ++pattern)
    ASSERT_EQ(static_cast<double>(Float8E8M0::from_bits(pattern)), std::ldexp(1.0, static_cast<int>(pattern) - 127));
  EXPECT_TRUE(std::isnan(static_cast<float>(Float8E8M0::from_bits(255))));
}

TEST(Float8E8M0, RoundsBetweenAllPowersAsAsked) {
  using enum E8M0Rounding;
  for (int e = -127; e < 127; ++e) {
    const unsigned low = static_cast<unsigned>(e + 127);
    const double power = std::ldexp(1.0, e);
    const auto round = [](double x, E8M0Rounding mode) {
      return static_cast<unsigned>(Float8E8M0(x, true, mode).bits);
    };
    for (const E8M0Rounding mode : {up, down, nearest}) {
      ASSERT_EQ(round(power, mode), low);
      ASSERT_EQ(round(-power, mode), low);
      ASSERT_EQ(Float8E8M0(static_cast<float>(power), true, mode).bits, low);
      for (const double x : {std::nextafter(power, kInf), 1.25 * power, std::nextafter(1.5 * power, 0.0)}) {
        ASSERT_EQ(round(x, mode), mode == up ? low + 1 : low) << std::hexfloat << x;
        ASSERT_EQ(round(-x, mode), mode == up ? low + 1 : low) << std::hexfloat << x;
      }
      for (const double x : {1.5 * power, 1.75 * power, std::nextafter(2 * power, 0.0)})
        ASSERT_EQ(round(x, mode), mode == down ? low : low + 1) << std::hexfloat << x;
    }
  }
}

TEST(Float8E8M0, EndsOfTheRange) {
  using enum E8M0Rounding;
  for (const E8M0Rounding mode : {up, down, nearest}) {
    EXPECT_EQ(Float8E8M0(0.0f, true, mode).bits, 0);
    EXPECT_EQ(Float8E8M0(-0.0f, true, mode).bits, 0);
    EXPECT_EQ(Float8E8M0(1e-45f, true, mode).bits, 0);
    EXPECT_EQ(Float8E8M0(INFINITY, true, mode).bits, 0xFF);
  }
  EXPECT_EQ(Float8E8M0(FLT_MAX, true, up).bits, 0xFE);
  EXPECT_EQ(Float8E8M0(FLT_MAX, false, up).bits, 0xFF);
  EXPECT_EQ(Float8E8M0(FLT_MAX, false, down).bits, 0xFE);
  EXPECT_EQ(Float8E8M0(1e300, true).bits, 0xFE);
  EXPECT_EQ(Float8E8M0(1.1f).bits, 0x80) << "up is the default";
  EXPECT_EQ(Float8E8M0(3).bits, 0x81);
}

template <class T> void expect_wrapping(int low, int high) {
  const int span = high - low + 1;
  for (int number = -300; number <= 300; ++number) {
    const int expected = low + (((number - low) % span) + span) % span;
    ASSERT_EQ(static_cast<int>(T(number)), expected) << number;
    ASSERT_EQ(static_cast<int>(T(static_cast<float>(number))), expected) << number;
    ASSERT_EQ(static_cast<int>(T::from_bits(T(number).to_bits())), expected);
    ASSERT_EQ(static_cast<double>(T(number)), expected);
  }
  EXPECT_EQ(static_cast<int>(T::max()), high);
  EXPECT_EQ(static_cast<int>(T::lowest()), low);
  EXPECT_TRUE(T::lowest() < T::max());
}

TEST(SmallInt, WrapsWhatDoesNotFit) {
  expect_wrapping<Int4>(-8, 7);
  expect_wrapping<UInt4>(0, 15);
  expect_wrapping<Int2>(-2, 1);
  expect_wrapping<UInt2>(0, 3);
}

TEST(SmallInt, FloatsLoseTheirFractionTowardsZero) {
  EXPECT_EQ(static_cast<int>(Int4(2.9f)), 2);
  EXPECT_EQ(static_cast<int>(Int4(-2.9)), -2);
  EXPECT_EQ(static_cast<int>(Int4(std::nanf(""))), 0);
}

}  // namespace
}  // namespace ingot
