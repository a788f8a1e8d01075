#pragma once

namespace ingot {

class Budget;

/// The budget of the work that this thread does now; Budget::unlimited() where nobody set one. For passes, which make
/// and walk graphs deep inside other work: they poll it without being handed it.
Budget& current_budget();

/// Until it goes, `budget` is the current one of this thread. Null changes nothing.
class BudgetScope {
 public:
  explicit BudgetScope(Budget* budget);
  BudgetScope(const BudgetScope&) = delete;
  BudgetScope& operator=(const BudgetScope&) = delete;
  ~BudgetScope();

 private:
  Budget* before_;
};

/// A small step of a long piece of work, such as a node made or visited: every so many of them poll current_budget().
void count_step();

}  // namespace ingot
