// Conversion of run-time arrays between numeric types, through four wide types that hold every value exactly.
#include "ingot/ops/compute.h"

#include <array>
#include <concepts>

#include "ingot/base/checked.h"
#include "ingot/base/elements.h"

namespace ingot::ops {
namespace {

using Real = JoinTypes<JoinTypes<Numeric, Types<bool>>, JoinTypes<SmallFloats, SmallIntegers>>;

template <class T> struct WideOf { using type = float; };
template <> struct WideOf<double> { using type = double; };
template <class T>
requires(std::signed_integral<T> || std::same_as<T, Int4> || std::same_as<T, Int2> || std::same_as<T, UInt4> ||
         std::same_as<T, UInt2> || std::same_as<T, bool>) struct WideOf<T> {
  using type = std::int64_t;
};
template <std::unsigned_integral T>
requires(!std::same_as<T, bool>) struct WideOf<T> {
  using type = std::uint64_t;
};

template <class To, class W> To narrow(W value, const Conversion& how) {
  if constexpr (std::same_as<To, bool>) {
    return value != 0;
  } else if constexpr (std::floating_point<To>) {
    return static_cast<To>(value);
  } else if constexpr (std::integral<To>) {
    if constexpr (std::floating_point<W>)
      return saturate_cast<To>(value);
    else
      return static_cast<To>(value);
  } else if constexpr (std::same_as<To, Float8E8M0>) {
    return To(value, how.saturate, how.e8m0);
  } else if constexpr (std::same_as<To, Float16> || std::same_as<To, BFloat16> || kIsPacked<To>) {
    return To(value);
  } else {
    return To(value, how.saturate);
  }
}

template <class W> void store(std::span<const W> wide, std::size_t first, Array& y, const Conversion& how) {
  dispatch(y.dtype(), Real{}, [&]<class To>() {
    const auto out = y.mutable_data<To>().subspan(first, wide.size());
    for (std::size_t i = 0; i < wide.size(); ++i) out[i] = narrow<To>(wide[i], how);
  });
}

}  // namespace

DType compute_dtype(DType dtype) {
  if (dtype != DType::f64 && is_float(dtype)) return DType::f32;
  return is_sub_byte(dtype) ? DType::i32 : dtype;
}

Array converted(const Array& x, DType to, KernelHost& host, const Conversion& how) {
  if (x.dtype() == to) return x;
  Array y = host.allocate(to, x.dims());
  constexpr std::size_t kChunk = 1024;
  dispatch(x.dtype(), Real{}, [&]<class From>() {
    using Wide = typename WideOf<From>::type;
    const auto in = x.data<From>();
    std::array<Wide, kChunk> wide;
    for (std::size_t first = 0; first < in.size(); first += kChunk) {
      const std::size_t n = std::min(kChunk, in.size() - first);
      for (std::size_t i = 0; i < n; ++i) wide[i] = static_cast<Wide>(in[first + i]);
      store<Wide>({wide.data(), n}, first, y, how);
    }
  });
  return y;
}

Array computable(KernelContext& c, std::size_t i) {
  const Array& x = c.in(i);
  return converted(x, compute_dtype(x.dtype()), c.host());
}

void put(KernelContext& c, std::size_t i, const Array& computed, DType dtype) {
  c.set(i, converted(computed, dtype, c.host()));
}

}  // namespace ingot::ops
