// Products of 8-bit integers against sums in int64, for sizes around those of tiles, panels and blocks.
#include "ingot/engine/kernels/integer_gemm.h"

#include <gtest/gtest.h>

#include <random>

#include "ingot/base/threads.h"

namespace ingot::engine {
namespace {

std::vector<std::uint8_t> random_bytes(std::int64_t count, unsigned seed) {
  std::mt19937 generator(seed);
  // The extremes often: they are what a product that saturates gets wrong.
  std::uniform_int_distribution<int> byte(0, 255), choice(0, 3);
  constexpr std::uint8_t kExtremes[] = {0, 127, 128, 255};
  std::vector<std::uint8_t> bytes(static_cast<std::size_t>(count));
  for (std::uint8_t& b : bytes)
    b = choice(generator) == 0 ? static_cast<std::uint8_t>(byte(generator)) : kExtremes[choice(generator)];
  return bytes;
}

std::int64_t value(const std::vector<std::uint8_t>& bytes, std::int64_t i, DType type) {
  const std::uint8_t byte = bytes[static_cast<std::size_t>(i)];
  return type == DType::i8 ? static_cast<std::int8_t>(byte) : byte;
}

struct Sizes {
  std::int64_t rows, depth, columns;
};

class MultiplyIntegers : public testing::TestWithParam<Sizes> {};

TEST_P(MultiplyIntegers, IsExactForEverySignAndAnyNumberOfThreads) {
  const auto [rows, depth, columns] = GetParam();
  const auto a = random_bytes(rows * depth, 1), b = random_bytes(depth * columns, 2);
  for (const DType left : {DType::i8, DType::u8})
    for (const DType right : {DType::i8, DType::u8})
      for (const int lists : {0, 1, 2}) {  // of zero points: none, one, many
        std::vector<std::int32_t> a_zeros, b_zeros;
        for (std::int64_t i = 0; lists == 2 && i < rows; ++i) a_zeros.push_back(static_cast<std::int32_t>(i * 7 % 128));
        for (std::int64_t i = 0; lists == 2 && i < columns; ++i)
          b_zeros.push_back(static_cast<std::int32_t>(i * 5 % 128) - (right == DType::i8 ? 128 : 0));
        if (lists == 1) {
          a_zeros = {left == DType::i8 ? -128 : 255};
          b_zeros = {right == DType::i8 ? 127 : 3};
        }
        std::vector<std::int32_t> expected;
        for (std::int64_t i = 0; i < rows; ++i)
          for (std::int64_t j = 0; j < columns; ++j) {
            const auto zero = [](const std::vector<std::int32_t>& zeros, std::int64_t at) {
              return zeros.empty() ? 0 : zeros[zeros.size() == 1 ? 0 : static_cast<std::size_t>(at)];
            };
            std::int64_t sum = 0;
            for (std::int64_t k = 0; k < depth; ++k)
              sum += (value(a, i * depth + k, left) - zero(a_zeros, i)) *
                     (value(b, k * columns + j, right) - zero(b_zeros, j));
            expected.push_back(static_cast<std::int32_t>(sum));
          }
        for (const int threads : {1, 3}) {
          ThreadPool pool(threads);
          const CentredRows centred(a.data(), left, rows, depth, a_zeros, pool, Budget::unlimited());
          const ByteMatrix matrix = ByteMatrix::dense(b.data(), right, depth, columns);
          std::vector<std::int32_t> packed(expected.size(), -7), loose(expected.size(), -7);
          multiply(centred, 0, rows, PackedBytes(matrix, pool, Budget::unlimited()), b_zeros, packed.data(), columns,
                   pool, Budget::unlimited());
          multiply(centred, 0, rows, matrix, b_zeros, loose.data(), columns, pool, Budget::unlimited());
          ASSERT_EQ(packed, expected) << name_of(left) << name_of(right) << lists;
          ASSERT_EQ(loose, expected) << name_of(left) << name_of(right) << lists;
        }
      }
}

INSTANTIATE_TEST_SUITE_P(Sizes, MultiplyIntegers,
                         testing::Values(Sizes{1, 1, 1}, Sizes{1, 5, 33}, Sizes{5, 16, 16}, Sizes{6, 384, 17},
                                         Sizes{7, 385, 31}, Sizes{1, 770, 130}, Sizes{2, 767, 100}, Sizes{3, 769, 64},
                                         Sizes{146, 26, 50}, Sizes{73, 64, 129}, Sizes{3, 1601, 7}, Sizes{2, 0, 3}));

TEST(MultiplyIntegers, WrapsAround) {
  // 255 * 255 * 40,000 is more than int32 holds.
  constexpr std::int64_t kDepth = 40'000;
  const std::vector<std::uint8_t> ones(kDepth, 255);
  ThreadPool pool(1);
  const CentredRows a(ones.data(), DType::u8, 1, kDepth, {}, pool, Budget::unlimited());
  std::int32_t c = 0;
  multiply(a, 0, 1, ByteMatrix::dense(ones.data(), DType::u8, kDepth, 1), {}, &c, 1, pool, Budget::unlimited());
  EXPECT_EQ(c, static_cast<std::int32_t>(static_cast<std::uint32_t>(255 * 255 * kDepth)));
}

}  // namespace
}  // namespace ingot::engine
