// A pool of threads behind parallel_for.
#include "ingot/base/threads.h"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace ingot {
namespace {

// Set while this thread works on a piece of a loop.
thread_local bool is_inside_loop = false;

/// Waits awake for a moment, and says whether what is waited for has come. Loops of one model follow each other
/// closely: to fall asleep and be woken takes longer than most of the gaps between them.
template <class Done> bool comes_soon(Done done) {
  constexpr auto kMoment = std::chrono::microseconds(50);
  const auto end = std::chrono::steady_clock::now() + kMoment;
  do {
    for (int i = 0; i < 32; ++i) {
      if (done()) return true;
#ifdef __x86_64__
      __builtin_ia32_pause();
#endif
    }
  } while (std::chrono::steady_clock::now() < end);
  return false;
}

/// One call of parallel_for. The caller and the workers take pieces from it until none is left.
struct Loop {
  const ThreadPool::Body& body;
  const std::int64_t count, grain, pieces;
  std::atomic<std::int64_t> next{0};
  std::atomic<bool> has_failed{false};
  std::atomic<int> helpers{0};  // workers inside; changed under the pool's mutex
  std::mutex failure_mutex = {};
  std::int64_t failed_piece = 0;
  std::exception_ptr failure = nullptr;

  void work() {
    is_inside_loop = true;
    for (std::int64_t piece; (piece = next.fetch_add(1, std::memory_order_relaxed)) < pieces;) {
      if (has_failed.load(std::memory_order_relaxed)) break;
      try {
        body(piece * grain, std::min(count, (piece + 1) * grain));
      } catch (...) {
        const std::lock_guard lock(failure_mutex);
        if (!failure || piece < failed_piece) {
          failed_piece = piece;
          failure = std::current_exception();
        }
        has_failed.store(true, std::memory_order_relaxed);
      }
    }
    is_inside_loop = false;
  }
};

}  // namespace

int hardware_threads() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (::sched_getaffinity(0, sizeof set, &set) == 0) return std::max(1, CPU_COUNT(&set));
  return static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
}

struct ThreadPool::Shared {
  std::mutex mutex;
  std::condition_variable wake, left;
  std::deque<Loop*> loops;   // that still have pieces to give
  std::atomic<int> open{0};  // loops in the list
  std::atomic<bool> ends{false};
  std::vector<std::thread> workers;

  void remove(Loop* loop) { open -= static_cast<int>(std::erase(loops, loop)); }

  void serve() {
    std::unique_lock lock(mutex);
    for (;;) {
      if (loops.empty()) {
        lock.unlock();
        comes_soon([this] { return open.load(std::memory_order_relaxed) > 0 || ends.load(std::memory_order_relaxed); });
        lock.lock();
      }
      wake.wait(lock, [this] { return ends || !loops.empty(); });
      if (ends) return;
      Loop& loop = *loops.front();
      ++loop.helpers;
      lock.unlock();
      loop.work();
      lock.lock();
      remove(&loop);                               // work() returns when no piece is left
      if (--loop.helpers == 0) left.notify_all();  // the loop may be gone now
    }
  }
};

ThreadPool::ThreadPool(int threads) : threads_(threads > 0 ? threads : hardware_threads()) {
  if (threads_ == 1) return;
  shared_ = std::make_unique<Shared>();
  shared_->workers.reserve(static_cast<std::size_t>(threads_ - 1));
  try {
    for (int i = 1; i < threads_; ++i) shared_->workers.emplace_back([s = shared_.get()] { s->serve(); });
  } catch (const std::exception&) {  // no room for another stack: fewer share the work, with the same results
    threads_ = 1 + static_cast<int>(shared_->workers.size());
  }
}

ThreadPool::~ThreadPool() {
  if (!shared_) return;
  {
    const std::lock_guard lock(shared_->mutex);
    shared_->ends = true;
  }
  shared_->wake.notify_all();
  for (std::thread& worker : shared_->workers) worker.join();
}

void ThreadPool::parallel_for(std::int64_t count, std::int64_t grain, const Body& body) {
  if (count <= 0) return;
  grain = std::max<std::int64_t>(1, grain);
  const std::int64_t pieces = count / grain + (count % grain != 0);
  if (!shared_ || is_inside_loop || pieces == 1) {
    for (std::int64_t i = 0; i < pieces; ++i) body(i * grain, std::min(count, (i + 1) * grain));
    return;
  }
  Loop loop{.body = body, .count = count, .grain = grain, .pieces = pieces};
  {
    const std::lock_guard lock(shared_->mutex);
    shared_->loops.push_back(&loop);
    ++shared_->open;
  }
  if (pieces - 1 >= threads_ - 1)
    shared_->wake.notify_all();
  else
    for (std::int64_t i = 1; i < pieces; ++i) shared_->wake.notify_one();
  loop.work();
  {
    const std::lock_guard lock(shared_->mutex);
    shared_->remove(&loop);
  }
  if (!comes_soon([&] { return loop.helpers.load(std::memory_order_acquire) == 0; })) {
    std::unique_lock lock(shared_->mutex);
    shared_->left.wait(lock, [&] { return loop.helpers == 0; });
  }
  if (loop.failure) std::rethrow_exception(loop.failure);
}

}  // namespace ingot
