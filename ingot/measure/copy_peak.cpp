// How fast memory can be copied: the limit of models that compute little.
#include "ingot/measure/copy_peak.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <vector>

#include "ingot/base/threads.h"

namespace ingot::measure {

double measure_copy_peak(int threads) {
  constexpr std::int64_t kBytes = std::int64_t{96} << 20;  // beyond every cache of a usual machine
  constexpr std::int64_t kPiece = std::int64_t{1} << 20;
  constexpr int kTrials = 6;
  ThreadPool pool(threads);
  std::vector<char> from(static_cast<std::size_t>(kBytes), 1), to(static_cast<std::size_t>(kBytes), 2);
  double best = 0;
  for (int trial = 0; trial < kTrials; ++trial) {
    const auto start = std::chrono::steady_clock::now();
    pool.parallel_for(kBytes, kPiece, [&](std::int64_t begin, std::int64_t end) {
      std::memcpy(to.data() + begin, from.data() + begin, static_cast<std::size_t>(end - begin));
    });
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    best = std::max(best, 2 * static_cast<double>(kBytes) / seconds.count() / 1e9);
  }
  return best;
}

}  // namespace ingot::measure
