#pragma once
#include <atomic>
#include <chrono>
#include <cstdint>
#include <limits>

namespace ingot {

/// What a piece of work may use; the defaults limit only what no honest model reaches.
struct Limits {
  std::uint64_t memory = std::numeric_limits<std::uint64_t>::max();  // bytes
  std::chrono::milliseconds time = std::chrono::milliseconds::max();
  std::uint64_t nodes = 10'000'000;  // after inlining
  int depth = 100;                   // of nesting on one thread's stack
};

/// Keeps a piece of work within its limits and lets it be cancelled. Parsers, passes and kernels ask it before they
/// allocate, grow or go deeper, and call poll() at each node or every few milliseconds. Safe to share between threads.
/// Whatever it refuses is an Error of the group IG1200.
class Budget {
 public:
  /// The time runs from now on.
  explicit Budget(const Limits& limits = {});
  Budget(const Budget&) = delete;
  Budget& operator=(const Budget&) = delete;

  /// For callers without limits; depth is limited all the same, since the stack is.
  static Budget& unlimited();

  void charge_memory(std::uint64_t bytes);
  void release_memory(std::uint64_t bytes);
  std::uint64_t memory() const;
  std::uint64_t peak_memory() const;

  void charge_nodes(std::uint64_t count);

  /// Throws if the time is over or the work was cancelled.
  void poll() const;
  /// May be called from a signal handler.
  void cancel() noexcept;
  bool cancelled() const noexcept;

  /// One level of nesting, until the guard goes.
  class DepthGuard {
   public:
    DepthGuard(const DepthGuard&) = delete;
    DepthGuard& operator=(const DepthGuard&) = delete;
    ~DepthGuard();

   private:
    friend Budget;
    DepthGuard() = default;
  };
  [[nodiscard]] DepthGuard enter_depth() const;

  /// Memory that is released with the guard.
  class MemoryGuard {
   public:
    MemoryGuard(Budget& budget, std::uint64_t bytes) : budget_(budget), bytes_(bytes) { budget.charge_memory(bytes); }
    MemoryGuard(const MemoryGuard&) = delete;
    MemoryGuard& operator=(const MemoryGuard&) = delete;
    ~MemoryGuard() { budget_.release_memory(bytes_); }

   private:
    Budget& budget_;
    std::uint64_t bytes_;
  };

  const Limits& limits() const { return limits_; }

 private:
  static_assert(std::atomic<bool>::is_always_lock_free, "cancel() is called from signal handlers");

  Limits limits_;
  std::chrono::steady_clock::time_point deadline_;
  std::atomic<std::uint64_t> memory_{0};
  std::atomic<std::uint64_t> peak_memory_{0};
  std::atomic<std::uint64_t> nodes_{0};
  std::atomic<bool> cancelled_{false};
};

/// Bytes of RAM of the machine, or of the container if it has less; 0 if not known.
std::uint64_t physical_memory();

}  // namespace ingot
