// MatMul and Gemm at run time.
#include <gmock/gmock.h>

#include "tests/ops/values.h"
#include "tests/support/refusal.h"

namespace ingot::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(MatMulKernel, BroadcastsBatches) {
  const Array a = floats({2, 1, 1, 2}, {1, 2, 3, 4}), b = floats({3, 2, 1}, {1, 1, 2, 2, 3, 3});
  const Array y = run_op("MatMul", {a, b});
  EXPECT_EQ(y.dims(), (Dims{2, 3, 1, 1}));
  EXPECT_THAT(values<float>(y), ElementsAre(3, 6, 9, 7, 14, 21));
}

TEST(MatMulKernel, TakesVectorsAsRowsAndColumns) {
  const Array v = floats({1, 2}), m = floats({2, 2}, {1, 2, 3, 4});
  EXPECT_THAT(values<float>(run_op("MatMul", {v, m})), ElementsAre(7, 10));
  EXPECT_THAT(values<float>(run_op("MatMul", {m, v})), ElementsAre(5, 11));
  const Array dot = run_op("MatMul", {v, v});
  EXPECT_EQ(dot.dims(), Dims{});
  EXPECT_THAT(values<float>(dot), ElementsAre(5));
}

TEST(MatMulKernel, IsZeroWithoutInnerElements) {
  const Array y = run_op("MatMul", {floats({2, 0}, {}), floats({0, 2}, {})});
  EXPECT_THAT(values<float>(y), ElementsAre(0, 0, 0, 0));
}

TEST(MatMulKernel, RefusesWhatDoesNotFit) {
  EXPECT_THAT(refusal([] { run_op("MatMul", {floats({1, 2}), floats({1, 2, 3})}); }), HasSubstr("inner dimensions"));
  EXPECT_REFUSED(Code::execution_failed, run_op("MatMul", {Array::scalar(1.0f), floats({1})}));
}

TEST(MatMulKernel, WrapsIntegers) {
  const Array x = Array::of<std::int32_t>({1, 1}, {1 << 30});
  EXPECT_THAT(values<std::int32_t>(run_op("MatMul", {x, x})), ElementsAre(0));
}

TEST(GemmKernel, TransposesScalesAndAdds) {
  const Array a = floats({2, 1}, {1, 2}), b = floats({2, 2}, {1, 2, 3, 4}), c = floats({2}, {10, 20});
  const Attrs attrs = {{"transA", 1}, {"transB", 1}, {"alpha", 2.0}, {"beta", 0.5}};
  EXPECT_THAT(values<float>(run_op("Gemm", {a, b, c}, attrs)), ElementsAre(15, 32));
  EXPECT_THAT(values<float>(run_op("Gemm", {a, b}, attrs)), ElementsAre(10, 22));
  EXPECT_REFUSED(Code::execution_failed, run_op("Gemm", {a, b, floats({2, 2}, {1, 1, 1, 1})}, attrs));
}

TEST(GemmKernel, TakesIntegers) {
  const Array a = Array::of<std::int32_t>({1, 2}, {1, 2}), b = Array::of<std::int32_t>({2, 1}, {3, 4});
  EXPECT_THAT(values<std::int32_t>(run_op("Gemm", {a, b, Array::scalar(1)}, {{"alpha", 0.5}})), ElementsAre(6));
}

}  // namespace
}  // namespace ingot::test
