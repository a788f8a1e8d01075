// What ingot bench makes of its measurements.
#include "ingot/measure/bench.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "ingot/measure/fma_peak.h"

namespace ingot::measure {
namespace {

std::vector<double> numbers(int count) {
  std::vector<double> values(static_cast<std::size_t>(count));
  std::iota(values.begin(), values.end(), 1.0);
  std::ranges::reverse(values);
  return values;
}

TEST(Times, AreOrderStatistics) {
  const Times odd = times_of(numbers(11));
  EXPECT_EQ(odd.runs, 11u);
  EXPECT_EQ(odd.min, 1);
  EXPECT_EQ(odd.median, 6);
  EXPECT_EQ(odd.p90, 10);
  EXPECT_EQ(times_of(numbers(10)).median, 5.5);
  EXPECT_EQ(times_of({7}).p90, 7);
  EXPECT_EQ(times_of({}).runs, 0u);
}

TEST(Ratio, HasTheIntervalOfTheSignTest) {
  // Of 30 tosses at most 9 fall one way with probability 0.0214, at most 10 with 0.0494: ranks 10 and 21.
  const Ratio r = ratio_of(numbers(30));
  EXPECT_EQ(r.median, 15.5);
  EXPECT_EQ(r.low, 10);
  EXPECT_EQ(r.high, 21);
  EXPECT_EQ(r.pairs, 30u);
  // Of 100 tosses at most 39: 0.0176; at most 40: 0.0284.
  EXPECT_EQ(ratio_of(numbers(100)).low, 40);
  EXPECT_EQ(ratio_of(numbers(100)).high, 61);
}

TEST(Ratio, OfFewPairsIsTheirWholeRange) {
  const Ratio r = ratio_of({2, 3, 1});
  EXPECT_EQ(r.low, 1);
  EXPECT_EQ(r.median, 2);
  EXPECT_EQ(r.high, 3);
  EXPECT_EQ(ratio_of({4}).high, 4);
}

TEST(FmaPeak, IsThatOfAProcessor) {
  const double one = measure_fma_peak(1);
  EXPECT_GT(one, 0.1);
  EXPECT_LT(one, 10000);
}

}  // namespace
}  // namespace ingot::measure
