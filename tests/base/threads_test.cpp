// Loops over threads.
#include "ingot/base/threads.h"

#include <gtest/gtest.h>

#include <atomic>
#include <mutex>
#include <set>
#include <stdexcept>
#include <thread>
#include <vector>

namespace ingot {
namespace {

TEST(ThreadPool, EveryIndexIsVisitedOnce) {
  for (const int threads : {1, 2, 5}) {
    ThreadPool pool(threads);
    std::vector<std::atomic<int>> visits(1003);
    pool.parallel_for(1003, 10, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) ++visits[static_cast<std::size_t>(i)];
    });
    for (const auto& v : visits) EXPECT_EQ(v, 1);
  }
}

TEST(ThreadPool, PiecesDoNotDependOnTheNumberOfThreads) {
  const auto pieces = [](int threads) {
    ThreadPool pool(threads);
    std::mutex mutex;
    std::set<std::pair<std::int64_t, std::int64_t>> seen;
    pool.parallel_for(25, 7, [&](std::int64_t begin, std::int64_t end) {
      const std::lock_guard lock(mutex);
      seen.emplace(begin, end);
    });
    return seen;
  };
  EXPECT_EQ(pieces(1), pieces(4));
  EXPECT_EQ(pieces(1).size(), 4u);
}

TEST(ThreadPool, TheExceptionOfAPieceComesOut) {
  ThreadPool pool(3);
  EXPECT_THROW(pool.parallel_for(100, 1,
                                 [](std::int64_t begin, std::int64_t) {
                                   if (begin == 50) throw std::runtime_error("50");
                                 }),
               std::runtime_error);
  std::atomic<int> count = 0;
  pool.parallel_for(10, 1, [&](std::int64_t, std::int64_t) { ++count; });
  EXPECT_EQ(count, 10);
}

TEST(ThreadPool, ALoopInsideALoopRuns) {
  ThreadPool pool(2);
  std::atomic<int> count = 0;
  pool.parallel_for(
      8, 1, [&](std::int64_t, std::int64_t) { pool.parallel_for(8, 1, [&](std::int64_t, std::int64_t) { ++count; }); });
  EXPECT_EQ(count, 64);
}

TEST(ThreadPool, ServesManyCallersAtOnce) {
  ThreadPool pool(3);
  std::atomic<std::int64_t> sum = 0;
  std::vector<std::thread> callers;
  for (int t = 0; t < 8; ++t)
    callers.emplace_back([&] {
      for (int round = 0; round < 50; ++round)
        pool.parallel_for(100, 9, [&](std::int64_t begin, std::int64_t end) { sum += end - begin; });
    });
  for (std::thread& t : callers) t.join();
  EXPECT_EQ(sum, 8 * 50 * 100);
}

TEST(ThreadPool, NothingToDoIsDone) {
  ThreadPool pool(2);
  pool.parallel_for(0, 1, [](std::int64_t, std::int64_t) { FAIL(); });
  pool.parallel_for(-1, 1, [](std::int64_t, std::int64_t) { FAIL(); });
}

}  // namespace
}  // namespace ingot
