// Kernels whose result depends on data, and those that rearrange: OneHot, Unique, Trilu, DepthToSpace, ...
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/ops/values.h"
#include "tests/support/refusal.h"

namespace ingot::test {
namespace {

using Floats = std::vector<float>;
using Ints = std::vector<std::int64_t>;

Ints ints_of(const Datum& d) { return values<std::int64_t>(*d.array()); }

TEST(OneHotKernel, TurnsOnWhereTheIndexPoints) {
  const Array index = Array::of<float>({3}, {-1, 1, 5}), onoff = Array::of<std::string>({2}, {"-", "x"});
  EXPECT_EQ(values<std::string>(run_op("OneHot", {index, Array::scalar<std::int64_t>(2), onoff})),
            (std::vector<std::string>{"-", "x", "-", "x", "-", "-"}));
  EXPECT_EQ(values<std::string>(run_op("OneHot", {index, Array::scalar(2.0f), onoff}, {{"axis", 0}})),
            (std::vector<std::string>{"-", "-", "-", "x", "x", "-"}));
  EXPECT_EQ(run_op("OneHot", {index, ints({0}), onoff}).dims(), (Dims{3, 0}));
  EXPECT_REFUSED(Code::execution_failed, run_op("OneHot", {index, ints({-1}), onoff}));
}

TEST(NonZeroKernel, GivesCoordinatesByRow) {
  const Array y = run_op("NonZero", {Array::of<float>({2, 2}, {0, 1, NAN, -0.0f})});
  EXPECT_EQ(y.dims(), (Dims{2, 2}));
  EXPECT_EQ(ints_of(y), (Ints{0, 1, 1, 0}));
  EXPECT_EQ(run_op("NonZero", {Array::scalar(3.0f)}).dims(), (Dims{0, 1}));
  EXPECT_EQ(ints_of(run_op("NonZero", {Array::of<std::string>({2}, {"", "a"})})), Ints{1});
}

TEST(UniqueKernel, SortsOrKeepsTheOrder) {
  const Array x = Array::of<float>({5}, {2, NAN, 1, 2, NAN});
  auto y = run_ops("Unique", {x}, {}, 4);
  EXPECT_EQ(y[0].array()->data<float>()[0], 1);
  EXPECT_EQ(y[0].array()->size(), 3);
  EXPECT_EQ(ints_of(y[1]), (Ints{2, 0, 1}));
  EXPECT_EQ(ints_of(y[2]), (Ints{1, 2, 0, 1, 2}));
  EXPECT_EQ(ints_of(y[3]), (Ints{1, 2, 2}));
  y = run_ops("Unique", {x}, {{"sorted", 0}}, 4);
  EXPECT_EQ(ints_of(y[1]), (Ints{0, 1, 2}));
  EXPECT_EQ(ints_of(y[2]), (Ints{0, 1, 2, 0, 1}));
}

TEST(UniqueKernel, KnowsTheOrderOfAllNumbers) {
  const auto least = std::numeric_limits<std::int64_t>::min(), most = std::numeric_limits<std::int64_t>::max();
  const Array ints = Array::of<std::int64_t>({7}, {300, -1, most, least, 0, -1, 256});
  EXPECT_EQ(values<std::int64_t>(run_op("Unique", {ints})), (Ints{least, -1, 0, 256, 300, most}));
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const Array floats = Array::of<float>({8}, {2, -0.0f, kInfinity, -3, 0, -kInfinity, 1e-40f, -3});
  const auto y = run_ops("Unique", {floats}, {}, 4);
  EXPECT_EQ(values<float>(*y[0].array()), (Floats{-kInfinity, -3, 0, 1e-40f, 2, kInfinity}));
  EXPECT_EQ(ints_of(y[1]), (Ints{5, 3, 1, 6, 0, 2}));
  EXPECT_EQ(ints_of(y[3]), (Ints{1, 2, 2, 1, 1, 1}));
}

TEST(UniqueKernel, ComparesSlices) {
  const Array x = Array::of<std::int32_t>({2, 3}, {3, 1, 3, 0, 2, 0});
  const auto y = run_ops("Unique", {x}, {{"axis", -1}}, 4);
  EXPECT_EQ(values<std::int32_t>(*y[0].array()), (std::vector<std::int32_t>{1, 3, 2, 0}));
  EXPECT_EQ(ints_of(y[2]), (Ints{1, 0, 1}));
  EXPECT_EQ(run_op("Unique", {Array::of<float>({0}, {})}).dims(), Dims{0});
}

TEST(CompressKernel, KeepsWhereTheConditionHolds) {
  const Array keep = Array::of<bool>({2}, {false, true});
  EXPECT_EQ(values<float>(run_op("Compress", {counted({2, 3}), keep}, {{"axis", 1}})), (Floats{1, 4}));
  EXPECT_EQ(values<float>(run_op("Compress", {counted({2, 3}), keep})), Floats{1});
  EXPECT_REFUSED(Code::execution_failed, run_op("Compress", {counted({1}), keep}));
}

TEST(TriluKernel, KeepsATriangleOfAnyType) {
  EXPECT_EQ(values<float>(run_op("Trilu", {counted({2, 3})})), (Floats{0, 1, 2, 0, 4, 5}));
  const Array k = Array::scalar<std::int64_t>(-1);
  EXPECT_EQ(values<float>(run_op("Trilu", {counted({2, 2}), k}, {{"upper", 0}})), (Floats{0, 0, 2, 0}));
  const Array least = Array::scalar(std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(values<float>(run_op("Trilu", {counted({2, 2}), least})), (Floats{0, 1, 2, 3}));
  EXPECT_EQ(values<std::string>(run_op("Trilu", {Array::of<std::string>({2, 2}, {"a", "b", "c", "d"})}))[2], "");
}

TEST(DepthToSpaceKernel, OrdersBlocksByMode) {
  const Array x = counted({1, 8, 1, 1});
  EXPECT_EQ(values<float>(run_op("DepthToSpace", {x}, {{"blocksize", 2}})), (Floats{0, 2, 4, 6, 1, 3, 5, 7}));
  EXPECT_EQ(values<float>(run_op("DepthToSpace", {x}, {{"blocksize", 2}, {"mode", "CRD"}})),
            (Floats{0, 1, 2, 3, 4, 5, 6, 7}));
  const Array y = run_op("DepthToSpace", {x}, {{"blocksize", 2}});
  EXPECT_EQ(values<float>(run_op("SpaceToDepth", {y}, {{"blocksize", 2}})), values<float>(x));
  EXPECT_REFUSED(Code::execution_failed, run_op("SpaceToDepth", {x}, {{"blocksize", 2}}));
}

TEST(DetKernel, PivotsAndTakesEmptyMatrices) {
  EXPECT_EQ(values<float>(run_op("Det", {Array::of<float>({2, 2}, {0, 2, 3, 4})})), Floats{-6});
  EXPECT_EQ(values<float>(run_op("Det", {Array::of<float>({1, 2, 2}, {1, 2, 2, 4})})), Floats{0});
  EXPECT_EQ(values<float>(run_op("Det", {counted({1, 0, 0})})), Floats{1});
  EXPECT_REFUSED(Code::execution_failed, run_op("Det", {counted({2, 3})}));
}

TEST(ReverseSequenceKernel, TurnsTheFirstElementsRound) {
  const Array x = counted({3, 2}), lengths = ints({2, 3});
  EXPECT_EQ(values<float>(run_op("ReverseSequence", {x, lengths})), (Floats{2, 5, 0, 3, 4, 1}));
  EXPECT_REFUSED(Code::execution_failed, run_op("ReverseSequence", {x, ints({4, 1})}));
}

TEST(AffineGridKernel, PutsPixelsBetweenMinusOneAndOne) {
  const Array identity = Array::of<float>({1, 2, 3}, {1, 0, 0, 0, 1, 0});
  EXPECT_EQ(values<float>(run_op("AffineGrid", {identity, ints({1, 1, 1, 2})})), (Floats{-0.5, 0, 0.5, 0}));
  EXPECT_EQ(values<float>(run_op("AffineGrid", {identity, ints({1, 1, 2, 2})}, {{"align_corners", 1}})),
            (Floats{-1, -1, 1, -1, -1, 1, 1, 1}));
  EXPECT_REFUSED(Code::execution_failed, run_op("AffineGrid", {identity, ints({2, 1, 2, 2})}));
}

Floats sampled(const Floats& places, Attrs attrs) {
  const Array grid = Array::of<float>({1, static_cast<std::int64_t>(places.size()), 1}, places);
  return values<float>(run_op("GridSample", {Array::of<float>({1, 1, 3}, {1, 2, 3}), grid}, attrs));
}

TEST(GridSampleKernel, PadsByMode) {
  // With aligned corners, -2 lies one pixel before the first.
  EXPECT_EQ(sampled({-2, 0.5, 0}, {{"align_corners", 1}}), (Floats{0, 2.5, 2}));
  EXPECT_EQ(sampled({-2, 9}, {{"align_corners", 1}, {"padding_mode", "border"}}), (Floats{1, 3}));
  EXPECT_EQ(sampled({-2, 2}, {{"align_corners", 1}, {"padding_mode", "reflection"}}), (Floats{2, 2}));
  EXPECT_EQ(sampled({-1.0f}, {}), Floats{0.5});
}

TEST(GridSampleKernel, RoundsAndFitsCubics) {
  EXPECT_EQ(sampled({0.4f, 0.6f}, {{"align_corners", 1}, {"mode", "nearest"}}), (Floats{2, 3}));
  EXPECT_EQ(sampled({0}, {{"align_corners", 1}, {"mode", "cubic"}}), Floats{2});
  const Floats odd = sampled({NAN, INFINITY, -INFINITY}, {{"mode", "nearest"}, {"padding_mode", "reflection"}});
  EXPECT_EQ(odd.size(), 3u);
}

TEST(GridSampleKernel, TakesAnyRankAndStrings) {
  const Array x = Array::of<std::string>({1, 1, 1, 1, 2}, {"a", "b"});
  const Array grid = Array::of<float>({1, 1, 1, 1, 3}, {1, 0, 0});
  const Array y = run_op("GridSample", {x, grid}, {{"mode", "nearest"}, {"align_corners", 1}});
  EXPECT_EQ(values<std::string>(y), std::vector<std::string>{"b"});
}

Floats einsum(const char* equation, const std::vector<Datum>& inputs) {
  return values<float>(run_op("Einsum", inputs, {{"equation", equation}}));
}

TEST(EinsumKernel, TakesAnyEquation) {
  const Array a = counted({2, 2}), b = Array::of<float>({2}, {1, 10});
  EXPECT_EQ(einsum("ij->ji", {a}), (Floats{0, 2, 1, 3}));
  EXPECT_EQ(einsum("ii", {a}), Floats{3});
  EXPECT_EQ(einsum("ii->i", {a}), (Floats{0, 3}));
  EXPECT_EQ(einsum("ij,jk", {a, a}), (Floats{2, 3, 6, 11}));
  EXPECT_EQ(einsum("ij,jk,k->i", {a, a, b}), (Floats{32, 116}));
  EXPECT_EQ(einsum("...j, j -> ...", {a, b}), (Floats{10, 32}));
  EXPECT_EQ(einsum("i,j->ij", {b, b}), (Floats{1, 10, 10, 100}));
  EXPECT_EQ(einsum("ij->", {a}), Floats{6});
  EXPECT_EQ(einsum("ij,i->j", {counted({1, 2}), b}), (Floats{0, 11}));
  EXPECT_EQ(einsum("i,i->", {counted({0}), counted({0})}), Floats{0});
}

TEST(EinsumKernel, WrapsIntegersAndRefusesOthers) {
  const Array x = Array::of<std::int8_t>({2}, {100, 100});
  EXPECT_EQ(values<std::int8_t>(run_op("Einsum", {x, x}, {{"equation", "i,i->"}})),
            std::vector<std::int8_t>{static_cast<std::int8_t>(20000)});
  EXPECT_REFUSED(Code::execution_failed, einsum("ij,jk->ik", {counted({2, 2}), counted({3, 2})}));
  EXPECT_REFUSED(Code::execution_failed, einsum("i->i", {counted({2, 2})}));
  EXPECT_REFUSED(Code::inference_failed, einsum("i->ii", {counted({2})}));
}

}  // namespace
}  // namespace ingot::test
