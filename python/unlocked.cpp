// Ctrl-C while the interpreter waits for us.
#include "unlocked.h"

#include <signal.h>

namespace ingot::python {
namespace {

std::atomic<Budget*> interruptible = nullptr;
struct sigaction pythons = {};

void cancel(int signal) {
  if (Budget* budget = interruptible.load()) budget->cancel();
  pythons.sa_handler(signal);  // Python's own only sets flags
}

}  // namespace

struct InterruptScope::Before {
  Budget* budget;
};

InterruptScope::InterruptScope(Budget& budget) {
  if (!is_main_thread()) return;
  struct sigaction now = {};
  sigaction(SIGINT, nullptr, &now);
  const bool is_ours = !(now.sa_flags & SA_SIGINFO) && now.sa_handler == cancel;
  if (!is_ours) {
    if ((now.sa_flags & SA_SIGINFO) || now.sa_handler == SIG_DFL || now.sa_handler == SIG_IGN) return;
    pythons = now;
    struct sigaction ours = now;
    ours.sa_handler = cancel;
    sigaction(SIGINT, &ours, nullptr);
  }
  before_ = new Before{interruptible.exchange(&budget)};
}

InterruptScope::~InterruptScope() {
  if (!before_) return;
  interruptible = before_->budget;
  if (!before_->budget) sigaction(SIGINT, &pythons, nullptr);
  delete before_;
}

}  // namespace ingot::python
