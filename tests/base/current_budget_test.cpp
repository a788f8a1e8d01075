#include "ingot/base/current_budget.h"

#include <gtest/gtest.h>

#include "ingot/base/budget.h"
#include "ingot/base/error.h"

namespace ingot {
namespace {

TEST(CurrentBudget, IsThatOfTheInnermostScope) {
  Budget outer, inner;
  EXPECT_EQ(&current_budget(), &Budget::unlimited());
  {
    const BudgetScope scope(&outer);
    EXPECT_EQ(&current_budget(), &outer);
    {
      const BudgetScope nested(&inner);
      EXPECT_EQ(&current_budget(), &inner);
      const BudgetScope none(nullptr);
      EXPECT_EQ(&current_budget(), &inner);
    }
    EXPECT_EQ(&current_budget(), &outer);
  }
  EXPECT_EQ(&current_budget(), &Budget::unlimited());
}

TEST(CurrentBudget, StepsOfLongWorkEndWhenItIsCancelled) {
  Budget budget;
  const BudgetScope scope(&budget);
  for (int i = 0; i < 10'000; ++i) count_step();
  budget.cancel();
  EXPECT_THROW(
      {
        for (int i = 0; i < 10'000; ++i) count_step();
      },
      Error);
}

}  // namespace
}  // namespace ingot
