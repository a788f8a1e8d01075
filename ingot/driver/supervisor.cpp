// Limits and signals of a whole program.
#include "ingot/driver/supervisor.h"

#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <new>
#include <stdexcept>

#include "ingot/base/atomic_file.h"
#include "ingot/base/budget.h"
#include "ingot/base/mapped_file.h"
#include "ingot/base/threads.h"

namespace ingot::driver {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kAfterSignal{150}, kAfterLimit{150};
constexpr int kLimitReached = 5;  // exit code

Budget* supervised = nullptr;
volatile std::sig_atomic_t first_signal = 0;
volatile std::sig_atomic_t work_asks = 0;
std::atomic<bool> memory_is_limited = false, memory_was_refused = false;

void end_after(milliseconds time) {
  itimerval timer = {};
  timer.it_value.tv_sec = time.count() / 1000;
  timer.it_value.tv_usec = time.count() % 1000 * 1000;
  ::setitimer(ITIMER_REAL, &timer, nullptr);
}

[[noreturn]] void end_now(int code) {
  remove_temporary_files();
  ::_exit(code);
}

template <std::size_t N> void say(const char (&text)[N]) { (void)!::write(STDERR_FILENO, text, N - 1); }

extern "C" void on_signal(int signal) {
  if (first_signal) end_now(128 + signal);
  first_signal = signal;
  if (work_asks) return;
  if (supervised) supervised->cancel();
  end_after(kAfterSignal);
}

extern "C" void on_alarm(int) {
  if (first_signal) end_now(128 + first_signal);
  say("error: the time limit was reached [IG1202]\n  hint: raise --max-time\n");
  end_now(kLimitReached);
}

/// Where operator new finds no memory.
void on_no_memory() {
  memory_was_refused = true;
  throw std::bad_alloc();
}

/// An exception that left a destructor, a function that must not throw, or a thread. Without memory that is nobody's
/// fault. What left a function that must not throw is not told: that memory was refused must do.
[[noreturn]] void on_terminate() {
  if (!std::current_exception() && std::uncaught_exceptions() > 0 && memory_was_refused) end_now(report_no_memory());
  try {
    if (std::current_exception()) std::rethrow_exception(std::current_exception());
  } catch (const std::bad_alloc&) {
    end_now(report_no_memory());
  } catch (...) {
  }
  std::abort();
}

/// Bytes of private memory that may be written, as RLIMIT_DATA counts them; 0 if not known.
[[maybe_unused]] std::uint64_t data_size() {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen("/proc/self/statm", "re"), &std::fclose);
  unsigned long long pages = 0;
  if (!file || std::fscanf(file.get(), "%*u %*u %*u %*u %*u %llu", &pages) != 1) return 0;
  return pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

/// Room for the stacks of the threads that share the work: they are reserved whole and used little.
[[maybe_unused]] std::uint64_t stack_room() {
  rlimit stack = {};
  if (::getrlimit(RLIMIT_STACK, &stack) != 0 || stack.rlim_cur == RLIM_INFINITY) stack.rlim_cur = rlim_t{2} << 20;
  return static_cast<std::uint64_t>(hardware_threads()) * stack.rlim_cur;
}

void limit_memory(std::uint64_t most) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  (void)most;  // their maps of the address space are larger than any limit
#else
  const std::uint64_t used = data_size();
  const std::uint64_t room = most + stack_room() + used;
  rlimit limit = {};
  if (used == 0 || room < most || ::getrlimit(RLIMIT_DATA, &limit) != 0) return;
  limit.rlim_cur = std::min<rlim_t>(room, limit.rlim_max);
  memory_is_limited = ::setrlimit(RLIMIT_DATA, &limit) == 0;
#endif
}

void catch_signal(int signal, void (*handler)(int)) {
  struct sigaction action = {};
  action.sa_handler = handler;
  ::sigemptyset(&action.sa_mask);
  ::sigaction(signal, &action, nullptr);
}

}  // namespace

Supervisor::Supervisor(Budget& budget) : scope_(&budget) {
  supervised = &budget;
  catch_signal(SIGINT, on_signal);
  catch_signal(SIGTERM, on_signal);
  catch_signal(SIGALRM, on_alarm);
  install_sigbus_guard();
  limit_memory(budget.limits().memory);
  const milliseconds time = budget.limits().time;
  if (time < std::chrono::hours(24)) end_after(time + kAfterLimit);
}

Supervisor::~Supervisor() {
  end_after(milliseconds(0));
  supervised = nullptr;
}

void Supervisor::leave_signals_to_the_work() { work_asks = 1; }

int Supervisor::caught_signal() { return first_signal; }

void survive_no_memory() noexcept {
  std::set_terminate(on_terminate);
  std::set_new_handler(on_no_memory);
}

int report_no_memory() noexcept {
  if (memory_is_limited)
    say("error: the memory limit was reached [IG1201]\n  hint: raise --max-memory, or use smaller inputs\n");
  else
    say("error: the system has no memory left [IG1205]\n  hint: a smaller model, or more memory\n");
  return kLimitReached;
}

}  // namespace ingot::driver
