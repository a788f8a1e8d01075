// Columns of integers of few bits, made floats or multiplied as they are read, for the CPU that runs it.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ingot/engine/kernels/bit_panels.cpp"
// The first of these includes this file once per kind of CPU: the order counts.
// clang-format off
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

#include "ingot/engine/kernels/bit_panels.h"

HWY_BEFORE_NAMESPACE();
namespace ingot::engine {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

const hn::ScalableTag<float> d;
const hn::RebindToSigned<decltype(d)> words;
const hn::Rebind<std::uint8_t, decltype(d)> bytes;
using V = hn::Vec<decltype(d)>;
using W = hn::Vec<decltype(words)>;

HWY_INLINE std::int64_t lanes() { return static_cast<std::int64_t>(hn::Lanes(d)); }
HWY_INLINE W load(const std::uint8_t* from) { return hn::PromoteTo(words, hn::LoadU(bytes, from)); }
HWY_INLINE V low(W pair) { return hn::ConvertTo(d, hn::And(pair, hn::Set(words, 15))); }
HWY_INLINE V high(W pair) { return hn::ConvertTo(d, hn::ShiftRight<4>(pair)); }

/// Calls f(first row, rows, scales, zeros) for the parts of some rows that lie in one block.
template <class F> HWY_INLINE void each_block(const BitPanel& p, std::int64_t first, std::int64_t count, F f) {
  const std::int64_t wide = 2 * lanes(), end = first + count;
  for (std::int64_t row = first, next; row < end; row = next) {
    const std::int64_t block = row / p.block;
    next = (block + 1) * p.block < end ? (block + 1) * p.block : end;
    f(row, next - row, p.scales + block * wide, p.zeros + block * wide);
  }
}

void expand_rows(const BitPanel& p, std::int64_t first, std::int64_t count, float* to) {
  const std::int64_t wide = 2 * lanes();
  each_block(p, first, count, [&](std::int64_t row, std::int64_t rows, const float* scales, const std::uint8_t* zeros) {
    for (std::int64_t at = 0; at < wide; at += lanes()) {
      const V scale = hn::LoadU(d, scales + at), zero = hn::ConvertTo(d, load(zeros + at));
      const auto put = [&](std::int64_t i, V integer) {
        hn::StoreU(hn::Mul(hn::Sub(integer, zero), scale), d, to + (row + i - first) * wide + at);
      };
      if (p.bits == 8) {
        for (std::int64_t i = 0; i < rows; ++i) put(i, hn::ConvertTo(d, load(p.integers + (row + i) * wide + at)));
        continue;
      }
      for (std::int64_t i = 0; i < rows; i += 2) {
        const W pair = load(p.integers + (row + i) / 2 * wide + at);
        put(i, low(pair));
        put(i + 1, high(pair));
      }
    }
  });
}

/// Both vectors of a panel's row; rows in turn add to two sums each, so that no sum waits for the one before.
void multiply_panel(const float* x, const BitPanel& p, float* y) {
  const std::int64_t n = lanes(), wide = 2 * n;
  V left = hn::Zero(d), right = hn::Zero(d);
  each_block(p, 0, p.rows, [&](std::int64_t row, std::int64_t rows, const float* scales, const std::uint8_t* zeros) {
    const V left_zero = hn::ConvertTo(d, load(zeros)), right_zero = hn::ConvertTo(d, load(zeros + n));
    V even_left = hn::Zero(d), even_right = even_left, odd_left = even_left, odd_right = even_left;
    const float* factors = x + row;
    if (p.bits == 8) {
      const std::uint8_t* from = p.integers + row * wide;
      for (std::int64_t i = 0; i < rows; ++i, from += wide) {
        const V factor = hn::Set(d, factors[i]);
        even_left = hn::MulAdd(factor, hn::Sub(hn::ConvertTo(d, load(from)), left_zero), even_left);
        even_right = hn::MulAdd(factor, hn::Sub(hn::ConvertTo(d, load(from + n)), right_zero), even_right);
      }
    } else {
      const std::uint8_t* from = p.integers + row / 2 * wide;
      for (std::int64_t i = 0; i < rows; i += 2, from += wide) {
        const V even = hn::Set(d, factors[i]), odd = hn::Set(d, factors[i + 1]);
        const W a = load(from), b = load(from + n);
        even_left = hn::MulAdd(even, hn::Sub(low(a), left_zero), even_left);
        even_right = hn::MulAdd(even, hn::Sub(low(b), right_zero), even_right);
        odd_left = hn::MulAdd(odd, hn::Sub(high(a), left_zero), odd_left);
        odd_right = hn::MulAdd(odd, hn::Sub(high(b), right_zero), odd_right);
      }
    }
    left = hn::MulAdd(hn::Add(even_left, odd_left), hn::LoadU(d, scales), left);
    right = hn::MulAdd(hn::Add(even_right, odd_right), hn::LoadU(d, scales + n), right);
  });
  hn::StoreU(left, d, y);
  hn::StoreU(right, d, y + n);
}

}  // namespace HWY_NAMESPACE
}  // namespace ingot::engine
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ingot::engine {
namespace {

HWY_EXPORT(expand_rows);
HWY_EXPORT(multiply_panel);

}  // namespace

void expand(const BitPanel& panel, std::int64_t first, std::int64_t count, float* to) {
  HWY_DYNAMIC_DISPATCH(expand_rows)(panel, first, count, to);
}

void multiply_row(const float* x, const BitPanel& panel, float* y) {
  HWY_DYNAMIC_DISPATCH(multiply_panel)(x, panel, y);
}

}  // namespace ingot::engine
#endif
