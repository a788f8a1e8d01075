#pragma once
#include <cxxabi.h>
#include <pybind11/pybind11.h>
#include <unistd.h>

#include <optional>

// The interpreter's lock. An interpreter that ends stops the threads that want it, in the midst of C++, where that ends
// the whole process; so these wait until the process is gone, as threads do from Python 3.13 on.

namespace ingot::python {

template <class F> void or_wait_for_the_end(F&& take_lock) {
  try {
    take_lock();
  } catch (const abi::__forced_unwind&) {
    for (;;) pause();
  }
}

/// Other threads of Python go on while it lives.
class WithoutLock {
 public:
  WithoutLock() : state_(PyEval_SaveThread()) {}
  WithoutLock(const WithoutLock&) = delete;
  WithoutLock& operator=(const WithoutLock&) = delete;
  ~WithoutLock() {
    or_wait_for_the_end([this] { PyEval_RestoreThread(state_); });
  }

 private:
  PyThreadState* state_;
};

/// For what is called without the lock, on any thread.
class WithLock {
 public:
  WithLock() {
    or_wait_for_the_end([this] { lock_.emplace(); });
  }

 private:
  std::optional<pybind11::gil_scoped_acquire> lock_{};
};

}  // namespace ingot::python
