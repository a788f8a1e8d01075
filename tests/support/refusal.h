#pragma once
#include <gtest/gtest.h>

#include <functional>

#include "ingot/base/error.h"

namespace ingot::test {

/// Whether `run` is refused for this reason; says what happened instead.
inline testing::AssertionResult is_refused(Code expected, const std::function<void()>& run) {
  try {
    run();
  } catch (const Error& error) {
    if (error.code() == expected) return testing::AssertionSuccess() << error.what();
    return testing::AssertionFailure() << "refused, but not with " << code_name(expected) << ": " << error.what();
  }
  return testing::AssertionFailure() << "accepted, not refused with " << code_name(expected);
}

}  // namespace ingot::test

/// The expression is refused for this one reason: EXPECT_REFUSED(Code::bad_attribute, run_op("Mod", {x, x},
/// attributes)). Several statements go into a lambda: EXPECT_TRUE(is_refused(code, [&] { ... })).
#define EXPECT_REFUSED(expected, ...) EXPECT_TRUE(::ingot::test::is_refused(expected, [&] { (void)(__VA_ARGS__); }))
