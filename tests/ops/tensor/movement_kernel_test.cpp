// Kernels that move elements: reshapes, slices, parts, padding, gathering.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "tests/ops/values.h"
#include "tests/support/refusal.h"

namespace ingot::test {
namespace {

using Floats = std::vector<float>;
constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();

Dims reshaped(Dims from, const std::vector<std::int64_t>& to, std::int64_t allowzero = 0) {
  return run_op("Reshape", {counted(std::move(from)), ints(to)}, {{"allowzero", allowzero}}).dims();
}

TEST(ReshapeKernel, CopiesAndFillsDimensions) {
  EXPECT_EQ(reshaped({2, 3, 4}, {0, -1}), (Dims{2, 12}));
  EXPECT_EQ(reshaped({2, 3, 4}, {4, 0, -1}), (Dims{4, 3, 2}));
  EXPECT_EQ(reshaped({1}, {}), Dims{});
  EXPECT_EQ(reshaped({0, 3, 4}, {0, -1}), (Dims{0, 12}));
  EXPECT_EQ(reshaped({0, 3}, {3, 0}, 1), (Dims{3, 0}));
}

TEST(ReshapeKernel, RefusesWhatDoesNotFit) {
  EXPECT_REFUSED(Code::execution_failed, reshaped({2, 3}, {4, -1}));
  EXPECT_REFUSED(Code::execution_failed, reshaped({2, 3}, {-1, -1}));
  EXPECT_REFUSED(Code::execution_failed, reshaped({2, 3}, {2, 3, 0}));
  EXPECT_REFUSED(Code::execution_failed, reshaped({2, 3}, {-2, 3}));
  EXPECT_REFUSED(Code::bad_shape, reshaped({2, 3}, {kMost, kMost}));
  EXPECT_REFUSED(Code::execution_failed, reshaped({0, 3}, {0, -1}, 1));
}

TEST(SqueezeKernel, DropsNamedOrAllOnes) {
  EXPECT_EQ(run_op("Squeeze", {counted({1, 2, 1})}).dims(), Dims{2});
  EXPECT_EQ(run_op("Squeeze", {counted({1, 2, 1}), ints({-1})}).dims(), (Dims{1, 2}));
  EXPECT_REFUSED(Code::execution_failed, run_op("Squeeze", {counted({1, 2, 1}), ints({1})}));
}

TEST(UnsqueezeKernel, CountsAxesInTheResult) {
  EXPECT_EQ(run_op("Unsqueeze", {counted({2, 3}), ints({-1, 0})}).dims(), (Dims{1, 2, 3, 1}));
  EXPECT_EQ(run_op("Unsqueeze", {Array::scalar(1.0f), ints({0, 1})}).dims(), (Dims{1, 1}));
  EXPECT_EQ(run_op("Unsqueeze", {counted({0}), ints({0})}).dims(), (Dims{1, 0}));
  EXPECT_REFUSED(Code::execution_failed, run_op("Unsqueeze", {counted({2}), ints({0, -3})}));
}

TEST(FlattenKernel, TakesAnyAxisUpToTheRank) {
  EXPECT_EQ(run_op("Flatten", {counted({2, 3, 4})}, {{"axis", 3}}).dims(), (Dims{24, 1}));
  EXPECT_EQ(run_op("Flatten", {counted({2, 3, 4})}, {{"axis", -1}}).dims(), (Dims{6, 4}));
  EXPECT_EQ(run_op("Flatten", {Array::scalar(1.0f)}, {{"axis", 0}}).dims(), (Dims{1, 1}));
}

TEST(ConcatKernel, JoinsAlongAnyAxis) {
  const Array y = run_op("Concat", {counted({2, 1}), counted({2, 2}), counted({2, 0})}, {{"axis", -1}});
  EXPECT_EQ(y.dims(), (Dims{2, 3}));
  EXPECT_EQ(values<float>(y), (Floats{0, 0, 1, 1, 2, 3}));
  EXPECT_REFUSED(Code::execution_failed, run_op("Concat", {counted({2, 1}), counted({3, 2})}, {{"axis", 1}}));
}

TEST(SplitKernel, CutsIntoGivenOrEqualParts) {
  auto parts = run_ops("Split", {counted({5}), ints({2, 0, 3})}, {}, 3);
  EXPECT_EQ(values<float>(*parts[0].array()), (Floats{0, 1}));
  EXPECT_EQ(parts[1].array()->dims(), Dims{0});
  EXPECT_EQ(values<float>(*parts[2].array()), (Floats{2, 3, 4}));
  parts = run_ops("Split", {counted({2, 3})}, {{"axis", 1}, {"num_outputs", 2}}, 2);
  EXPECT_EQ(values<float>(*parts[0].array()), (Floats{0, 1, 3, 4}));
  EXPECT_EQ(values<float>(*parts[1].array()), (Floats{2, 5}));
  EXPECT_REFUSED(Code::execution_failed, run_ops("Split", {counted({5}), ints({2, 4})}, {}, 2));
  EXPECT_REFUSED(Code::execution_failed, run_ops("Split", {counted({5}), ints({6, -1})}, {}, 2));
}

Floats sliced(std::int64_t start, std::int64_t end, std::int64_t step) {
  return values<float>(run_op("Slice", {counted({5}), ints({start}), ints({end}), ints({0}), ints({step})}));
}

TEST(SliceKernel, StepsForwardsAndBackwards) {
  EXPECT_EQ(sliced(1, 4, 2), (Floats{1, 3}));
  EXPECT_EQ(sliced(-2, kMost, 1), (Floats{3, 4}));
  EXPECT_EQ(sliced(kMost, kLeast, -1), (Floats{4, 3, 2, 1, 0}));
  EXPECT_EQ(sliced(kLeast, kMost, kMost), Floats{0});
  EXPECT_EQ(sliced(-1, -6, kLeast), Floats{4});
  EXPECT_EQ(sliced(3, 1, 1), Floats{});
  EXPECT_EQ(sliced(-10, -20, -1), Floats{0});  // clamped to the first element, and down to none before it
  EXPECT_EQ(sliced(kLeast, kLeast, -1), Floats{0});
  EXPECT_EQ(sliced(-10, 0, -1), Floats{});
  EXPECT_REFUSED(Code::execution_failed, sliced(0, 1, 0));
}

/// As the specification says it, in words of its own.
Floats slice_by_definition(std::int64_t size, std::int64_t start, std::int64_t end, std::int64_t step) {
  if (start < 0) start += size;
  if (end < 0) end += size;
  start = step > 0 ? std::clamp<std::int64_t>(start, 0, size)
                   : std::clamp<std::int64_t>(start, 0, std::max<std::int64_t>(size - 1, 0));
  end = step > 0 ? std::clamp<std::int64_t>(end, 0, size) : std::clamp<std::int64_t>(end, -1, size - 1);
  Floats picked;
  for (std::int64_t i = start; step > 0 ? i < end : i > end; i += step) picked.push_back(static_cast<float>(i));
  return size ? picked : Floats{};
}

TEST(SliceKernel, ClampsAsTheSpecificationSays) {
  for (std::int64_t size = 0; size <= 3; ++size)
    for (std::int64_t start = -6; start <= 5; ++start)
      for (std::int64_t end = -6; end <= 5; ++end)
        for (const std::int64_t step : {-5, -2, -1, 1, 2, 5}) {
          const auto inputs = {Datum(counted({size})), Datum(ints({start})), Datum(ints({end})), Datum(ints({0})),
                               Datum(ints({step}))};
          EXPECT_EQ(values<float>(run_op("Slice", inputs)), slice_by_definition(size, start, end, step))
              << size << ": " << start << ":" << end << ":" << step;
        }
}

TEST(SliceKernel, CutsSeveralAxes) {
  const Array y = run_op("Slice", {counted({3, 4}), ints({-1, 1}), ints({-4, 3}), ints({0, -1}), ints({-2, 1})});
  EXPECT_EQ(y.dims(), (Dims{2, 2}));
  EXPECT_EQ(values<float>(y), (Floats{9, 10, 1, 2}));
}

Floats padded(const char* mode, const std::vector<std::int64_t>& pads) {
  return values<float>(run_op("Pad", {counted({3}), ints(pads)}, {{"mode", mode}}));
}

TEST(PadKernel, FillsByMode) {
  EXPECT_EQ(padded("constant", {1, 2}), (Floats{0, 0, 1, 2, 0, 0}));
  EXPECT_EQ(padded("edge", {1, 2}), (Floats{0, 0, 1, 2, 2, 2}));
  EXPECT_EQ(padded("reflect", {2, 5}), (Floats{2, 1, 0, 1, 2, 1, 0, 1, 2, 1}));
  EXPECT_EQ(padded("wrap", {4, 1}), (Floats{2, 0, 1, 2, 0, 1, 2, 0}));
}

TEST(PadKernel, CutsWhereCountsAreNegative) {
  EXPECT_EQ(padded("constant", {-1, 1}), (Floats{1, 2, 0}));
  EXPECT_EQ(padded("edge", {-2, 2}), (Floats{2, 2, 2}));
  EXPECT_EQ(padded("constant", {-3, 0}), Floats{});
  EXPECT_REFUSED(Code::execution_failed, padded("constant", {-4, 0}));
  EXPECT_REFUSED(Code::execution_failed, padded("edge", {-3, 1}));
  EXPECT_REFUSED(Code::execution_failed, padded("constant", {kLeast, kMost}));
}

TEST(PadKernel, PadsNamedAxesOfAnyType) {
  const Array x = Array::of<std::string>({1, 2}, {"a", "b"}), dot = Array::scalar<std::string>(".");
  EXPECT_EQ(values<std::string>(run_op("Pad", {x, ints({1, 0}), dot, ints({-1})})),
            (std::vector<std::string>{".", "a", "b"}));
}

TEST(ExpandKernel, BroadcastsBothWays) {
  const Array y = run_op("Expand", {counted({2, 1}), ints({2, 1, 2})});
  EXPECT_EQ(y.dims(), (Dims{2, 2, 2}));
  EXPECT_EQ(values<float>(y), (Floats{0, 0, 1, 1, 0, 0, 1, 1}));
  EXPECT_EQ(run_op("Expand", {counted({2, 1}), ints({0})}).dims(), (Dims{2, 0}));
  EXPECT_REFUSED(Code::execution_failed, run_op("Expand", {counted({2}), ints({3})}));
}

TEST(TileKernel, RepeatsEachAxis) {
  EXPECT_EQ(values<float>(run_op("Tile", {counted({1, 2}), ints({2, 2})})), (Floats{0, 1, 0, 1, 0, 1, 0, 1}));
  EXPECT_EQ(run_op("Tile", {counted({2}), ints({0})}).dims(), Dims{0});
  EXPECT_REFUSED(Code::execution_failed, run_op("Tile", {counted({2}), ints({kMost})}));
  EXPECT_REFUSED(Code::execution_failed, run_op("Tile", {counted({2}), ints({-1})}));
}

TEST(ShapeKernel, GivesAPartOfTheDimensions) {
  EXPECT_EQ(values<std::int64_t>(run_op("Shape", {counted({2, 3, 4})}, {{"start", -2}})),
            (std::vector<std::int64_t>{3, 4}));
  EXPECT_EQ(run_op("Shape", {counted({2, 3})}, {{"start", 2}, {"end", 1}}).dims(), Dims{0});
  EXPECT_EQ(values<std::int64_t>(run_op("Size", {counted({2, 0})})), std::vector<std::int64_t>{0});
}

TEST(GatherKernel, PicksSlicesAndRefusesOthers) {
  const Array y = run_op("Gather", {counted({2, 3}), Array::of<std::int32_t>({1, 2}, {-1, 0})}, {{"axis", 1}});
  EXPECT_EQ(y.dims(), (Dims{2, 1, 2}));
  EXPECT_EQ(values<float>(y), (Floats{2, 0, 5, 3}));
  EXPECT_REFUSED(Code::execution_failed, run_op("Gather", {counted({3}), ints({3})}));
  EXPECT_REFUSED(Code::execution_failed, run_op("Gather", {counted({3}), ints({kLeast})}));
  EXPECT_REFUSED(Code::execution_failed, run_op("Gather", {counted({0, 2}), ints({0})}));
}

TEST(GatherElementsKernel, TakesOneIndexPerElement) {
  const Array index = Array::of<std::int64_t>({2, 1}, {-1, 0});
  EXPECT_EQ(values<float>(run_op("GatherElements", {counted({2, 3}), index}, {{"axis", 1}})), (Floats{2, 3}));
  EXPECT_REFUSED(Code::execution_failed, run_op("GatherElements", {counted({1, 3}), index}, {{"axis", 1}}));
}

TEST(GatherNDKernel, TakesTuplesWithinBatches) {
  const Array pairs = Array::of<std::int64_t>({2, 2}, {0, 1, -1, 0});
  EXPECT_EQ(values<float>(run_op("GatherND", {counted({2, 2}), pairs})), (Floats{1, 2}));
  const Array rows = Array::of<std::int64_t>({2, 1}, {1, 0});
  EXPECT_EQ(values<float>(run_op("GatherND", {counted({2, 2, 2}), rows}, {{"batch_dims", 1}})), (Floats{2, 3, 4, 5}));
  EXPECT_REFUSED(Code::execution_failed, run_op("GatherND", {counted({2}), ints({2})}));
}

TEST(ScatterElementsKernel, ReplacesOrReduces) {
  const Array index = ints({1, 1}), updates = Array::of<float>({2}, {5, 7});
  const auto result = [&](const char* reduction) {
    return values<float>(run_op("ScatterElements", {counted({3}), index, updates}, {{"reduction", reduction}}));
  };
  EXPECT_EQ(result("none"), (Floats{0, 7, 2}));
  EXPECT_EQ(result("add"), (Floats{0, 13, 2}));
  EXPECT_EQ(result("mul"), (Floats{0, 35, 2}));
  EXPECT_EQ(result("max"), (Floats{0, 7, 2}));
  EXPECT_EQ(result("min"), (Floats{0, 1, 2}));
  EXPECT_REFUSED(Code::execution_failed, run_op("ScatterElements", {counted({1}), index, updates}));
}

TEST(ScatterElementsKernel, WrapsIntegersAndKeepsTheInput) {
  const Array x = Array::of<std::int16_t>({1}, {200}), index = ints({0, 0});
  const Array updates = Array::of<std::int16_t>({2}, {200, 200});
  const Array y = run_op("ScatterElements", {x, index, updates}, {{"reduction", "mul"}});
  EXPECT_EQ(values<std::int16_t>(y), (std::vector<std::int16_t>{static_cast<std::int16_t>(200 * 200 * 200)}));
  EXPECT_EQ(values<std::int16_t>(x), (std::vector<std::int16_t>{200}));
}

TEST(ScatterNDKernel, WritesSlices) {
  const Array row = Array::of<std::int64_t>({1, 1}, {-1}), update = Array::of<float>({1, 2}, {8, 9});
  EXPECT_EQ(values<float>(run_op("ScatterND", {counted({2, 2}), row, update})), (Floats{0, 1, 8, 9}));
  EXPECT_REFUSED(Code::execution_failed, run_op("ScatterND", {counted({2, 3}), row, update}));
}

TEST(TensorScatterKernel, WritesInACircle) {
  const Array cache = counted({1, 3, 1}), update = Array::of<float>({1, 2, 1}, {8, 9});
  EXPECT_EQ(values<float>(run_op("TensorScatter", {cache, update, ints({2})}, {{"mode", "circular"}})),
            (Floats{9, 1, 8}));
  EXPECT_EQ(values<float>(run_op("TensorScatter", {cache, update, ints({1})})), (Floats{0, 8, 9}));
  EXPECT_REFUSED(Code::execution_failed, run_op("TensorScatter", {cache, update, ints({2})}));
}

TEST(CenterCropPadKernel, CutsAndPadsInTheMiddle) {
  EXPECT_EQ(values<float>(run_op("CenterCropPad", {counted({4}), ints({1})})), Floats{1});
  EXPECT_EQ(values<float>(run_op("CenterCropPad", {counted({2}), ints({5})})), (Floats{0, 0, 1, 0, 0}));
  EXPECT_EQ(run_op("CenterCropPad", {counted({2, 3}), ints({4})}, {{"axes", std::vector<std::int64_t>{-1}}}).dims(),
            (Dims{2, 4}));
}

}  // namespace
}  // namespace ingot::test
