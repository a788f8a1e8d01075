// The text of a pool of threads.
#include "ingot/backends/cpp/matrix.h"

namespace ingot::backends::cpp {
namespace {

constexpr std::string_view kPool = R"(
#ifdef INGOT_NO_THREADS
static void for_all(int64_t count, void (*work)(void*, int64_t), void* job) {
  for (int64_t i = 0; i < count; ++i) work(job, i);
}
void set_threads(int) {}
#else
// Threads that wait for tasks; the one that calls run() works as well.
struct pool_t {
  std::mutex mutex;
  std::condition_variable wake, done;
  std::vector<std::thread> threads;
  std::atomic<int64_t> next{0};
  void (*work)(void*, int64_t) = nullptr;
  void* job = nullptr;
  int64_t count = 0, round = 0;
  int busy = 0;
  bool ends = false;

  void help() {
    for (int64_t i = next++; i < count; i = next++) work(job, i);
  }
  void wait() {
    int64_t seen = 0;
    for (;;) {
      std::unique_lock<std::mutex> lock(mutex);
      wake.wait(lock, [&] { return ends || round != seen; });
      if (ends) return;
      seen = round;
      lock.unlock();
      help();
      lock.lock();
      if (--busy == 0) done.notify_one();
    }
  }
  void resize(int count_wanted) {
    {
      const std::lock_guard<std::mutex> lock(mutex);
      ends = true;
    }
    wake.notify_all();
    for (std::thread& t : threads) t.join();
    threads.clear();
    ends = false;
    round = 0;
    for (int i = 1; i < count_wanted; ++i) threads.emplace_back([this] { wait(); });
  }
  ~pool_t() { resize(1); }
};
static pool_t pool;

void set_threads(int count) { pool.resize(count); }

static void for_all(int64_t count, void (*work)(void*, int64_t), void* job) {
  if (pool.threads.empty() || count < 2) {
    for (int64_t i = 0; i < count; ++i) work(job, i);
    return;
  }
  {
    const std::lock_guard<std::mutex> lock(pool.mutex);
    pool.work = work;
    pool.job = job;
    pool.count = count;
    pool.next = 0;
    pool.busy = (int)pool.threads.size();
    ++pool.round;
  }
  pool.wake.notify_all();
  pool.help();
  std::unique_lock<std::mutex> lock(pool.mutex);
  pool.done.wait(lock, [] { return pool.busy == 0; });
}
#endif
)";

}  // namespace

std::string_view pool_text() { return kPool; }

}  // namespace ingot::backends::cpp
