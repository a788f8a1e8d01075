// What the machine can do at most: a loop of independent multiply-adds in registers.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ingot/measure/fma_peak.cpp"
// The first of these includes this file once per kind of CPU: the order counts.
// clang-format off
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

#include "ingot/measure/fma_peak.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <vector>

#include "ingot/base/threads.h"

HWY_BEFORE_NAMESPACE();
namespace ingot::measure {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Ten chains hide the latency of an addition on every CPU that matters and fit the registers of AVX2.
double multiply_add(std::int64_t rounds, float* result) {
  const hn::ScalableTag<float> d;
  const auto a = hn::Set(d, 0.999999f), b = hn::Set(d, 0.000001f);
  auto x0 = hn::Set(d, 1.0f), x1 = x0, x2 = x0, x3 = x0, x4 = x0, x5 = x0, x6 = x0, x7 = x0, x8 = x0, x9 = x0;
  for (std::int64_t i = 0; i < rounds; ++i) {
    x0 = hn::MulAdd(x0, a, b);
    x1 = hn::MulAdd(x1, a, b);
    x2 = hn::MulAdd(x2, a, b);
    x3 = hn::MulAdd(x3, a, b);
    x4 = hn::MulAdd(x4, a, b);
    x5 = hn::MulAdd(x5, a, b);
    x6 = hn::MulAdd(x6, a, b);
    x7 = hn::MulAdd(x7, a, b);
    x8 = hn::MulAdd(x8, a, b);
    x9 = hn::MulAdd(x9, a, b);
  }
  const auto s = hn::Add(hn::Add(hn::Add(x0, x1), hn::Add(x2, x3)), hn::Add(hn::Add(x4, x5), hn::Add(x6, x7)));
  *result = hn::GetLane(hn::Add(s, hn::Add(x8, x9)));  // so that the loop cannot be left out
  return 2.0 * 10 * static_cast<double>(hn::Lanes(d)) * static_cast<double>(rounds);
}

}  // namespace HWY_NAMESPACE
}  // namespace ingot::measure
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ingot::measure {

HWY_EXPORT(multiply_add);

double measure_fma_peak(int threads) {
  constexpr std::int64_t kRounds = 2'000'000;  // some milliseconds
  constexpr int kTrials = 12;
  ThreadPool pool(threads);
  std::vector<float> results(static_cast<std::size_t>(threads));
  std::vector<double> operations(static_cast<std::size_t>(threads));
  double best = 0;
  for (int trial = 0; trial < kTrials; ++trial) {
    const auto start = std::chrono::steady_clock::now();
    pool.parallel_for(threads, 1, [&](std::int64_t begin, std::int64_t) {
      const auto i = static_cast<std::size_t>(begin);
      operations[i] = HWY_DYNAMIC_DISPATCH(multiply_add)(kRounds, &results[i]);
    });
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    double sum = 0;
    for (const double n : operations) sum += n;
    best = std::max(best, sum / seconds.count() / 1e9);
  }
  return best;
}

}  // namespace ingot::measure
#endif
