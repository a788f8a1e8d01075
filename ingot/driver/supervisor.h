#pragma once

#include "ingot/base/current_budget.h"

namespace ingot::driver {

/// Keeps a whole program within the limits of its budget, whichever part of it works:
///
/// - Memory that nothing charged to the budget is refused by the kernel (RLIMIT_DATA), which ends as std::bad_alloc.
/// - SIGINT and SIGTERM cancel the budget; who does not poll it in time is ended, as is who outruns the time limit.
///   Temporary files are removed then, and output files are whole or not there.
/// - A second signal ends at once.
///
/// One at a time, for programs: it changes handlers and limits of the process.
class Supervisor {
 public:
  /// `budget` becomes the current one of this thread too.
  explicit Supervisor(Budget& budget);
  Supervisor(const Supervisor&) = delete;
  Supervisor& operator=(const Supervisor&) = delete;
  ~Supervisor();

  /// From now on the first signal is only noted: the work asks for it and ends in good order by itself.
  static void leave_signals_to_the_work();
  /// SIGINT or SIGTERM once it came; 0 before.
  static int caught_signal();

 private:
  BudgetScope scope_;
};

/// Where memory runs out so that nothing can be thrown any more, the program ends by exit code 5 instead of a signal.
/// A program calls it first of all.
void survive_no_memory() noexcept;

/// Says without taking memory that there is none left, and that the limit did it where one is set. Returns the exit
/// code.
int report_no_memory() noexcept;

}  // namespace ingot::driver
