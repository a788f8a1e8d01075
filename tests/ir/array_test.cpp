// Arrays of sizes that no memory has.
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

}  // namespace
}  // namespace ingot
