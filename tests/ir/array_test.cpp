// Arrays of sizes that no memory has.
#include "ingot/ir/array.h"

#include <gtest/gtest.h>

#include "ingot/base/error.h"

namespace ingot {
namespace {

TEST(Array, RefusesSizesBeyondAnyMemory) {
  constexpr std::int64_t kHuge = std::int64_t{1} << 62;
  EXPECT_THROW(Array(DType::string, {kHuge}), Error);
  EXPECT_THROW(Array(DType::f64, {kHuge}), Error);
}

}  // namespace
}  // namespace ingot
