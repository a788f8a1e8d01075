#include "ingot/base/budget.h"

#include <thread>
#include <vector>

#include "ingot/base/error.h"

namespace ingot {
namespace {

template <class F> Code code_of(F&& f) {
  try {
    f();
  } catch (const Error& error) {
    EXPECT_EQ(error.exit_code(), 5);
    return error.code();
  }
  return Code{};
}

TEST(Budget, MemoryUpToTheLimitIsGranted) {
  Budget budget({.memory = 100});
  budget.charge_memory(60);
  budget.charge_memory(40);
  EXPECT_EQ(code_of([&] { budget.charge_memory(1); }), Code::memory_limit);
  budget.release_memory(40);
  EXPECT_EQ(budget.memory(), 60u) << "a refused charge counts nothing";
  budget.charge_memory(10);
  EXPECT_EQ(budget.peak_memory(), 100u);
}

TEST(Budget, HugeChargesDoNotWrap) {
  Budget budget({.memory = 100});
  budget.charge_memory(50);
  EXPECT_EQ(code_of([&] { budget.charge_memory(UINT64_MAX); }), Code::memory_limit);
  EXPECT_EQ(code_of([&] { budget.charge_memory(UINT64_MAX - 49); }), Code::memory_limit);
  EXPECT_EQ(code_of([&] { budget.charge_nodes(UINT64_MAX); }), Code::node_limit);
}

TEST(Budget, MessageSaysHowMuch) {
  Budget budget({.memory = 2'000'000'000});
  try {
    budget.charge_memory(std::uint64_t{1} << 40);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.message(), "1100 GB more would exceed the memory limit of 2000 MB (0 bytes are in use)");
  }
}

TEST(Budget, MemoryGuardGivesBack) {
  Budget budget({.memory = 100});
  {
    const Budget::MemoryGuard guard(budget, 100);
    EXPECT_EQ(budget.memory(), 100u);
  }
  EXPECT_EQ(budget.memory(), 0u);
}

TEST(Budget, CountsNodes) {
  Budget budget({.nodes = 10});
  budget.charge_nodes(10);
  EXPECT_EQ(code_of([&] { budget.charge_nodes(1); }), Code::node_limit);
}

TEST(Budget, LimitsDepth) {
  Budget budget({.depth = 3});
  std::function<int(int)> descend = [&](int level) {
    const auto guard = budget.enter_depth();
    return level == 0 ? 0 : 1 + descend(level - 1);
  };
  EXPECT_EQ(descend(2), 2);
  EXPECT_EQ(code_of([&] { descend(3); }), Code::depth_limit);
  EXPECT_EQ(descend(2), 2) << "the failed descent left nothing behind";
}

TEST(Budget, DepthIsCountedPerThread) {
  Budget budget({.depth = 1});
  const auto guard = budget.enter_depth();
  Code code = Code::internal;
  std::thread([&] { code = code_of([&] { const auto inner = budget.enter_depth(); }); }).join();
  EXPECT_EQ(code, Code{});
}

TEST(Budget, StopsWhenTheTimeIsOver) {
  Budget budget({.time = std::chrono::milliseconds(20)});
  EXPECT_NO_THROW(budget.poll());
  std::this_thread::sleep_for(std::chrono::milliseconds(30));
  EXPECT_EQ(code_of([&] { budget.poll(); }), Code::time_limit);
}

TEST(Budget, StopsWhenCancelled) {
  Budget budget;
  EXPECT_NO_THROW(budget.poll());
  budget.cancel();
  EXPECT_EQ(code_of([&] { budget.poll(); }), Code::cancelled);
}

TEST(Budget, UnlimitedRefusesNothingButDepth) {
  Budget& budget = Budget::unlimited();
  budget.charge_memory(std::uint64_t{1} << 62);
  budget.release_memory(std::uint64_t{1} << 62);
  budget.charge_nodes(std::uint64_t{1} << 62);
  budget.poll();
  EXPECT_LT(budget.limits().depth, 10000);
}

TEST(Budget, ThreadsTogetherStayWithinTheLimit) {
  Budget budget({.memory = 1000});
  std::atomic<int> granted = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 1000; ++i) granted += code_of([&] { budget.charge_memory(1); }) == Code{};
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(granted, 1000);
  EXPECT_EQ(budget.memory(), 1000u);
  EXPECT_EQ(budget.peak_memory(), 1000u);
}

TEST(PhysicalMemory, IsKnownHere) { EXPECT_GT(physical_memory(), std::uint64_t{1} << 26); }

}  // namespace
}  // namespace ingot
