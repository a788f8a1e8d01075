// Numbers of 16 bits to floats and back, against the element types themselves.
#include "ingot/engine/kernels/half.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "ingot/base/float_types.h"
#include "tests/engine/random.h"

namespace ingot::engine {
namespace {

template <class T> void expect_all_patterns_widen() {
  std::vector<std::uint16_t> patterns(65536);
  for (std::size_t i = 0; i < patterns.size(); ++i) patterns[i] = static_cast<std::uint16_t>(i);
  std::vector<float> floats(patterns.size());
  widen(dtype_of<T>, reinterpret_cast<const std::byte*>(patterns.data()), floats.data(), std::ssize(floats));
  for (std::size_t i = 0; i < patterns.size(); ++i) {
    const auto expected = static_cast<float>(T::from_bits(patterns[i]));
    if (std::isnan(expected))  // of which kind does not matter
      ASSERT_TRUE(std::isnan(floats[i])) << i;
    else
      ASSERT_EQ(std::bit_cast<std::uint32_t>(floats[i]), std::bit_cast<std::uint32_t>(expected)) << i;
  }
}

template <class T> void expect_narrow(const std::vector<float>& floats) {
  std::vector<std::uint16_t> patterns(floats.size());
  narrow(dtype_of<T>, floats.data(), reinterpret_cast<std::byte*>(patterns.data()), std::ssize(floats));
  for (std::size_t i = 0; i < patterns.size(); ++i) ASSERT_EQ(patterns[i], T(floats[i]).to_bits()) << floats[i];
}

TEST(Half, EveryPatternWidensExactly) {
  expect_all_patterns_widen<Float16>();
  expect_all_patterns_widen<BFloat16>();
}

TEST(Half, FloatsRoundToTheNearest) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  std::vector<float> floats = {0.0f,
                               -0.0f,
                               1e-8f,
                               -6e-8f,
                               65504,
                               65519.9f,
                               65520,
                               -1e9f,
                               kInfinity,
                               -kInfinity,
                               std::numeric_limits<float>::quiet_NaN(),
                               3.4e38f,
                               1e-45f};
  Random random(3);
  for (int i = 0; i < 50000; ++i)
    floats.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(random.below(std::int64_t{1} << 32))));
  // Halfway between neighbours, and next to it.
  for (int i = 0; i < 20000; ++i) {
    const auto middle = static_cast<std::uint32_t>(0x33000000 + random.below(0x14000000)) & ~0xFFFFu;
    for (const std::uint32_t rest : {0x1000u, 0x0FFFu, 0x1001u, 0x8000u, 0x7FFFu, 0x8001u})
      floats.push_back(std::bit_cast<float>(middle | rest));
  }
  expect_narrow<Float16>(floats);
  expect_narrow<BFloat16>(floats);
}

}  // namespace
}  // namespace ingot::engine
