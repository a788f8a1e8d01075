// Products of matrices in any order of their elements against sums in double, for sizes around those of tiles and
// pieces.
#include "ingot/engine/kernels/dense_product.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "ingot/base/threads.h"
#include "tests/engine/kernels/product_sizes.h"

namespace ingot::engine {
namespace {

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

class Dense : public testing::TestWithParam<Sizes> {};

TEST_P(Dense, AgreesWithSumsInDoubleInAnyOrderForAnyNumberOfThreads) {
  const auto [rows, depth, columns] = GetParam();
  const auto a = random_floats(2 * rows * depth, 1), b = random_floats(2 * depth * columns, 2);
  const auto bias = random_floats(columns, 3), residual = random_floats(rows * columns, 4);
  Epilogue epilogue;
  epilogue.bias = bias.data();
  epilogue.residual = residual.data();
  epilogue.low = -1.5f;
  epilogue.high = 1.5f;
  const MatrixView lefts[] = {{a.data(), depth, 1}, {a.data(), 1, rows}, {a.data(), 2 * depth, 2}};
  const MatrixView rights[] = {{b.data(), columns, 1}, {b.data(), 1, depth}, {b.data(), 2 * columns, 2}};
  for (const MatrixView& left : lefts)
    for (const MatrixView& right : rights) {
      std::vector<float> first;
      for (const int threads : {1, 2, 5}) {
        ThreadPool pool(threads);
        std::vector<float> c(at(rows * columns), -7);
        DenseProduct(rows, depth, columns).run(left, right, c.data(), columns, epilogue, pool, Budget::unlimited());
        if (first.empty()) first = c;
        EXPECT_EQ(c, first) << threads << " threads";
      }
      for (std::int64_t i = 0; i < rows; ++i)
        for (std::int64_t j = 0; j < columns; ++j) {
          double sum = static_cast<double>(bias[at(j)]) + static_cast<double>(residual[at(i * columns + j)]);
          for (std::int64_t k = 0; k < depth; ++k)
            sum += static_cast<double>(left.data[i * left.row_stride + k * left.column_stride]) *
                   static_cast<double>(right.data[k * right.row_stride + j * right.column_stride]);
          ASSERT_NEAR(first[at(i * columns + j)], std::clamp(sum, -1.5, 1.5), 1e-4) << i << ", " << j;
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Sizes, Dense,
                         testing::Values(Sizes{1, 1, 1}, Sizes{6, 16, 16}, Sizes{7, 300, 17}, Sizes{5, 0, 3},
                                         Sizes{50, 257, 130}, Sizes{290, 20, 40}, Sizes{13, 512, 33},
                                         Sizes{97, 3, 129}, Sizes{600, 40, 200}, Sizes{301, 270, 260}));

}  // namespace
}  // namespace ingot::engine
