// Budget: limits and cancellation.
#include "ingot/base/budget.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <string>

#include "ingot/base/error.h"

namespace ingot {
namespace {

using Clock = std::chrono::steady_clock;

// Nesting lives on the stack, which a thread has for itself.
thread_local int depth = 0;

Clock::time_point deadline_after(std::chrono::milliseconds time) {
  const Clock::time_point now = Clock::now();
  if (time >= std::chrono::duration_cast<std::chrono::milliseconds>(Clock::time_point::max() - now))
    return Clock::time_point::max();
  return now + time;
}

std::string size_text(std::uint64_t bytes) {
  if (bytes < 10'000) return fmt::format("{} bytes", bytes);
  const char* const units[] = {"kB", "MB", "GB", "TB", "PB", "EB"};
  double value = static_cast<double>(bytes) / 1000;
  std::size_t unit = 0;
  for (; value >= 10'000 && unit + 1 < std::size(units); ++unit) value /= 1000;
  return fmt::format("{:.0f} {}", value, units[unit]);
}

}  // namespace

Budget::Budget(const Limits& limits) : limits_(limits), deadline_(deadline_after(limits.time)) {}

Budget& Budget::unlimited() {
  static Budget budget(Limits{.nodes = std::numeric_limits<std::uint64_t>::max()});
  return budget;
}

void Budget::charge_memory(std::uint64_t bytes) {
  std::uint64_t used = memory_.load(std::memory_order_relaxed);
  do {
    if (bytes > limits_.memory || used > limits_.memory - bytes)
      throw Error(Code::memory_limit, fmt::format("{} more would exceed the memory limit of {} ({} are in use)",
                                                  size_text(bytes), size_text(limits_.memory), size_text(used)))
          .hint("raise --max-memory, or use smaller inputs");
  } while (!memory_.compare_exchange_weak(used, used + bytes, std::memory_order_relaxed));
  std::uint64_t peak = peak_memory_.load(std::memory_order_relaxed);
  while (peak < used + bytes && !peak_memory_.compare_exchange_weak(peak, used + bytes, std::memory_order_relaxed)) {
  }
}

std::uint64_t Budget::memory() const { return memory_.load(std::memory_order_relaxed); }
std::uint64_t Budget::peak_memory() const { return peak_memory_.load(std::memory_order_relaxed); }

void Budget::cancel() noexcept { cancelled_.store(true, std::memory_order_relaxed); }
bool Budget::cancelled() const noexcept { return cancelled_.load(std::memory_order_relaxed); }

void Budget::release_memory(std::uint64_t bytes) { memory_.fetch_sub(bytes, std::memory_order_relaxed); }

void Budget::charge_nodes(std::uint64_t count) {
  std::uint64_t used = nodes_.load(std::memory_order_relaxed);
  do {
    if (count > limits_.nodes || used > limits_.nodes - count)
      throw Error(Code::node_limit, fmt::format("the model has more than {} nodes", limits_.nodes));
  } while (!nodes_.compare_exchange_weak(used, used + count, std::memory_order_relaxed));
}

void Budget::poll() const {
  if (cancelled()) throw Error(Code::cancelled, "the work was interrupted");
  if (deadline_ != Clock::time_point::max() && Clock::now() >= deadline_)
    throw Error(Code::time_limit,
                fmt::format("the time limit of {} s was reached", std::chrono::duration<double>(limits_.time).count()))
        .hint("raise --max-time");
}

Budget::DepthGuard Budget::enter_depth() const {
  if (depth >= limits_.depth)
    throw Error(Code::depth_limit, fmt::format("the model is nested deeper than {}", limits_.depth));
  ++depth;
  return DepthGuard();
}

Budget::DepthGuard::~DepthGuard() { --depth; }

std::uint64_t physical_memory() {
  const long pages = ::sysconf(_SC_PHYS_PAGES);
  const long page = ::sysconf(_SC_PAGESIZE);
  if (pages <= 0 || page <= 0) return 0;
  std::uint64_t bytes = static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(page);
  std::uint64_t limit = 0;  // reads "max" where there is none, which leaves 0
  if (std::ifstream("/sys/fs/cgroup/memory.max") >> limit && limit > 0) bytes = std::min(bytes, limit);
  return bytes;
}

}  // namespace ingot
