// Rows that may stand in either order, and how long it may take to find that out.
#include "ingot/verify/ties.h"

#include <ctime>

namespace ingot::verify {
namespace {

/// Three rows that fall in each of their numbers, with `apart` between neighbours.
Array falling(std::size_t width, float apart) {
  std::vector<float> values(3 * width);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = 1 - apart * static_cast<float>(i / width);
  return Array::of<float>({1, 3, static_cast<std::int64_t>(width)}, values);
}

TEST(Ties, OfAPictureAreNotLookedForInEachOfItsNumbers) {
  const Array a = falling(90'000, 0.1f), b = falling(90'000, 0.2f);
  const std::clock_t begin = std::clock();
  EXPECT_FALSE(settle_ties({{"y", a, b}}, {{"y", {Datum(b), Datum(b)}}}));
  EXPECT_LT(static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC, 2);  // minutes where each copies the picture
}

TEST(Ties, RowsOfEqualScoresMayChangePlaces) {
  const Array a = Array::of<float>({3, 2}, {0.9f, 1, 0.5f, 2, 0.5f, 3}),
              b = Array::of<float>({3, 2}, {0.9f, 1, 0.5f, 3, 0.5f, 2});
  const auto settled = settle_ties({{"y", a, b}}, {{"y", {Datum(b), Datum(b)}}});
  ASSERT_TRUE(settled);
  EXPECT_EQ(settled->outputs[0].b.to_doubles(), a.to_doubles());
}

}  // namespace
}  // namespace ingot::verify
