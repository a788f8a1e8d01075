// Products of matrices against sums in double, for sizes around those of tiles, panels and blocks.
#include "ingot/engine/kernels/gemm.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "ingot/base/threads.h"
#include "tests/engine/kernels/product_sizes.h"

namespace ingot::engine {
namespace {

class Multiply : public testing::TestWithParam<Sizes> {};

TEST_P(Multiply, AgreesWithSumsInDoubleForAnyNumberOfThreads) {
  const auto [rows, depth, columns] = GetParam();
  const auto at = [](std::int64_t i) { return static_cast<std::size_t>(i); };
  const auto a = random_floats(rows * depth, 1), b = random_floats(depth * columns, 2);
  const auto bias = random_floats(columns, 3), residual = random_floats(rows * columns, 4);
  Epilogue epilogue;
  epilogue.bias = bias.data();
  epilogue.residual = residual.data();
  epilogue.low = -1.5f;
  epilogue.high = 1.5f;
  std::vector<float> first;
  for (const int threads : {1, 2, 5}) {
    ThreadPool pool(threads);
    const PackedMatrix packed(b.data(), depth, columns, columns, 1);
    std::vector<float> c(at(rows * columns), -7);
    multiply(a.data(), rows, depth, packed, c.data(), columns, epilogue, pool);
    if (first.empty()) first = c;
    EXPECT_EQ(c, first) << threads << " threads";
    std::vector<float> transposed(b.size());
    for (std::int64_t k = 0; k < depth; ++k)
      for (std::int64_t j = 0; j < columns; ++j) transposed[at(j * depth + k)] = b[at(k * columns + j)];
    for (const LooseMatrix& loose : {LooseMatrix{b.data(), depth, columns, columns, 1},
                                     LooseMatrix{transposed.data(), depth, columns, 1, depth}}) {
      std::vector<float> again(at(rows * columns), -7);
      multiply(a.data(), rows, depth, loose, again.data(), columns, epilogue, pool);
      EXPECT_EQ(again, first) << "not packed, " << threads << " threads";
    }
  }
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t j = 0; j < columns; ++j) {
      double sum = bias[at(j)] + residual[at(i * columns + j)];
      for (std::int64_t k = 0; k < depth; ++k)
        sum += static_cast<double>(a[at(i * depth + k)]) * b[at(k * columns + j)];
      ASSERT_NEAR(first[at(i * columns + j)], std::clamp(sum, -1.5, 1.5), 2e-5) << i << "," << j;
    }
}

INSTANTIATE_TEST_SUITE_P(Sizes, Multiply,
                         testing::Values(Sizes{1, 1, 1}, Sizes{1, 5, 33}, Sizes{5, 16, 16}, Sizes{6, 384, 17},
                                         Sizes{7, 385, 31}, Sizes{1, 300, 130}, Sizes{2, 257, 100}, Sizes{3, 600, 64},
                                         Sizes{146, 260, 50}, Sizes{73, 64, 129}, Sizes{144, 400, 140},
                                         Sizes{3, 1000, 7}, Sizes{2, 0, 3}));

TEST(Multiply, AppliesAFunctionToWholeSums) {
  // Deeper than one pass over the inner dimension, more columns than one piece of work has.
  const auto a = random_floats(5 * 600, 1), b = random_floats(600 * 300, 2);
  ThreadPool pool(2);
  const PackedMatrix packed(b.data(), 600, 300, 300, 1);
  std::vector<float> plain(5 * 300), twice(5 * 300);
  multiply(a.data(), 5, 600, packed, plain.data(), 300, {}, pool);
  Epilogue epilogue;
  epilogue.has_function = true;
  epilogue.function = Unary::leaky_relu;
  epilogue.a = 0.25f;
  multiply(a.data(), 5, 600, packed, twice.data(), 300, epilogue, pool);
  for (std::size_t i = 0; i < plain.size(); ++i) ASSERT_EQ(twice[i], plain[i] < 0 ? plain[i] * 0.25f : plain[i]) << i;
}

TEST(Multiply, TakesAPartOfTheColumns) {
  const std::int64_t wide = panel_columns(), columns = 3 * wide + 5;
  const auto a = random_floats(4 * 50, 1), b = random_floats(50 * columns, 2);
  ThreadPool pool(1);
  const PackedMatrix packed(b.data(), 50, columns, columns, 1);
  std::vector<float> all(static_cast<std::size_t>(4 * columns)), part(all.size());
  multiply(a.data(), 4, 50, packed, all.data(), columns, {}, pool);
  multiply(a.data(), 4, 50, packed.part(0, 2 * wide), part.data(), columns, {}, pool);
  multiply(a.data(), 4, 50, packed.part(2 * wide, wide + 5), part.data() + 2 * wide, columns, {}, pool);
  EXPECT_EQ(part, all);
}

TEST(Multiply, TakesTheRightOperandTransposed) {
  const auto a = random_floats(4 * 9, 1), b = random_floats(9 * 21, 2);
  std::vector<float> transposed(b.size());
  for (std::size_t k = 0; k < 9; ++k)
    for (std::size_t j = 0; j < 21; ++j) transposed[j * 9 + k] = b[k * 21 + j];
  ThreadPool pool(1);
  std::vector<float> c(4 * 21), d(4 * 21);
  multiply(a.data(), 4, 9, PackedMatrix(b.data(), 9, 21, 21, 1), c.data(), 21, {}, pool);
  multiply(a.data(), 4, 9, PackedMatrix(transposed.data(), 9, 21, 1, 9), d.data(), 21, {}, pool);
  EXPECT_EQ(c, d);
}

TEST(Multiply, AddsToTheResultInPlace) {
  // Deeper than one pass over the inner dimension.
  const auto a = random_floats(3 * 1000, 1), b = random_floats(1000 * 5, 2), before = random_floats(3 * 5, 3);
  ThreadPool pool(1);
  const PackedMatrix packed(b.data(), 1000, 5, 5, 1);
  std::vector<float> product(15), sum = before;
  multiply(a.data(), 3, 1000, packed, product.data(), 5, {}, pool);
  Epilogue epilogue;
  epilogue.residual = sum.data();
  multiply(a.data(), 3, 1000, packed, sum.data(), 5, epilogue, pool);
  for (std::size_t i = 0; i < 15; ++i) EXPECT_NEAR(sum[i], product[i] + before[i], 1e-4);
}

TEST(Multiply, KeepsNaN) {
  const float a = std::numeric_limits<float>::quiet_NaN(), b = 1;
  float c = 0;
  Epilogue epilogue;
  epilogue.low = 0;
  ThreadPool pool(1);
  multiply(&a, 1, 1, PackedMatrix(&b, 1, 1, 1, 1), &c, 1, epilogue, pool);
  EXPECT_TRUE(std::isnan(c));
}

}  // namespace
}  // namespace ingot::engine
