// Operators as users name them.
#include "ingot/ir/operator_pattern.h"

#include <gtest/gtest.h>

namespace ingot {
namespace {

TEST(OperatorPattern, WithoutADomainMeansAny) {
  const auto pattern = OperatorPattern::parse("Gelu");
  EXPECT_TRUE(pattern.matches("Gelu", ""));
  EXPECT_TRUE(pattern.matches("Gelu", "com.microsoft"));
  EXPECT_FALSE(pattern.matches("Relu", ""));
}

TEST(OperatorPattern, WithADomainMeansThatOne) {
  const auto pattern = OperatorPattern::parse("Gelu:com.microsoft");
  EXPECT_TRUE(pattern.matches("Gelu", "com.microsoft"));
  EXPECT_FALSE(pattern.matches("Gelu", ""));
}

TEST(OperatorPattern, AnEmptyDomainIsOnnxsOwn) {
  const auto pattern = OperatorPattern::parse("Gelu:");
  EXPECT_TRUE(pattern.matches("Gelu", ""));
  EXPECT_FALSE(pattern.matches("Gelu", "com.microsoft"));
}

TEST(OperatorPattern, ADomainMayHoldColons) { EXPECT_EQ(OperatorPattern::parse("a:b:c").domain, "b:c"); }

}  // namespace
}  // namespace ingot
