// Sums over channels and lines through them, a vector at a time, for the CPU that runs them.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ingot/engine/kernels/channel_math.cpp"
// The first of these includes this file once per kind of CPU: the order counts.
// clang-format off
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

#include "ingot/engine/kernels/channel_math.h"

#include <cmath>

HWY_BEFORE_NAMESPACE();
namespace ingot::engine {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

const hn::ScalableTag<float> d;
const hn::ScalableTag<double> wide;
const hn::Rebind<float, decltype(wide)> half;
using V = hn::Vec<decltype(d)>;
using W = hn::Vec<decltype(wide)>;

HWY_INLINE double total(W a, W b) { return hn::GetLane(hn::SumOfLanes(wide, hn::Add(a, b))); }

double plain_sum(const float* x, std::int64_t n) {
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(wide));
  W a = hn::Zero(wide), b = hn::Zero(wide);
  std::int64_t i = 0;
  for (; i + 2 * lanes <= n; i += 2 * lanes) {
    a = hn::Add(a, hn::PromoteTo(wide, hn::LoadU(half, x + i)));
    b = hn::Add(b, hn::PromoteTo(wide, hn::LoadU(half, x + i + lanes)));
  }
  double sum = total(a, b);
  for (; i < n; ++i) sum += static_cast<double>(x[i]);
  return sum;
}

double square_sum(const float* x, std::int64_t n, float mean) {
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(wide));
  const W center = hn::Set(wide, static_cast<double>(mean));
  W a = hn::Zero(wide), b = hn::Zero(wide);
  std::int64_t i = 0;
  for (; i + 2 * lanes <= n; i += 2 * lanes) {
    const W u = hn::Sub(hn::PromoteTo(wide, hn::LoadU(half, x + i)), center);
    const W v = hn::Sub(hn::PromoteTo(wide, hn::LoadU(half, x + i + lanes)), center);
    a = hn::MulAdd(u, u, a);
    b = hn::MulAdd(v, v, b);
  }
  double sum = total(a, b);
  for (; i < n; ++i) {
    const double u = static_cast<double>(x[i]) - static_cast<double>(mean);
    sum += u * u;
  }
  return sum;
}

void each_row(const float* x, std::int64_t rows, std::int64_t n, bool squares, double* sums) {
  for (std::int64_t r = 0; r < rows; ++r) sums[r] = squares ? square_sum(x + r * n, n, 0) : plain_sum(x + r * n, n);
}

/// kRows rows after each other: a sum goes to memory once for all of them.
template <int kRows>
HWY_INLINE void sum_some_rows(const float* HWY_RESTRICT x, std::int64_t stride, std::int64_t n, bool squares,
                              double* HWY_RESTRICT sums) {
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(wide));
  std::int64_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    W sum = hn::LoadU(wide, sums + i);
    HWY_UNROLL(4)
    for (int r = 0; r < kRows; ++r) {
      const W v = hn::PromoteTo(wide, hn::LoadU(half, x + r * stride + i));
      sum = squares ? hn::MulAdd(v, v, sum) : hn::Add(v, sum);
    }
    hn::StoreU(sum, wide, sums + i);
  }
  for (; i < n; ++i)
    for (int r = 0; r < kRows; ++r) {
      const double v = x[r * stride + i];
      sums[i] += squares ? v * v : v;
    }
}

void sum_rows(const float* x, std::int64_t rows, std::int64_t stride, std::int64_t n, bool squares, double* sums) {
  constexpr int kAtOnce = 4;
  std::int64_t r = 0;
  for (; r + kAtOnce <= rows; r += kAtOnce) sum_some_rows<kAtOnce>(x + r * stride, stride, n, squares, sums);
  for (; r < rows; ++r) sum_some_rows<1>(x + r * stride, stride, n, squares, sums);
}

/// Four sums of each channel: one alone would wait for itself.
void blocks_sum(const float* x, std::int64_t n, double* sums) {
  const hn::CappedTag<double, 8> some;
  const hn::Rebind<float, decltype(some)> narrow;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(some));
  for (std::int64_t part = 0; part < 8; part += lanes) {
    const auto at = [&](std::int64_t i) { return hn::PromoteTo(some, hn::LoadU(narrow, x + i * 8 + part)); };
    auto a = hn::Zero(some), b = a, c = a, e = a;
    std::int64_t i = 0;
    for (; i + 4 <= n; i += 4) {
      a = hn::Add(a, at(i));
      b = hn::Add(b, at(i + 1));
      c = hn::Add(c, at(i + 2));
      e = hn::Add(e, at(i + 3));
    }
    for (; i < n; ++i) a = hn::Add(a, at(i));
    hn::StoreU(hn::Add(hn::Add(a, b), hn::Add(c, e)), some, sums + part);
  }
}

void blocks_mix(const float* x, const BlockTaps& t, float* y, std::int64_t n) {
  const hn::CappedTag<float, 8> block;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(block));
  const std::int64_t* place = t.places;
  const float* weight = t.weights;
  for (std::int64_t i = 0; i < n; ++i, place += t.taps, weight += t.taps)
    for (std::int64_t part = 0; part < 8; part += lanes) {
      auto sum = hn::Zero(block);
      for (std::int64_t k = 0; k < t.taps; ++k)
        if (weight[k] != 0) sum = hn::MulAdd(hn::Set(block, weight[k]), hn::LoadU(block, x + place[k] * 8 + part), sum);
      hn::StoreU(sum, block, y + i * 8 + part);
    }
}

bool finite(const float* x, std::int64_t n) {
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  V most = hn::Zero(d);
  // x * 0 is 0, or NaN, which no sum loses.
  std::int64_t i = 0;
  for (; i + lanes <= n; i += lanes) most = hn::MulAdd(hn::LoadU(d, x + i), hn::Zero(d), most);
  float sum = hn::GetLane(hn::SumOfLanes(d, most));
  for (; i < n; ++i) sum += x[i] * 0.0f;
  return sum == 0.0f;
}

// With the bits of the single steps.
void mix(const float* x, float a, const float* y, float b, float* z, std::int64_t n) {
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const V by_x = hn::Set(d, a), by_y = hn::Set(d, b);
  std::int64_t i = 0;
  for (; i + lanes <= n; i += lanes)
    hn::StoreU(hn::Add(hn::Mul(hn::LoadU(d, x + i), by_x), hn::Mul(hn::LoadU(d, y + i), by_y)), d, z + i);
  for (; i < n; ++i) z[i] = x[i] * a + y[i] * b;
}

void step_down(const Descent& how, const float* p, const float* m, const float* v, float* z, std::int64_t n) {
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const V size = hn::Set(d, how.size), epsilon = hn::Set(d, how.epsilon), rate = hn::Set(d, how.rate);
  std::int64_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    const V spread = hn::Add(hn::Div(hn::Sqrt(hn::LoadU(d, v + i)), size), epsilon);
    hn::StoreU(hn::Sub(hn::LoadU(d, p + i), hn::Mul(hn::Div(hn::LoadU(d, m + i), spread), rate)), d, z + i);
  }
  for (; i < n; ++i) z[i] = p[i] - m[i] / (std::sqrt(v[i]) / how.size + how.epsilon) * how.rate;
}

void channel_line(const ChannelLine& line, const float* x, const float* added, float* y, std::int64_t n) {
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const V mean = hn::Set(d, line.mean), factor = hn::Set(d, line.factor), offset = hn::Set(d, line.offset);
  const V low = hn::Set(d, line.low), high = hn::Set(d, line.high);
  const auto at = [&](V v, V more) {
    V z = hn::Add(hn::MulAdd(hn::Sub(v, mean), factor, offset), more);
    // Written so that NaN passes both comparisons.
    z = hn::IfThenElse(hn::Lt(z, low), low, z);
    return hn::IfThenElse(hn::Gt(z, high), high, z);
  };
  std::int64_t i = 0;
  for (; i + lanes <= n; i += lanes)
    hn::StoreU(at(hn::LoadU(d, x + i), added ? hn::LoadU(d, added + i) : hn::Zero(d)), d, y + i);
  HWY_ALIGN float u[hn::MaxLanes(d)] = {}, v[hn::MaxLanes(d)] = {};
  if (i == n) return;
  for (std::int64_t j = i; j < n; ++j) {
    u[j - i] = x[j];
    v[j - i] = added ? added[j] : 0;
  }
  hn::Store(at(hn::Load(d, u), hn::Load(d, v)), d, u);
  for (std::int64_t j = i; j < n; ++j) y[j] = u[j - i];
}

GradientSums arriving_sums(const Arriving& g, const float* x, std::int64_t n, float mean) {
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(wide));
  const W center = hn::Set(wide, static_cast<double>(mean));
  W a = hn::Zero(wide), b = hn::Zero(wide);
  std::int64_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    auto dy = hn::LoadU(half, g.dy + i);
    if (g.gate) dy = hn::IfThenElseZero(hn::Gt(hn::LoadU(half, g.gate + i), hn::Zero(half)), dy);
    const W arrives = hn::PromoteTo(wide, dy);
    a = hn::Add(a, arrives);
    b = hn::MulAdd(arrives, hn::Sub(hn::PromoteTo(wide, hn::LoadU(half, x + i)), center), b);
  }
  GradientSums sums{hn::GetLane(hn::SumOfLanes(wide, a)), hn::GetLane(hn::SumOfLanes(wide, b))};
  for (; i < n; ++i) {
    if (g.gate && !(g.gate[i] > 0)) continue;
    sums.plain += static_cast<double>(g.dy[i]);
    sums.weighted += static_cast<double>(g.dy[i]) * (static_cast<double>(x[i]) - static_cast<double>(mean));
  }
  return sums;
}

void gradient_line(const GradientLine& line, const Arriving& g, const float* x, float* dx, std::int64_t n) {
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const V mean = hn::Set(d, line.mean), by_arriving = hn::Set(d, line.by_arriving);
  const V by_deviation = hn::Set(d, line.by_deviation), offset = hn::Set(d, line.offset);
  std::int64_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    V dy = hn::LoadU(d, g.dy + i);
    if (g.gate) dy = hn::IfThenElseZero(hn::Gt(hn::LoadU(d, g.gate + i), hn::Zero(d)), dy);
    const V away = hn::MulAdd(hn::Sub(hn::LoadU(d, x + i), mean), by_deviation, offset);
    hn::StoreU(hn::MulAdd(dy, by_arriving, away), d, dx + i);
  }
  for (; i < n; ++i) {
    const float dy = !g.gate || g.gate[i] > 0 ? g.dy[i] : 0;
    dx[i] = dy * line.by_arriving + ((x[i] - line.mean) * line.by_deviation + line.offset);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace ingot::engine
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ingot::engine {
namespace {

HWY_EXPORT(plain_sum);
HWY_EXPORT(square_sum);
HWY_EXPORT(channel_line);
HWY_EXPORT(mix);
HWY_EXPORT(step_down);
HWY_EXPORT(each_row);
HWY_EXPORT(sum_rows);
HWY_EXPORT(blocks_sum);
HWY_EXPORT(blocks_mix);
HWY_EXPORT(finite);
HWY_EXPORT(arriving_sums);
HWY_EXPORT(gradient_line);

}  // namespace

double sum_of(const float* x, std::int64_t n) { return HWY_DYNAMIC_DISPATCH(plain_sum)(x, n); }
double squares_about(const float* x, std::int64_t n, float mean) {
  return HWY_DYNAMIC_DISPATCH(square_sum)(x, n, mean);
}
void sum_each_row(const float* x, std::int64_t rows, std::int64_t n, bool squares, double* sums) {
  HWY_DYNAMIC_DISPATCH(each_row)(x, rows, n, squares, sums);
}
void add_rows(const float* x, std::int64_t rows, std::int64_t stride, std::int64_t n, bool squares, double* sums) {
  HWY_DYNAMIC_DISPATCH(sum_rows)(x, rows, stride, n, squares, sums);
}
void sum_blocks(const float* x, std::int64_t n, double* sums) { HWY_DYNAMIC_DISPATCH(blocks_sum)(x, n, sums); }
void mix_blocks(const float* x, const BlockTaps& taps, float* y, std::int64_t n) {
  HWY_DYNAMIC_DISPATCH(blocks_mix)(x, taps, y, n);
}
bool is_all_finite(const float* x, std::int64_t n) { return HWY_DYNAMIC_DISPATCH(finite)(x, n); }
void blend(const float* x, float a, const float* y, float b, float* z, std::int64_t n) {
  HWY_DYNAMIC_DISPATCH(mix)(x, a, y, b, z, n);
}
void descend(const Descent& how, const float* p, const float* m, const float* v, float* z, std::int64_t n) {
  HWY_DYNAMIC_DISPATCH(step_down)(how, p, m, v, z, n);
}
void line_of_channel(const ChannelLine& line, const float* x, const float* added, float* y, std::int64_t n) {
  HWY_DYNAMIC_DISPATCH(channel_line)(line, x, added, y, n);
}
GradientSums gradient_sums(const Arriving& g, const float* x, std::int64_t n, float mean) {
  return HWY_DYNAMIC_DISPATCH(arriving_sums)(g, x, n, mean);
}
void gradient_of_channel(const GradientLine& line, const Arriving& g, const float* x, float* dx, std::int64_t n) {
  HWY_DYNAMIC_DISPATCH(gradient_line)(line, g, x, dx, n);
}

}  // namespace ingot::engine
#endif
