// Loops over bytes whose channels are last.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ingot/engine/kernels/byte_tiles.cpp"
// The first of these includes this file once per kind of CPU: the order counts.
// clang-format off
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

#include "ingot/engine/kernels/byte_tiles.h"

#include <cmath>
#include <cstring>

HWY_BEFORE_NAMESPACE();
namespace ingot::engine {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

const hn::ScalableTag<std::int32_t> d32;
const hn::ScalableTag<float> df;
const hn::ScalableTag<std::uint8_t> d8;

#if HWY_TARGET == HWY_SCALAR

void multiply_pairs(const ByteTiles& t) {
  const std::int64_t columns = t.panel_count * kByteColumns;
  for (std::int64_t r = 0; r < t.count; ++r)
    for (std::int64_t j = 0; j < columns; ++j) {
      const std::int8_t* b = t.panels + j / kByteColumns * t.panel_stride + j % kByteColumns * 4;
      std::int32_t sum = 0;
      for (std::int64_t k = 0; k < 4 * t.quads; ++k)
        sum += t.rows[r * t.row_stride + k] * b[k / 4 * kByteColumns * 4 + k % 4];
      t.sums[r * columns + j] = sum;
    }
}

void slide_bytes(const ByteSlide& p) {
  const std::int64_t wide = (p.channels + kByteColumns - 1) / kByteColumns * kByteColumns;
  for (std::int64_t i = 0; i < p.count; ++i)
    for (std::int64_t c = 0; c < p.channels; ++c) {
      const std::int16_t* w = p.weights + c / kByteColumns * kByteColumns * (p.tap_count + p.tap_count % 2);
      std::int32_t sum = 0;
      for (std::int64_t t = 0; t < p.tap_count; ++t)
        sum += p.x[i * p.step + p.taps[t] + c] * w[t / 2 * 2 * kByteColumns + c % kByteColumns * 2 + t % 2];
      p.sums[i * wide + c] = sum;
    }
}

#else

// Vectors of at most sixteen numbers: one covers a group of channels, or four columns of weights.
const hn::CappedTag<std::int16_t, 16> d16;
const hn::RepartitionToWide<decltype(d16)> dsum;
constexpr std::int64_t kLanes = static_cast<std::int64_t>(hn::MaxLanes(d16));

/// R rows times a panel. A sum of a column is made of two neighbours.
template <int R>
HWY_INLINE void tile(const std::uint8_t* rows, std::int64_t stride, const std::int8_t* panel, std::int64_t quads,
                     std::int32_t* sums, std::int64_t sums_stride) {
  constexpr int kVectors = static_cast<int>(kByteColumns * 4 / kLanes);
  const hn::Rebind<std::int8_t, decltype(d16)> weights;
  const hn::Rebind<std::uint8_t, decltype(d16)> bytes;
  const hn::Repartition<std::int32_t, decltype(bytes)> words;
  using V = hn::Vec<decltype(dsum)>;
  V sum[R][kVectors], rest[R][kVectors];
  HWY_UNROLL(2)
  for (int r = 0; r < R; ++r) {
    HWY_UNROLL(8)
    for (int j = 0; j < kVectors; ++j) sum[r][j] = rest[r][j] = hn::Zero(dsum);
  }
  for (std::int64_t q = 0; q < quads; ++q, panel += kByteColumns * 4) {
    HWY_UNROLL(2)
    for (int r = 0; r < R; ++r) {
      std::int32_t quad;
      std::memcpy(&quad, rows + r * stride + 4 * q, sizeof(quad));
      const auto x = hn::BitCast(d16, hn::PromoteTo(d16, hn::BitCast(bytes, hn::Set(words, quad))));
      HWY_UNROLL(8)
      for (int j = 0; j < kVectors; ++j) {
        const auto w = hn::PromoteTo(d16, hn::LoadU(weights, panel + j * kLanes));
        sum[r][j] = hn::ReorderWidenMulAccumulate(dsum, x, w, sum[r][j], rest[r][j]);
      }
    }
  }
  HWY_ALIGN std::int32_t halves[2 * kByteColumns];
  for (int r = 0; r < R; ++r) {
    HWY_UNROLL(8)
    for (int j = 0; j < kVectors; ++j)
      hn::Store(hn::RearrangeToOddPlusEven(sum[r][j], rest[r][j]), dsum, halves + j * kLanes / 2);
    for (std::int64_t j = 0; j < kByteColumns; ++j) sums[r * sums_stride + j] = halves[2 * j] + halves[2 * j + 1];
  }
}

void multiply_pairs(const ByteTiles& t) {
  const std::int64_t stride = t.panel_count * kByteColumns;
  for (std::int64_t p = 0; p < t.panel_count; ++p) {
    const std::int8_t* panel = t.panels + p * t.panel_stride;
    std::int64_t r = 0;
    for (; r + 2 <= t.count; r += 2)
      tile<2>(t.rows + r * t.row_stride, t.row_stride, panel, t.quads, t.sums + r * stride + p * kByteColumns, stride);
    if (r < t.count)
      tile<1>(t.rows + r * t.row_stride, t.row_stride, panel, t.quads, t.sums + r * stride + p * kByteColumns, stride);
  }
}

void slide_bytes(const ByteSlide& p) {
  const hn::Rebind<std::uint8_t, decltype(d16)> bytes;
  const std::int64_t wide = (p.channels + kByteColumns - 1) / kByteColumns * kByteColumns;
  const std::int64_t taps = p.tap_count, last = taps - taps % 2;
  for (std::int64_t c = 0; c < p.channels; c += kLanes) {
    const std::int16_t* w = p.weights + c / kByteColumns * kByteColumns * (taps + taps % 2) + 2 * (c % kByteColumns);
    for (std::int64_t i = 0; i < p.count; ++i) {
      const std::uint8_t* x = p.x + i * p.step + c;
      auto low = hn::Zero(dsum), high = low, low_rest = low, high_rest = low;
      const auto add = [&](auto a, auto b, const std::int16_t* at) {
        const auto first = hn::PromoteTo(d16, hn::InterleaveLower(bytes, a, b));
        const auto second = hn::PromoteTo(d16, hn::InterleaveUpper(bytes, a, b));
        low = hn::ReorderWidenMulAccumulate(dsum, first, hn::LoadU(d16, at), low, low_rest);
        high = hn::ReorderWidenMulAccumulate(dsum, second, hn::LoadU(d16, at + kLanes), high, high_rest);
      };
      for (std::int64_t t = 0; t < last; t += 2)
        add(hn::LoadU(bytes, x + p.taps[t]), hn::LoadU(bytes, x + p.taps[t + 1]), w + t * kByteColumns);
      if (last < taps) add(hn::LoadU(bytes, x + p.taps[last]), hn::Zero(bytes), w + last * kByteColumns);
      std::int32_t* to = p.sums + i * wide + c;
      hn::StoreU(hn::RearrangeToOddPlusEven(low, low_rest), dsum, to);
      hn::StoreU(hn::RearrangeToOddPlusEven(high, high_rest), dsum, to + kLanes / 2);
    }
  }
}

#endif

/// Calls f(i, n): whole vectors of int32, then what is left.
template <class F> HWY_INLINE void each_vector(std::int64_t n, F f) {
  const std::int64_t lanes = static_cast<std::int64_t>(hn::Lanes(d32));
  std::int64_t i = 0;
  for (; i + lanes <= n; i += lanes) f(i, lanes);
  if (i < n) f(i, n - i);
}

/// Some bytes at the beginning of a vector.
template <class D, class T> HWY_INLINE hn::Vec<D> load_some(D d, const T* from, std::int64_t n) {
  if (n >= static_cast<std::int64_t>(hn::Lanes(d))) return hn::LoadU(d, from);
  HWY_ALIGN T some[hn::MaxLanes(d)] = {};
  for (std::int64_t i = 0; i < n; ++i) some[i] = from[i];
  return hn::Load(d, some);
}
template <class D, class T> HWY_INLINE void store_some(hn::Vec<D> v, D d, T* to, std::int64_t n) {
  if (n >= static_cast<std::int64_t>(hn::Lanes(d))) return hn::StoreU(v, d, to);
  HWY_ALIGN T some[hn::MaxLanes(d)];
  hn::Store(v, d, some);
  for (std::int64_t i = 0; i < n; ++i) to[i] = some[i];
}

/// Numbers between integers that are within 2^22, rounded: the sum has no bits behind the point, halves go to even.
template <class V> HWY_INLINE hn::Vec<decltype(d32)> rounded(V x, V low, V high) {
  const auto shift = hn::Set(df, 12582912.0f);  // 1.5 * 2^23
  const auto sum = hn::Add(hn::Min(hn::Max(x, low), high), shift);
  return hn::Sub(hn::BitCast(d32, sum), hn::BitCast(d32, shift));
}

template <class T>
HWY_INLINE void scale_rows_as(const ByteScaling& s, const std::int32_t* sums, std::int64_t stride,
                              const std::int32_t* row_sums, std::int64_t count, std::int64_t columns, T* y,
                              std::int64_t y_stride) {
  const hn::Rebind<T, decltype(d32)> bytes;
  const std::int64_t lanes = static_cast<std::int64_t>(hn::Lanes(d32));
  const auto low = hn::Set(df, s.low - s.zero), high = hn::Set(df, s.high - s.zero);
  const auto zero = hn::Set(d32, static_cast<std::int32_t>(s.zero));
  // Where rows follow each other, a vector may reach into the next one, which is written later.
  const T* const end = y + (count - 1) * y_stride + columns;
  const bool is_dense = y_stride == columns;
  for (std::int64_t r = 0; r < count; ++r, sums += stride, y += y_stride) {
    const auto row_sum = hn::Set(d32, s.weight_zeros ? row_sums[r] : 0);
    const std::int64_t room = is_dense ? end - y : columns;
    for (std::int64_t i = 0; i < columns; i += lanes) {
      auto sum = hn::Add(hn::LoadU(d32, sums + i), hn::LoadU(d32, s.offsets + i));
      if (s.weight_zeros) sum = hn::Sub(sum, hn::Mul(hn::LoadU(d32, s.weight_zeros + i), row_sum));
      const auto scaled = hn::Mul(hn::ConvertTo(df, sum), hn::LoadU(df, s.factors + i));
      store_some(hn::DemoteTo(bytes, hn::Add(rounded(scaled, low, high), zero)), bytes, y + i, room - i);
    }
  }
}

void scale_rows_any(const ByteScaling& s, const std::int32_t* sums, std::int64_t stride, const std::int32_t* row_sums,
                    std::int64_t count, std::int64_t columns, std::byte* y, std::int64_t y_stride) {
  if (s.type == DType::i8)
    scale_rows_as(s, sums, stride, row_sums, count, columns, reinterpret_cast<std::int8_t*>(y), y_stride);
  else
    scale_rows_as(s, sums, stride, row_sums, count, columns, reinterpret_cast<std::uint8_t*>(y), y_stride);
}

void copy_flipped_row(const std::uint8_t* from, std::int64_t n, std::uint8_t flip, std::uint8_t* to) {
  const std::int64_t lanes = static_cast<std::int64_t>(hn::Lanes(d8));
  std::int64_t i = 0;
  for (; i + lanes <= n; i += lanes) hn::StoreU(hn::Xor(hn::LoadU(d8, from + i), hn::Set(d8, flip)), d8, to + i);
  for (; i < n; ++i) to[i] = static_cast<std::uint8_t>(from[i] ^ flip);
}

/// The sum of n bytes, a multiple of four.
HWY_INLINE std::int32_t sum_of(const std::uint8_t* x, std::int64_t n) {
  std::uint64_t sum = 0;
  std::int64_t i = 0;
#if HWY_TARGET != HWY_SCALAR
  const std::int64_t lanes = static_cast<std::int64_t>(hn::Lanes(d8));
  const hn::Repartition<std::uint64_t, decltype(d8)> d64;
  auto sums = hn::Zero(d64);
  for (; i + lanes <= n; i += lanes) sums = hn::Add(sums, hn::SumsOf8(hn::LoadU(d8, x + i)));
  if (i) sum = hn::GetLane(hn::SumOfLanes(d64, sums));
#endif
  for (; i < n; ++i) sum += x[i];
  return static_cast<std::int32_t>(sum);
}

void gather_rows(const ByteGather& p) {
  const hn::CappedTag<std::uint8_t, 16> part;
  const std::int64_t lanes = static_cast<std::int64_t>(hn::Lanes(part)), size = p.lines * p.runs * p.run;
  for (std::int64_t i = 0; i < p.count; ++i) {
    std::uint8_t *row = p.rows + i * p.row_stride, *to = row;
    for (std::int64_t line = 0; line < p.lines; ++line)
      for (std::int64_t k = 0; k < p.runs; ++k, to += p.run) {
        const std::uint8_t* from = p.x + i * p.step + line * p.line_step + k * p.run_step;
        for (std::int64_t at = 0; at < p.run; at += lanes) hn::StoreU(hn::LoadU(part, from + at), part, to + at);
      }
    for (std::int64_t at = size; at < p.row_stride; ++at) row[at] = 0;
    if (p.row_sums) p.row_sums[i] = sum_of(row, p.row_stride);
  }
}

template <class T> HWY_INLINE void add_to_sums_as(const T* x, std::int64_t n, std::int32_t* sums) {
  const hn::Rebind<T, decltype(d32)> bytes;
  const std::int64_t lanes = static_cast<std::int64_t>(hn::Lanes(d32));
  std::int64_t i = 0;
  for (; i + lanes <= n; i += lanes)
    hn::StoreU(hn::Add(hn::LoadU(d32, sums + i), hn::PromoteTo(d32, hn::LoadU(bytes, x + i))), d32, sums + i);
  for (; i < n; ++i) sums[i] += x[i];
}

void add_to_sums_any(const std::byte* x, bool is_signed, std::int64_t n, std::int32_t* sums) {
  if (is_signed)
    add_to_sums_as(reinterpret_cast<const std::int8_t*>(x), n, sums);
  else
    add_to_sums_as(reinterpret_cast<const std::uint8_t*>(x), n, sums);
}

template <class T>
HWY_INLINE void add_terms_as(const ByteTerm& a, const ByteTerm& b, std::int64_t n, float scale, float zero, float low,
                             float high, T* y) {
  const hn::Rebind<T, decltype(d32)> bytes;
  const auto step = hn::Set(df, scale), least = hn::Set(df, low - zero), most = hn::Set(df, high - zero);
  const auto offset = hn::Set(d32, static_cast<std::int32_t>(zero));
  each_vector(n, [&](std::int64_t i, std::int64_t count) {
    const auto term = [&](const ByteTerm& t) {
      const auto x = load_some(bytes, reinterpret_cast<const T*>(t.x) + i, count);
      const auto number = hn::ConvertTo(df, hn::PromoteTo(d32, x));
      return hn::Mul(hn::Sub(number, hn::Set(df, t.zero)), hn::Set(df, t.scale));
    };
    const auto whole = rounded(hn::Div(hn::Add(term(a), term(b)), step), least, most);
    store_some(hn::DemoteTo(bytes, hn::Add(whole, offset)), bytes, y + i, count);
  });
}

void add_terms_any(const ByteTerm& a, const ByteTerm& b, std::int64_t n, float scale, float zero, float low, float high,
                   DType type, std::byte* y) {
  if (type == DType::i8)
    add_terms_as(a, b, n, scale, zero, low, high, reinterpret_cast<std::int8_t*>(y));
  else
    add_terms_as(a, b, n, scale, zero, low, high, reinterpret_cast<std::uint8_t*>(y));
}

}  // namespace HWY_NAMESPACE
}  // namespace ingot::engine
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace ingot::engine {
namespace {

HWY_EXPORT(add_terms_any);
HWY_EXPORT(add_to_sums_any);
HWY_EXPORT(copy_flipped_row);
HWY_EXPORT(gather_rows);
HWY_EXPORT(multiply_pairs);
HWY_EXPORT(scale_rows_any);
HWY_EXPORT(slide_bytes);

}  // namespace

void multiply(const ByteTiles& tiles, ByteMath math) {
  if (math == ByteMath::quads) return multiply_quads(tiles);
  HWY_DYNAMIC_DISPATCH(multiply_pairs)(tiles);
}

void scale_rows(const ByteScaling& scaling, const std::int32_t* sums, std::int64_t stride, const std::int32_t* row_sums,
                std::int64_t count, std::int64_t columns, std::byte* y, std::int64_t y_stride) {
  HWY_DYNAMIC_DISPATCH(scale_rows_any)(scaling, sums, stride, row_sums, count, columns, y, y_stride);
}

void copy_flipped(const std::byte* from, std::int64_t n, std::uint8_t flip, std::uint8_t* to) {
  HWY_DYNAMIC_DISPATCH(copy_flipped_row)(reinterpret_cast<const std::uint8_t*>(from), n, flip, to);
}

void gather(const ByteGather& gather) { HWY_DYNAMIC_DISPATCH(gather_rows)(gather); }

void slide(const ByteSlide& slide) { HWY_DYNAMIC_DISPATCH(slide_bytes)(slide); }

void add_to_sums(const std::byte* x, bool is_signed, std::int64_t n, std::int32_t* sums) {
  HWY_DYNAMIC_DISPATCH(add_to_sums_any)(x, is_signed, n, sums);
}

void add_terms(const ByteTerm& a, const ByteTerm& b, std::int64_t n, float scale, float zero, float low, float high,
               DType type, std::byte* y) {
  HWY_DYNAMIC_DISPATCH(add_terms_any)(a, b, n, scale, zero, low, high, type, y);
}

}  // namespace ingot::engine
#endif
