// Softmax, normalisation and the cells of an LSTM, a vector at a time, for the CPU that runs them.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ingot/engine/kernels/row_math.cpp"
// The first of these includes this file once per kind of CPU: the order counts.
// clang-format off
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

#include "ingot/engine/kernels/vector_functions.inc"

HWY_BEFORE_NAMESPACE();
namespace ingot::engine {
namespace HWY_NAMESPACE {
void next_cells(const float* gates, std::int64_t stride, float* cell, float* h, std::int64_t n) {
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const auto some = [&](const float* g, std::int64_t step, float* state, float* out) {
    const V in = sigmoid_of(hn::LoadU(d, g)), forget = sigmoid_of(hn::LoadU(d, g + 2 * step));
    const V fresh = tanh_of(hn::LoadU(d, g + 3 * step));
    const V now = hn::MulAdd(forget, hn::LoadU(d, state), hn::Mul(in, fresh));
    hn::StoreU(now, d, state);
    hn::StoreU(hn::Mul(sigmoid_of(hn::LoadU(d, g + step)), tanh_of(now)), d, out);
  };
  std::int64_t i = 0;
  for (; i + lanes <= n; i += lanes) some(gates + i, stride, cell + i, h + i);
  if (i == n) return;
  HWY_ALIGN float rest[6 * hn::MaxLanes(d)] = {};
  float *state = rest + 4 * lanes, *out = rest + 5 * lanes;
  for (std::int64_t j = i; j < n; ++j) {
    for (std::int64_t k = 0; k < 4; ++k) rest[k * lanes + j - i] = gates[k * stride + j];
    state[j - i] = cell[j];
  }
  some(rest, lanes, state, out);
  for (std::int64_t j = i; j < n; ++j) {
    cell[j] = state[j - i];
    h[j] = out[j - i];
  }
}

void softmax(const float* x, float* y, std::int64_t n) {
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  std::int64_t i = 0;
  float top = -HUGE_VALF;
  bool has_nan = false;
  if (n >= lanes) {
    V most = hn::LoadU(d, x);
    auto nan = hn::IsNaN(most);
    for (i = lanes; i + lanes <= n; i += lanes) {
      const V v = hn::LoadU(d, x + i);
      nan = hn::Or(nan, hn::IsNaN(v));
      most = hn::Max(most, v);
    }
    has_nan = !hn::AllFalse(d, nan);
    top = hn::GetLane(hn::MaxOfLanes(d, most));
  }
  for (; i < n; ++i) {
    has_nan |= std::isnan(x[i]);
    top = top < x[i] ? x[i] : top;
  }
  if (has_nan || std::isinf(top)) {
    // As the formula says: NaN everywhere, or where infinities meet.
    for (i = 0; i < n; ++i) y[i] = NAN;
    return;
  }
  const V shift = number(top);
  V sums = hn::Zero(d);
  for (i = 0; i + lanes <= n; i += lanes) {
    const V e = exp_of_negative(hn::Sub(hn::LoadU(d, x + i), shift));
    sums = hn::Add(sums, e);
    hn::StoreU(e, d, y + i);
  }
  float sum = hn::GetLane(hn::SumOfLanes(d, sums));
  if (i < n) {
    HWY_ALIGN float rest[hn::MaxLanes(d)] = {};
    for (std::int64_t j = i; j < n; ++j) rest[j - i] = x[j] - top;
    hn::Store(exp_of_negative(hn::Load(d, rest)), d, rest);
    for (std::int64_t j = i; j < n; ++j) {
      sum += rest[j - i];
      y[j] = rest[j - i];
    }
  }
  const V factor = number(1.0f / sum);
  for (i = 0; i + lanes <= n; i += lanes) hn::StoreU(hn::Mul(hn::LoadU(d, y + i), factor), d, y + i);
  for (; i < n; ++i) y[i] *= 1.0f / sum;
}

void normalize(const float* x, const float* scale, const float* bias, float* y, std::int64_t n, float epsilon) {
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const auto total = [&](auto term, auto single) {
    V sums = hn::Zero(d);
    std::int64_t i = 0;
    for (; i + lanes <= n; i += lanes) sums = hn::Add(sums, term(hn::LoadU(d, x + i)));
    float sum = hn::GetLane(hn::SumOfLanes(d, sums));
    for (; i < n; ++i) sum += single(x[i]);
    return sum / static_cast<float>(n);
  };
  const float mean = total([](V v) { return v; }, [](float v) { return v; });
  const V center = number(mean);
  const float variance = total(
      [&](V v) {
        const V away = hn::Sub(v, center);
        return hn::Mul(away, away);
      },
      [&](float v) { return (v - mean) * (v - mean); });
  const float factor = 1.0f / std::sqrt(variance + epsilon);
  const V factors = number(factor);
  std::int64_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    const V v = hn::Mul(hn::Mul(hn::Sub(hn::LoadU(d, x + i), center), factors), hn::LoadU(d, scale + i));
    hn::StoreU(bias ? hn::Add(v, hn::LoadU(d, bias + i)) : v, d, y + i);
  }
  for (; i < n; ++i) y[i] = (x[i] - mean) * factor * scale[i] + (bias ? bias[i] : 0.0f);
}

}  // namespace HWY_NAMESPACE
}  // namespace ingot::engine
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ingot::engine {
namespace {

HWY_EXPORT(next_cells);
HWY_EXPORT(normalize);
HWY_EXPORT(softmax);

}  // namespace

void lstm_cells(const float* gates, std::int64_t stride, float* cell, float* h, std::int64_t n) {
  HWY_DYNAMIC_DISPATCH(next_cells)(gates, stride, cell, h, n);
}

void softmax_row(const float* x, float* y, std::int64_t n) { HWY_DYNAMIC_DISPATCH(softmax)(x, y, n); }

void normalize_row(const float* x, const float* scale, const float* bias, float* y, std::int64_t n, float epsilon) {
  HWY_DYNAMIC_DISPATCH(normalize)(x, scale, bias, y, n, epsilon);
}

}  // namespace ingot::engine
#endif
