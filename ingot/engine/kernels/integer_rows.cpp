// Rows of 8-bit integers on their way into products, and the sums on their way out.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ingot/engine/kernels/integer_rows.cpp"
// The first of these includes this file once per kind of CPU: the order counts.
// clang-format off
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

#include <limits>

#include "ingot/engine/kernels/integer_gemm.h"

HWY_BEFORE_NAMESPACE();
namespace ingot::engine {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

const hn::ScalableTag<std::int32_t> d32;
const hn::ScalableTag<float> df;

#if HWY_TARGET == HWY_SCALAR

template <class A> std::int32_t centre(const A* a, std::int64_t n, std::int32_t zero, std::int16_t* to) {
  std::uint32_t sum = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    to[i] = static_cast<std::int16_t>(a[i] - zero);
    sum += static_cast<std::uint32_t>(to[i]);
  }
  return static_cast<std::int32_t>(sum);
}

#else

/// Returns the sum of what it writes.
template <class A> HWY_INLINE std::int32_t centre(const A* a, std::int64_t n, std::int32_t zero, std::int16_t* to) {
  const hn::Repartition<std::int16_t, decltype(d32)> d16;
  const hn::Rebind<A, decltype(d16)> bytes;
  const std::int64_t lanes = static_cast<std::int64_t>(hn::Lanes(d16));
  const auto offset = hn::Set(d16, static_cast<std::int16_t>(zero)), one = hn::Set(d16, std::int16_t{1});
  auto sums = hn::Zero(d32), rest = hn::Zero(d32);
  std::int64_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    const auto x = hn::Sub(hn::PromoteTo(d16, hn::LoadU(bytes, a + i)), offset);
    hn::StoreU(x, d16, to + i);
    sums = hn::ReorderWidenMulAccumulate(d32, x, one, sums, rest);
  }
  const auto in_lanes = hn::SumOfLanes(d32, hn::RearrangeToOddPlusEven(sums, rest));
  auto sum = static_cast<std::uint32_t>(hn::GetLane(in_lanes));
  for (; i < n; ++i) {
    to[i] = static_cast<std::int16_t>(a[i] - zero);
    sum += static_cast<std::uint32_t>(to[i]);
  }
  return static_cast<std::int32_t>(sum);
}

#endif

std::int32_t centre_row(const void* a, bool is_signed, std::int64_t n, std::int32_t zero, std::int16_t* to) {
  return is_signed ? centre(static_cast<const std::int8_t*>(a), n, zero, to)
                   : centre(static_cast<const std::uint8_t*>(a), n, zero, to);
}

template <class T>
HWY_INLINE void requantize_as(const std::int32_t* sums, std::int64_t n, std::int32_t bias, const float* factors,
                              std::int64_t step, float zero, T* y) {
  const hn::Rebind<T, decltype(d32)> bytes;
  const std::int64_t lanes = static_cast<std::int64_t>(hn::Lanes(d32));
  const auto low = hn::Set(df, static_cast<float>(std::numeric_limits<T>::min()));
  const auto high = hn::Set(df, static_cast<float>(std::numeric_limits<T>::max()));
  const auto offset = hn::Set(df, zero);
  const auto more = hn::Set(d32, bias);
  const auto of = [&](const std::int32_t* from, const float* factor) {
    const auto factor_here = step ? hn::LoadU(df, factor) : hn::Set(df, *factor);
    const auto scaled = hn::Mul(hn::ConvertTo(df, hn::Add(hn::LoadU(d32, from), more)), factor_here);
    const auto rounded = hn::IfThenZeroElse(hn::IsNaN(scaled), hn::Round(scaled));
    return hn::DemoteTo(bytes, hn::ConvertTo(d32, hn::Min(hn::Max(hn::Add(rounded, offset), low), high)));
  };
  std::int64_t i = 0;
  for (; i + lanes <= n; i += lanes) hn::StoreU(of(sums + i, factors + i * step), bytes, y + i);
  if (i == n) return;
  HWY_ALIGN std::int32_t last[hn::MaxLanes(d32)] = {};
  HWY_ALIGN float last_factors[hn::MaxLanes(d32)] = {};
  HWY_ALIGN T results[hn::MaxLanes(d32)] = {};
  for (std::int64_t j = i; j < n; ++j) {
    last[j - i] = sums[j];
    last_factors[j - i] = factors[j * step];
  }
  if (step == 0) last_factors[0] = *factors;
  hn::StoreU(of(last, last_factors), bytes, results);
  for (std::int64_t j = i; j < n; ++j) y[j] = results[j - i];
}

void requantize_row(const std::int32_t* sums, std::int64_t n, std::int32_t bias, const float* factors,
                    std::int64_t step, float zero, bool is_signed, void* y) {
  if (is_signed)
    requantize_as(sums, n, bias, factors, step, zero, static_cast<std::int8_t*>(y));
  else
    requantize_as(sums, n, bias, factors, step, zero, static_cast<std::uint8_t*>(y));
}

template <class T>
HWY_INLINE void quantize_as(const float* x, std::int64_t n, const float* scales, const float* zeros, std::int64_t step,
                            T* y) {
  const hn::Rebind<T, decltype(d32)> bytes;
  const std::int64_t lanes = static_cast<std::int64_t>(hn::Lanes(d32));
  const auto low = hn::Set(df, static_cast<float>(std::numeric_limits<T>::min()));
  const auto high = hn::Set(df, static_cast<float>(std::numeric_limits<T>::max()));
  const auto at = [&](const float* from) { return step ? hn::LoadU(df, from) : hn::Set(df, *from); };
  const auto of = [&](const float* from, const float* scale, const float* zero) {
    const auto quotient = hn::Div(hn::LoadU(df, from), at(scale));
    const auto rounded = hn::IfThenZeroElse(hn::IsNaN(quotient), hn::Round(quotient));
    return hn::DemoteTo(bytes, hn::ConvertTo(d32, hn::Min(hn::Max(hn::Add(rounded, at(zero)), low), high)));
  };
  std::int64_t i = 0;
  for (; i + lanes <= n; i += lanes) hn::StoreU(of(x + i, scales + i * step, zeros + i * step), bytes, y + i);
  if (i == n) return;
  HWY_ALIGN float last[hn::MaxLanes(d32)] = {}, last_scales[hn::MaxLanes(d32)] = {}, last_zeros[hn::MaxLanes(d32)] = {};
  HWY_ALIGN T results[hn::MaxLanes(d32)] = {};
  for (std::int64_t j = i; j < n; ++j) {
    last[j - i] = x[j];
    last_scales[j - i] = scales[j * step];
    last_zeros[j - i] = zeros[j * step];
  }
  hn::StoreU(of(last, last_scales, last_zeros), bytes, results);
  for (std::int64_t j = i; j < n; ++j) y[j] = results[j - i];
}

void quantize_row(const float* x, std::int64_t n, const float* scales, const float* zeros, std::int64_t step,
                  DType type, void* y) {
  if (type == DType::i8) return quantize_as(x, n, scales, zeros, step, static_cast<std::int8_t*>(y));
  if (type == DType::u8) return quantize_as(x, n, scales, zeros, step, static_cast<std::uint8_t*>(y));
  if (type == DType::i16) return quantize_as(x, n, scales, zeros, step, static_cast<std::int16_t*>(y));
  quantize_as(x, n, scales, zeros, step, static_cast<std::uint16_t*>(y));
}

template <class T>
HWY_INLINE void dequantize_as(const T* x, std::int64_t n, const float* scales, const float* zeros, std::int64_t step,
                              float* y) {
  const hn::Rebind<T, decltype(d32)> bytes;
  const std::int64_t lanes = static_cast<std::int64_t>(hn::Lanes(d32));
  const auto at = [&](const float* from) { return step ? hn::LoadU(df, from) : hn::Set(df, *from); };
  const auto as_words = [](auto v) {
    if constexpr (sizeof(T) == sizeof(std::int32_t))
      return v;
    else
      return hn::PromoteTo(d32, v);
  };
  std::int64_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    const auto number = hn::ConvertTo(df, as_words(hn::LoadU(bytes, x + i)));
    hn::StoreU(hn::Mul(hn::Sub(number, at(zeros + i * step)), at(scales + i * step)), df, y + i);
  }
  for (; i < n; ++i) y[i] = (static_cast<float>(x[i]) - zeros[i * step]) * scales[i * step];
}

void dequantize_row(const void* x, DType type, std::int64_t n, const float* scales, const float* zeros,
                    std::int64_t step, float* y) {
  if (type == DType::i8) return dequantize_as(static_cast<const std::int8_t*>(x), n, scales, zeros, step, y);
  if (type == DType::u8) return dequantize_as(static_cast<const std::uint8_t*>(x), n, scales, zeros, step, y);
  if (type == DType::i32) return dequantize_as(static_cast<const std::int32_t*>(x), n, scales, zeros, step, y);
  if (type == DType::i16) return dequantize_as(static_cast<const std::int16_t*>(x), n, scales, zeros, step, y);
  dequantize_as(static_cast<const std::uint16_t*>(x), n, scales, zeros, step, y);
}

bool range_of(const float* x, std::int64_t n, float* low, float* high) {
  const std::int64_t lanes = static_cast<std::int64_t>(hn::Lanes(df));
  auto least = hn::Zero(df), most = hn::Zero(df);
  auto nan = hn::IsNaN(least);
  std::int64_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    const auto v = hn::LoadU(df, x + i);
    nan = hn::Or(nan, hn::IsNaN(v));
    least = hn::Min(least, v);
    most = hn::Max(most, v);
  }
  *low = hn::GetLane(hn::MinOfLanes(df, least));
  *high = hn::GetLane(hn::MaxOfLanes(df, most));
  bool is_number = hn::AllFalse(df, nan);
  for (; i < n; ++i) {
    is_number &= x[i] == x[i];
    *low = x[i] < *low ? x[i] : *low;
    *high = x[i] > *high ? x[i] : *high;
  }
  return is_number;
}

template <class T>
HWY_INLINE void add_scaled_as(const T* x, std::int32_t zero, std::int32_t weight, std::int32_t* to, std::int64_t n) {
  const hn::Rebind<T, decltype(d32)> bytes;
  const std::int64_t lanes = static_cast<std::int64_t>(hn::Lanes(d32));
  const auto offset = hn::Set(d32, zero), factor = hn::Set(d32, weight);
  std::int64_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    const auto centred = hn::Sub(hn::PromoteTo(d32, hn::LoadU(bytes, x + i)), offset);
    hn::StoreU(hn::Add(hn::LoadU(d32, to + i), hn::Mul(centred, factor)), d32, to + i);
  }
  for (; i < n; ++i)
    to[i] = static_cast<std::int32_t>(static_cast<std::uint32_t>(to[i]) +
                                      static_cast<std::uint32_t>(weight * (x[i] - zero)));
}

void add_scaled_row(const void* x, bool is_signed, std::int32_t zero, std::int32_t weight, std::int32_t* to,
                    std::int64_t n) {
  if (is_signed)
    add_scaled_as(static_cast<const std::int8_t*>(x), zero, weight, to, n);
  else
    add_scaled_as(static_cast<const std::uint8_t*>(x), zero, weight, to, n);
}

}  // namespace HWY_NAMESPACE
}  // namespace ingot::engine
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include <algorithm>

#include "ingot/base/threads.h"
#include "ingot/engine/pages.h"

namespace ingot::engine {
namespace {

HWY_EXPORT(add_scaled_row);
HWY_EXPORT(centre_row);
HWY_EXPORT(dequantize_row);
HWY_EXPORT(quantize_row);
HWY_EXPORT(range_of);
HWY_EXPORT(requantize_row);

constexpr std::int64_t kElements = 1 << 16;  // that one piece of work centres

}  // namespace

std::uint64_t CentredRows::byte_size(std::int64_t rows, std::int64_t depth) {
  return static_cast<std::uint64_t>(rows * (depth + depth % 2)) * sizeof(std::int16_t);
}

CentredRows::CentredRows(const void* a, DType type, std::int64_t rows, std::int64_t depth,
                         const std::vector<std::int32_t>& zeros, ThreadPool& pool, const Budget& budget)
    : rows_(rows),
      depth_(depth),
      elements_(take_pages(static_cast<std::size_t>(byte_size(rows, depth)))),
      sums_(static_cast<std::size_t>(rows)) {
  const auto centre = HWY_DYNAMIC_DISPATCH(centre_row);
  pool.parallel_for(rows, std::max<std::int64_t>(1, kElements / std::max<std::int64_t>(1, depth)),
                    [&](std::int64_t begin, std::int64_t end) {
                      budget.poll();
                      for (std::int64_t i = begin; i < end; ++i) {
                        const auto at = static_cast<std::size_t>(i);
                        const std::int32_t zero = zeros.empty() ? 0 : zeros[zeros.size() == 1 ? 0 : at];
                        std::int16_t* to = elements() + i * stride();
                        sums_[at] =
                            centre(static_cast<const std::byte*>(a) + i * depth, type == DType::i8, depth, zero, to);
                        if (depth % 2) to[depth] = 0;
                      }
                    });
}

void requantize(const std::int32_t* sums, std::int64_t n, std::int32_t bias, const float* factors, std::int64_t step,
                float zero, DType type, void* y) {
  HWY_DYNAMIC_DISPATCH(requantize_row)(sums, n, bias, factors, step, zero, type == DType::i8, y);
}

void quantize(const float* x, std::int64_t n, const float* scales, const float* zeros, std::int64_t step, DType type,
              void* y) {
  HWY_DYNAMIC_DISPATCH(quantize_row)(x, n, scales, zeros, step, type, y);
}

void dequantize(const void* x, DType type, std::int64_t n, const float* scales, const float* zeros, std::int64_t step,
                float* y) {
  HWY_DYNAMIC_DISPATCH(dequantize_row)(x, type, n, scales, zeros, step, y);
}

bool find_range(const float* x, std::int64_t n, float& low, float& high) {
  return HWY_DYNAMIC_DISPATCH(range_of)(x, n, &low, &high);
}

void add_scaled(const void* x, bool is_signed, std::int32_t zero, std::int32_t weight, std::int32_t* to,
                std::int64_t n) {
  HWY_DYNAMIC_DISPATCH(add_scaled_row)(x, is_signed, zero, weight, to, n);
}

}  // namespace ingot::engine
#endif
