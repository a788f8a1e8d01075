#include "ingot/base/checked.h"

#include <array>
#include <cmath>

#include "ingot/base/error.h"
#include "tests/support/refusal.h"

namespace ingot {
namespace {

// All pairs of 8-bit numbers against 32-bit arithmetic.
template <class T> void compare_with_wide_arithmetic() {
  using Limits = std::numeric_limits<T>;
  for (int a = Limits::min(); a <= Limits::max(); ++a)
    for (int b = Limits::min(); b <= Limits::max(); ++b) {
      const auto expect = [](int wide) {
        return std::in_range<T>(wide) ? std::optional(static_cast<T>(wide)) : std::nullopt;
      };
      ASSERT_EQ(checked_add(static_cast<T>(a), static_cast<T>(b)), expect(a + b)) << a << " " << b;
      ASSERT_EQ(checked_sub(static_cast<T>(a), static_cast<T>(b)), expect(a - b)) << a << " " << b;
      ASSERT_EQ(checked_mul(static_cast<T>(a), static_cast<T>(b)), expect(a * b)) << a << " " << b;
    }
}

TEST(Checked, AgreesWithWideArithmetic) {
  compare_with_wide_arithmetic<std::int8_t>();
  compare_with_wide_arithmetic<std::uint8_t>();
}

TEST(Checked, NoticesOverflowOf64Bits) {
  EXPECT_EQ(checked_mul<std::int64_t>(std::int64_t{1} << 32, std::int64_t{1} << 31), std::nullopt);
  EXPECT_EQ(checked_add<std::uint64_t>(UINT64_MAX, 1), std::nullopt);
}

std::optional<std::uint64_t> count(std::initializer_list<std::int64_t> dims) {
  return element_count(std::span(dims.begin(), dims.size()));
}

TEST(ElementCount, IsTheProduct) {
  EXPECT_EQ(count({}), 1u);
  EXPECT_EQ(count({2, 3, 4}), 24u);
  EXPECT_EQ(count({INT64_MAX}), static_cast<std::uint64_t>(INT64_MAX));
}

TEST(ElementCount, IsZeroWhereverTheZeroStands) {
  EXPECT_EQ(count({INT64_MAX, INT64_MAX, 0}), 0u);
  EXPECT_EQ(count({0, INT64_MAX, INT64_MAX}), 0u);
}

TEST(ElementCount, RefusesNegativeAndOverflow) {
  EXPECT_EQ(count({2, -1}), std::nullopt);
  EXPECT_EQ(count({0, -1}), std::nullopt);
  EXPECT_EQ(count({-1, -1}), std::nullopt);
  EXPECT_EQ(count({INT64_MAX, 3}), std::nullopt);
  EXPECT_EQ(count({std::int64_t{1} << 32, std::int64_t{1} << 32}), std::nullopt);
}

TEST(Narrow, KeepsNumbersThatFit) {
  EXPECT_EQ(narrow<std::int32_t>(std::int64_t{-5}), -5);
  EXPECT_EQ(narrow<std::uint8_t>(255), 255);
  EXPECT_EQ(narrow<std::uint64_t>(std::int64_t{7}), 7u);
}

TEST(Narrow, RefusesNumbersThatDoNot) {
  EXPECT_REFUSED(Code::overflow, narrow<std::uint64_t>(-1));
  EXPECT_REFUSED(Code::overflow, narrow<std::int32_t>(std::int64_t{1} << 31));
  EXPECT_REFUSED(Code::overflow, narrow<std::int64_t>(UINT64_MAX));
  try {
    (void)narrow<std::uint8_t>(256);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::overflow);
    EXPECT_STREQ(error.what(), "the number 256 is out of range [IG0111]");
  }
}

TEST(SaturateCast, CutsTheFraction) {
  EXPECT_EQ(saturate_cast<std::int32_t>(1.9f), 1);
  EXPECT_EQ(saturate_cast<std::int32_t>(-1.9), -1);
  EXPECT_EQ(saturate_cast<std::uint8_t>(-0.5), 0);
}

TEST(SaturateCast, StopsAtTheEndsOfTheRange) {
  EXPECT_EQ(saturate_cast<std::int64_t>(9223372036854775808.0f), INT64_MAX);
  EXPECT_EQ(saturate_cast<std::int64_t>(-9223372036854775808.0f), INT64_MIN);
  EXPECT_EQ(saturate_cast<std::uint64_t>(18446744073709551616.0), UINT64_MAX);
  EXPECT_EQ(saturate_cast<std::uint64_t>(-1.0), 0u);
  EXPECT_EQ(saturate_cast<std::int8_t>(127.9), 127);
  EXPECT_EQ(saturate_cast<std::int8_t>(-129.0f), -128);
  EXPECT_EQ(saturate_cast<std::int32_t>(INFINITY), INT32_MAX);
  EXPECT_EQ(saturate_cast<std::int32_t>(-INFINITY), INT32_MIN);
  EXPECT_EQ(saturate_cast<std::int32_t>(NAN), 0);
}

}  // namespace
}  // namespace ingot
