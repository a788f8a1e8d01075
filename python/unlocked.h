#pragma once
#include <pybind11/pybind11.h>

#include "ingot/base/budget.h"
#include "ingot/base/current_budget.h"
#include "ingot/base/error.h"
#include "lock.h"

namespace ingot::python {

/// While it lives, Ctrl-C cancels the budget, and Python learns of it too. Only on the main thread, where Python
/// handles signals; elsewhere, and where Python does not handle them, it changes nothing.
class InterruptScope {
 public:
  explicit InterruptScope(Budget& budget);
  InterruptScope(const InterruptScope&) = delete;
  InterruptScope& operator=(const InterruptScope&) = delete;
  ~InterruptScope();

 private:
  struct Before;
  Before* before_ = nullptr;
};

/// Turns a cancelled piece of work into KeyboardInterrupt where Ctrl-C cancelled it. To be called with the lock held.
inline void raise_if_interrupted(const Error& error) {
  if (error.code() == Code::cancelled && PyErr_CheckSignals() != 0) throw pybind11::error_already_set();
}

/// Calls work(budget) without the interpreter's lock: other threads go on, and Ctrl-C cancels the budget.
template <class F> auto unlocked_with(Budget& budget, F&& work) {
  try {
    const InterruptScope interrupts(budget);
    const WithoutLock others;
    const BudgetScope scope(&budget);
    return work(budget);
  } catch (const Error& error) {
    raise_if_interrupted(error);
    throw;
  }
}

template <class F> auto unlocked(F&& work) {
  Budget budget;
  return unlocked_with(budget, std::forward<F>(work));
}

}  // namespace ingot::python
