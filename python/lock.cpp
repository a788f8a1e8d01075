// Who is inside when the interpreter ends.
#include "lock.h"

#include <pthread.h>
#include <sys/syscall.h>

#include <chrono>
#include <thread>

namespace ingot::python {
namespace {

namespace py = pybind11;

constexpr std::chrono::seconds kLongestWait{5};  // for a callback that does not come back

// All are looked at and changed with the lock held.
int inside = 0;
bool is_ending = false;
thread_local bool is_inside = false;

void wait_for_all() {
  is_ending = true;
  const auto end = std::chrono::steady_clock::now() + kLongestWait;
  while (inside > 0 && std::chrono::steady_clock::now() < end) {
    const py::gil_scoped_release others;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

}  // namespace

bool is_main_thread() { return syscall(SYS_gettid) == getpid(); }

bool Inside::is_here() { return is_inside; }

void Inside::enter(bool may_stay_out) {
  if (is_inside) return;
  if (is_ending && may_stay_out && !is_main_thread()) {
    PyEval_SaveThread();
    for (;;) pause();
  }
  is_inside = true;
  ++inside;
}

void Inside::leave() {
  is_inside = false;
  --inside;
}

void Inside::wait_at_the_end() {
  py::module_::import("atexit").attr("register")(py::cpp_function(wait_for_all));
  pthread_atfork(nullptr, nullptr, [] { inside = is_inside ? 1 : 0; });  // the others are not in the child
}

}  // namespace ingot::python
