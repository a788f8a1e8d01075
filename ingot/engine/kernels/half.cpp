// Numbers of 16 bits to floats and back, a vector at a time where the CPU has instructions for them.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ingot/engine/kernels/half.cpp"
// The first of these includes this file once per kind of CPU: the order counts.
// clang-format off
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

#include "ingot/engine/kernels/half.h"

#include <cstring>

#include "ingot/base/float_types.h"

#ifndef INGOT_ENGINE_HALF_ONE
#define INGOT_ENGINE_HALF_ONE  // this file is compiled once per kind of CPU
namespace ingot::engine {

template <class T> float widen_one(const std::byte* from) {
  std::uint16_t bits;
  std::memcpy(&bits, from, sizeof bits);
  return static_cast<float>(T::from_bits(bits));
}

template <class T> void narrow_one(float value, std::byte* to) {
  const auto bits = static_cast<std::uint16_t>(T(value).to_bits());
  std::memcpy(to, &bits, sizeof bits);
}

}  // namespace ingot::engine
#endif

HWY_BEFORE_NAMESPACE();
namespace ingot::engine {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

const hn::ScalableTag<float> d;
const hn::RebindToUnsigned<decltype(d)> bits;
const hn::Rebind<std::uint16_t, decltype(d)> small;
using V = hn::Vec<decltype(d)>;
using H = hn::Vec<decltype(small)>;

HWY_INLINE H load_small(const std::byte* from) {
  return hn::LoadU(small, reinterpret_cast<const std::uint16_t*>(from));
}
HWY_INLINE void store_small(H v, std::byte* to) { hn::StoreU(v, small, reinterpret_cast<std::uint16_t*>(to)); }

// Other kinds of CPU know no float16; Highway's way around that loses infinities.
#if HWY_TARGET <= HWY_AVX2 && !defined(HWY_DISABLE_F16C)
constexpr bool kHasFloat16 = true;
HWY_INLINE V from_float16(H v) {
  const hn::Rebind<hwy::float16_t, decltype(d)> half;
  return hn::PromoteTo(d, hn::BitCast(half, v));
}
HWY_INLINE H to_float16(V v) {
  const hn::Rebind<hwy::float16_t, decltype(d)> half;
  return hn::BitCast(small, hn::DemoteTo(half, v));
}
#else
constexpr bool kHasFloat16 = false;
HWY_INLINE V from_float16(H) { return hn::Zero(d); }
HWY_INLINE H to_float16(V) { return hn::Zero(small); }
#endif

/// The upper half of a float; times one makes NaN quiet.
HWY_INLINE V from_bfloat16(H v) {
  return hn::Mul(hn::BitCast(d, hn::ShiftLeft<16>(hn::PromoteTo(bits, v))), hn::Set(d, 1.0f));
}

HWY_INLINE H to_bfloat16(V v) {
  const auto pattern = hn::BitCast(bits, v);
  const auto odd = hn::And(hn::ShiftRight<16>(pattern), hn::Set(bits, 1));
  const auto rounded = hn::ShiftRight<16>(hn::Add(pattern, hn::Add(odd, hn::Set(bits, 0x7FFF))));
  const auto quiet = hn::Or(hn::ShiftRight<16>(pattern), hn::Set(bits, 0x40));
  const auto nan = hn::RebindMask(bits, hn::IsNaN(v));
  return hn::TruncateTo(small, hn::IfThenElse(nan, quiet, rounded));
}

void widen_some(DType half, const std::byte* from, float* to, std::int64_t n) {
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  std::int64_t i = 0;
  if (half == DType::bf16)
    for (; i + lanes <= n; i += lanes) hn::StoreU(from_bfloat16(load_small(from + 2 * i)), d, to + i);
  else if (kHasFloat16)
    for (; i + lanes <= n; i += lanes) hn::StoreU(from_float16(load_small(from + 2 * i)), d, to + i);
  for (; i < n; ++i) to[i] = half == DType::bf16 ? widen_one<BFloat16>(from + 2 * i) : widen_one<Float16>(from + 2 * i);
}

void narrow_some(DType half, const float* from, std::byte* to, std::int64_t n) {
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  std::int64_t i = 0;
  if (half == DType::bf16)
    for (; i + lanes <= n; i += lanes) store_small(to_bfloat16(hn::LoadU(d, from + i)), to + 2 * i);
  else if (kHasFloat16)
    for (; i + lanes <= n; i += lanes) store_small(to_float16(hn::LoadU(d, from + i)), to + 2 * i);
  for (; i < n; ++i)
    if (half == DType::bf16)
      narrow_one<BFloat16>(from[i], to + 2 * i);
    else
      narrow_one<Float16>(from[i], to + 2 * i);
}

}  // namespace HWY_NAMESPACE
}  // namespace ingot::engine
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ingot::engine {
namespace {

HWY_EXPORT(narrow_some);
HWY_EXPORT(widen_some);

}  // namespace

void widen(DType half, const std::byte* from, float* to, std::int64_t n) {
  HWY_DYNAMIC_DISPATCH(widen_some)(half, from, to, n);
}

void narrow(DType half, const float* from, std::byte* to, std::int64_t n) {
  HWY_DYNAMIC_DISPATCH(narrow_some)(half, from, to, n);
}

}  // namespace ingot::engine
#endif
