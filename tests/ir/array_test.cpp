// Arrays of sizes that no memory has, and of others than were said.
#include "ingot/ir/array.h"

#include <gtest/gtest.h>

#include "ingot/base/error.h"
#include "tests/support/refusal.h"

namespace ingot {
namespace {

TEST(Array, RefusesSizesBeyondAnyMemory) {
  constexpr std::int64_t kHuge = std::int64_t{1} << 62;
  EXPECT_REFUSED(Code::bad_shape, Array(DType::string, {kHuge}));
  EXPECT_REFUSED(Code::bad_shape, Array(DType::f64, {kHuge}));
}

TEST(Array, HasAsManyElementsAsItsDimensionsSay) {
  EXPECT_REFUSED(Code::tensor_size_mismatch, Array::of<float>({2}, {1, 2, 3}));
  EXPECT_REFUSED(Code::tensor_size_mismatch, Array::of<std::string>({2, 2}, {"a"}));
  EXPECT_EQ(Array::of<float>({2}, {1, 2}).size(), 2);
}

TEST(Array, IsViewedWhereItsElementsMayLie) {
  alignas(8) char memory[16] = {};
  EXPECT_EQ(Array::view(DType::f32, {2}, memory + 4).size(), 2);
  EXPECT_EQ(Array::view(DType::u8, {2}, memory + 1).size(), 2);
  EXPECT_REFUSED(Code::bad_usage, Array::view(DType::f32, {2}, memory + 1));
  EXPECT_REFUSED(Code::bad_usage, Array::view(DType::f64, {1}, memory + 4));
  EXPECT_REFUSED(Code::bad_usage, Array::view(DType::undefined, {1}, memory));
}

}  // namespace
}  // namespace ingot
