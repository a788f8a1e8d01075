// Which budget a thread works under.
#include "ingot/base/current_budget.h"

#include "ingot/base/budget.h"

namespace ingot {
namespace {

thread_local Budget* current = nullptr;
thread_local unsigned steps = 0;
constexpr unsigned kStepsBetweenPolls = 256;

}  // namespace

Budget& current_budget() { return current ? *current : Budget::unlimited(); }

BudgetScope::BudgetScope(Budget* budget) : before_(current) {
  if (budget) current = budget;
}

BudgetScope::~BudgetScope() { current = before_; }

void count_step() {
  if (++steps % kStepsBetweenPolls == 0 && current) current->poll();
}

}  // namespace ingot
