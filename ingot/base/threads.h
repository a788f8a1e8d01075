#pragma once
#include <cstdint>
#include <functional>
#include <memory>

namespace ingot {

/// How many threads the machine, or the container, can run at once; at least 1.
int hardware_threads();

/// Threads that share out loops. One pool may serve many callers at once; a loop inside a loop runs on the thread it
/// is called from.
class ThreadPool {
 public:
  /// `threads` counts the caller's own; 0: hardware_threads().
  explicit ThreadPool(int threads = 0);
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;
  ~ThreadPool();

  int threads() const { return threads_; }

  /// Calls `body(begin, end)` for consecutive pieces of [0, count) of `grain` each (the last may be shorter) and
  /// returns when all are done. The pieces do not depend on the number of threads, so neither do results that are made
  /// piece by piece. If a piece throws, pieces not yet begun are left out and the exception of the first piece that
  /// threw is thrown here.
  using Body = std::function<void(std::int64_t begin, std::int64_t end)>;
  void parallel_for(std::int64_t count, std::int64_t grain, const Body& body);

 private:
  struct Shared;
  int threads_;
  std::unique_ptr<Shared> shared_;
};

}  // namespace ingot
