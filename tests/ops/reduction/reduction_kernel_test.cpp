// Reductions at run time.
#include <gmock/gmock.h>

#include <cmath>
#include <limits>

#include "tests/ops/values.h"
#include "tests/support/refusal.h"

namespace ingot::test {
namespace {

using testing::ElementsAre;
using testing::FloatEq;
using testing::IsNan;

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

Array x234() {
  std::vector<float> numbers(24);
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<float>(i);
  return floats({2, 3, 4}, numbers);
}

TEST(Reduce, TakesAxesInAnyOrder) {
  const Array y = run_op("ReduceSum", {x234(), ints({-1, 0})}, {{"keepdims", 0}});
  EXPECT_EQ(y.dims(), (Dims{3}));
  EXPECT_THAT(values<float>(y), ElementsAre(60, 92, 124));
  EXPECT_EQ(run_op("ReduceSum", {x234(), ints({1})}).dims(), (Dims{2, 1, 4}));
  EXPECT_THAT(values<float>(run_op("ReduceSum", {x234()}, {{"keepdims", 0}})), ElementsAre(276));
  EXPECT_REFUSED(Code::axis_out_of_range, run_op("ReduceSum", {x234(), ints({3})}));
}

TEST(Reduce, ReducesNothingWhereAskedTo) {
  const Array x = floats({-4, 9});
  const Attrs noop = {{"noop_with_empty_axes", 1}};
  EXPECT_THAT(values<float>(run_op("ReduceSum", {x}, noop)), ElementsAre(-4, 9));
  EXPECT_THAT(values<float>(run_op("ReduceL1", {x, ints({})}, noop)), ElementsAre(4, 9));
  EXPECT_THAT(values<float>(run_op("ReduceSumSquare", {x}, noop)), ElementsAre(16, 81));
}

TEST(Reduce, FollowsItsFormulas) {
  const Array x = floats({1, -2, 2});
  EXPECT_THAT(values<float>(run_op("ReduceL1", {x})), ElementsAre(5));
  EXPECT_THAT(values<float>(run_op("ReduceL2", {x})), ElementsAre(3));
  EXPECT_THAT(values<float>(run_op("ReduceProd", {x})), ElementsAre(-4));
  EXPECT_THAT(values<float>(run_op("ReduceMean", {x})), ElementsAre(FloatEq(1.0f / 3)));
  EXPECT_THAT(values<float>(run_op("ReduceLogSum", {x})), ElementsAre(0));
  EXPECT_THAT(values<float>(run_op("ReduceLogSumExp", {floats({1000, 1000})})),
              ElementsAre(FloatEq(1000 + std::log(2.0f))));
}

TEST(Reduce, HasNeutralResultsForNothing) {
  const Array none = floats({2, 0}, {});
  EXPECT_THAT(values<float>(run_op("ReduceSum", {none, ints({1})})), ElementsAre(0, 0));
  EXPECT_THAT(values<float>(run_op("ReduceProd", {none, ints({1})})), ElementsAre(1, 1));
  EXPECT_THAT(values<float>(run_op("ReduceMax", {none, ints({1})})), ElementsAre(-kInf, -kInf));
  EXPECT_THAT(values<float>(run_op("ReduceMin", {none, ints({1})})), ElementsAre(kInf, kInf));
  EXPECT_THAT(values<float>(run_op("ReduceLogSumExp", {none, ints({1})})), ElementsAre(-kInf, -kInf));
  EXPECT_THAT(values<float>(run_op("ReduceMean", {none, ints({1})})), ElementsAre(IsNan(), IsNan()));
  EXPECT_REFUSED(Code::execution_failed, run_op("ReduceMean", {Array::of<std::int32_t>({0}, {})}));
  EXPECT_EQ(run_op("ReduceSum", {none, ints({0})}).dims(), (Dims{1, 0}));
}

TEST(Reduce, SumsFloatsAccurately) {
  const Array x = Array::of<float>({1 << 22}, std::vector<float>(1 << 22, 0.1f));
  EXPECT_FLOAT_EQ(values<float>(run_op("ReduceMean", {x}))[0], 0.1f);
}

TEST(Reduce, LetsNaNWin) {
  EXPECT_THAT(values<float>(run_op("ReduceMax", {floats({1, kNaN, 2})})), ElementsAre(IsNan()));
  EXPECT_THAT(values<float>(run_op("ReduceMin", {floats({1, kNaN, 2})})), ElementsAre(IsNan()));
}

TEST(Reduce, TakesTruthValues) {
  const Array x = Array::of<bool>({2, 2}, {false, true, false, false});
  EXPECT_THAT(values<bool>(run_op("ReduceMax", {x, ints({1})})), ElementsAre(true, false));
  EXPECT_THAT(values<bool>(run_op("ReduceMin", {Array::of<bool>({0}, {})})), ElementsAre(true));
}

TEST(Reduce, KeepsLargeIntegersExact) {
  const std::int64_t large = (std::int64_t{1} << 53) + 1;
  EXPECT_THAT(values<std::int64_t>(run_op("ReduceSum", {ints({large, large})})), ElementsAre(2 * large));
  EXPECT_THAT(values<std::int64_t>(run_op("ReduceMean", {ints({-3, -4})})), ElementsAre(-3));
}

TEST(ArgMax, PicksFirstOrLast) {
  const Array x = floats({2, 3}, {1, 3, 3, kNaN, 5, kNaN});
  EXPECT_THAT(values<std::int64_t>(run_op("ArgMax", {x}, {{"axis", 1}})), ElementsAre(1, 0));
  EXPECT_THAT(values<std::int64_t>(run_op("ArgMax", {x}, {{"axis", 1}, {"select_last_index", 1}})), ElementsAre(2, 2));
  EXPECT_THAT(values<std::int64_t>(run_op("ArgMin", {floats({2, 1, 1})})), ElementsAre(1));
  EXPECT_REFUSED(Code::execution_failed, run_op("ArgMax", {floats({2, 0}, {})}, {{"axis", 1}}));
}

}  // namespace
}  // namespace ingot::test
