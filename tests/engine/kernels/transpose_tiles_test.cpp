// Transposes of any size put each element where it belongs, and touch nothing beyond the last row.
#include "ingot/engine/kernels/transpose_tiles.h"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

namespace ingot::engine {
namespace {

template <class T> class TransposeTiles : public testing::Test {};
using Words = testing::Types<std::uint8_t, std::uint16_t, std::uint32_t, std::uint64_t>;
TYPED_TEST_SUITE(TransposeTiles, Words);

TYPED_TEST(TransposeTiles, MoveEveryElementAndNothingElse) {
  using Word = TypeParam;
  for (std::int64_t rows = 1; rows < 40; ++rows)
    for (std::int64_t columns = 1; columns < 20; ++columns)
      for (const std::int64_t gap : {0, 3}) {
        const std::int64_t x_stride = rows + gap, y_stride = columns + gap;
        std::vector<Word> x(static_cast<std::size_t>(columns * x_stride));
        std::iota(x.begin(), x.end(), Word{1});
        constexpr Word kUntouched = 0;
        constexpr std::int64_t kBehind = 16;
        std::vector<Word> y(static_cast<std::size_t>(rows * y_stride + kBehind), kUntouched);
        transpose_words(x.data(), x_stride, y.data(), y_stride, rows, columns);
        for (std::int64_t i = 0; i < std::ssize(y); ++i) {
          const std::int64_t r = i / y_stride, k = i % y_stride;
          const bool is_inside = r < rows && k < columns;
          ASSERT_EQ(y[static_cast<std::size_t>(i)],
                    is_inside ? x[static_cast<std::size_t>(k * x_stride + r)] : kUntouched)
              << rows << " x " << columns << " at " << r << ", " << k;
        }
      }
}

}  // namespace
}  // namespace ingot::engine
