// Operators one by one, against values that others computed: with the sizes of their inputs and without.
#include <gtest/gtest.h>

#include "tests/frontends/tensorflow/operator_cases.h"

namespace ingot::test {
namespace {

TEST(TensorFlowOperators, GiveTheValuesOfReferences) {
  const std::vector<OperatorCase> cases = read_operator_cases();
  EXPECT_GT(cases.size(), 200U);
  for (const OperatorCase& c : cases) {
    EXPECT_FALSE(c.outputs.empty() && c.distributions.empty()) << c.place << ": " << c.name << " compares nothing";
    EXPECT_EQ(run_operator_case(c, false), "") << c.place << ": " << c.name;
    if (!c.keeps_sizes) {
      EXPECT_EQ(run_operator_case(c, true), "") << c.place << ": " << c.name << " with open dimensions";
    }
  }
}

}  // namespace
}  // namespace ingot::test
