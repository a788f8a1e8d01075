#pragma once
#include <cxxabi.h>
#include <pybind11/pybind11.h>
#include <unistd.h>

#include <optional>

// The interpreter's lock. An interpreter that ends stops the threads that want it, in the midst of C++, where that ends
// the whole process; so these wait until the process is gone, as threads do from Python 3.13 on.

namespace ingot::python {

/// The one on which Python handles signals, and ends.
bool is_main_thread();

template <class F> void or_wait_for_the_end(F&& take_lock) {
  try {
    take_lock();
  } catch (const abi::__forced_unwind&) {
    for (;;) pause();
  }
}

/// A thread that holds the lock in our C++ and calls Python from there, which may give the lock to others for a while.
/// It would be stopped as it takes it again: an interpreter that ends first waits for all that are inside, and who
/// comes then stays outside. For what threads call: `m.def("run", &run, Inside::guard())`; made and gone with the lock
/// held.
class Inside {
 public:
  static auto guard() { return pybind11::call_guard<Inside>(); }
  /// From now on an interpreter that ends waits for them.
  static void wait_at_the_end();

  Inside() : was_inside_(is_here()) { enter(true); }
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;
  ~Inside() {
    if (!was_inside_) leave();
  }

 private:
  friend class WithoutLock;
  friend class WithLock;

  static bool is_here();
  /// Nothing where the thread is inside already. `may_stay_out`: where the interpreter ends, for good.
  static void enter(bool may_stay_out);
  static void leave();

  bool was_inside_;
};

/// Other threads of Python go on while it lives.
class WithoutLock {
 public:
  WithoutLock() : was_inside_(Inside::is_here()) {
    if (was_inside_) Inside::leave();
    state_ = PyEval_SaveThread();
  }
  WithoutLock(const WithoutLock&) = delete;
  WithoutLock& operator=(const WithoutLock&) = delete;
  ~WithoutLock() {
    or_wait_for_the_end([this] { PyEval_RestoreThread(state_); });
    if (was_inside_) Inside::enter(true);
  }

 private:
  bool was_inside_;
  PyThreadState* state_;
};

/// For what is called without the lock, on any thread. `is_short`: it only lets go of something, and others may wait
/// for this thread.
class WithLock {
 public:
  explicit WithLock(bool is_short = false) {
    or_wait_for_the_end([this] { lock_.emplace(); });
    was_inside_ = Inside::is_here();
    Inside::enter(!is_short);
  }
  WithLock(const WithLock&) = delete;
  WithLock& operator=(const WithLock&) = delete;
  ~WithLock() {
    if (!was_inside_) Inside::leave();
  }

 private:
  bool was_inside_ = false;
  std::optional<pybind11::gil_scoped_acquire> lock_{};
};

}  // namespace ingot::python
