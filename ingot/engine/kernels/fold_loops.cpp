// Reductions of rows and of columns, for the CPU that runs them.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ingot/engine/kernels/fold_loops.cpp"
// The first of these includes this file once per kind of CPU: the order counts.
// clang-format off
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

#include "ingot/engine/kernels/fold_loops.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

HWY_BEFORE_NAMESPACE();
namespace ingot::engine {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class T>
using Unsigned = typename std::conditional_t<std::is_integral_v<T>, std::make_unsigned<T>, std::type_identity<T>>::type;
/// Products of 16 bits overflow the int they are promoted to.
template <class T>
using Wide = std::conditional_t<(std::is_integral_v<T> && sizeof(T) < 4), std::uint32_t, Unsigned<T>>;
template <class T> using Sum = std::conditional_t<std::is_integral_v<T>, T, double>;

template <class R> R added(R a, R b) { return static_cast<R>(static_cast<Wide<R>>(a) + static_cast<Wide<R>>(b)); }
template <class R> R multiplied(R a, R b) { return static_cast<R>(static_cast<Wide<R>>(a) * static_cast<Wide<R>>(b)); }

struct AddAll {
  template <class R> static R start() { return R{0}; }
  template <class R> static R of(R sum, R x) { return added(sum, x); }
  template <class V> static V vector(V sum, V x) { return hn::Add(sum, x); }
};
struct AddMagnitudes : AddAll {
  template <class R> static R of(R sum, R x) {
    if constexpr (std::is_floating_point_v<R>)
      return sum + std::abs(x);
    else
      return x < R{0} ? static_cast<R>(static_cast<Wide<R>>(sum) - static_cast<Wide<R>>(x)) : added(sum, x);
  }
  template <class V> static V vector(V sum, V x) { return hn::Add(sum, hn::Abs(x)); }
};
struct AddSquares : AddAll {
  template <class R> static R of(R sum, R x) { return added(sum, multiplied(x, x)); }
  template <class V> static V vector(V sum, V x) { return hn::MulAdd(x, x, sum); }
};
struct MultiplyAll {
  template <class R> static R start() { return R{1}; }
  template <class R> static R of(R product, R x) { return multiplied(product, x); }
  template <class V> static V vector(V product, V x) { return hn::Mul(product, x); }
};
struct TakeMost {
  template <class T> static T start() {
    return std::is_integral_v<T> ? std::numeric_limits<T>::lowest() : -std::numeric_limits<T>::infinity();
  }
  template <class T> static T of(T best, T x) { return (x > best) | (x != x) ? x : best; }
  template <class V> static V vector(V best, V x) { return hn::Max(best, x); }
};
struct TakeLeast {
  template <class T> static T start() {
    return std::is_integral_v<T> ? std::numeric_limits<T>::max() : std::numeric_limits<T>::infinity();
  }
  template <class T> static T of(T best, T x) { return (x < best) | (x != x) ? x : best; }
  template <class V> static V vector(V best, V x) { return hn::Min(best, x); }
};

template <class R, class F> void start_all(void* results, std::int64_t n) {
  R* r = static_cast<R*>(results);
  for (std::int64_t i = 0; i < n; ++i) r[i] = F::template start<R>();
}

template <class T, class R, class F> void fold_columns(const void* xs, std::int64_t n, void* results) {
  const T* HWY_RESTRICT x = static_cast<const T*>(xs);
  R* HWY_RESTRICT r = static_cast<R*>(results);
  for (std::int64_t i = 0; i < n; ++i) r[i] = F::template of<R>(r[i], static_cast<R>(x[i]));
}

/// Integers in any order give the same.
template <class T, class R, class F> void fold_integers(const void* xs, std::int64_t n, void* result) {
  const T* HWY_RESTRICT x = static_cast<const T*>(xs);
  R so_far = *static_cast<R*>(result);
  for (std::int64_t i = 0; i < n; ++i) so_far = F::template of<R>(so_far, static_cast<R>(x[i]));
  *static_cast<R*>(result) = so_far;
}

/// Floats as vectors of the type they are folded in, four at once.
template <class T, class R, class F> void fold_floats(const void* xs, std::int64_t n, void* result) {
  constexpr bool kSelects = std::is_same_v<F, TakeMost> || std::is_same_v<F, TakeLeast>;
  const hn::ScalableTag<R> d;
  const hn::Rebind<T, decltype(d)> d_in;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const T* x = static_cast<const T*>(xs);
  const auto load = [&](const T* at) {
    if constexpr (std::is_same_v<T, R>)
      return hn::LoadU(d, at);
    else
      return hn::PromoteTo(d, hn::LoadU(d_in, at));
  };
  R so_far = *static_cast<R*>(result);
  std::int64_t i = 0;
  if (n >= (kSelects ? lanes : 4 * lanes)) {
    const auto start = hn::Set(d, F::template start<R>());
    auto a = start, b = start, c = start, e = start, odd = hn::Zero(d);  // odd: NaN once one was met
    for (; i + 4 * lanes <= n; i += 4 * lanes) {
      const auto p = load(x + i), q = load(x + i + lanes), r = load(x + i + 2 * lanes), s = load(x + i + 3 * lanes);
      a = F::vector(a, p);
      b = F::vector(b, q);
      c = F::vector(c, r);
      e = F::vector(e, s);
      if constexpr (kSelects)
        odd = hn::Or(odd, hn::Or(hn::Or(hn::VecFromMask(d, hn::IsNaN(p)), hn::VecFromMask(d, hn::IsNaN(q))),
                                 hn::Or(hn::VecFromMask(d, hn::IsNaN(r)), hn::VecFromMask(d, hn::IsNaN(s)))));
    }
    if constexpr (kSelects) {
      if (!hn::AllTrue(d, hn::Eq(odd, hn::Zero(d)))) {  // a mask of all ones is NaN
        *static_cast<R*>(result) = std::numeric_limits<R>::quiet_NaN();
        return;
      }
    }
    using Merge = std::conditional_t<std::is_base_of_v<AddAll, F>, AddAll, F>;
    auto all = Merge::vector(Merge::vector(a, b), Merge::vector(c, e));
    if constexpr (kSelects) {
      // The last vector begins before the others end: numbers that were met before do no harm.
      bool has_nan = false;
      for (; i < n; i += lanes) {
        const auto next = load(x + std::min(i, n - lanes));
        all = F::vector(all, next);
        has_nan |= !hn::AllFalse(d, hn::IsNaN(next));
      }
      if (has_nan) {
        *static_cast<R*>(result) = std::numeric_limits<R>::quiet_NaN();
        return;
      }
      i = n;
    }
    HWY_ALIGN R each[hn::MaxLanes(d)];
    hn::Store(all, d, each);
    for (std::int64_t k = 0; k < lanes; ++k) so_far = Merge::template of<R>(so_far, each[k]);
  }
  for (; i < n; ++i) so_far = F::template of<R>(so_far, static_cast<R>(x[i]));
  *static_cast<R*>(result) = so_far;
}

template <class T, class R, class F> void fold_rows(const void* xs, std::int64_t count, std::int64_t n, void* results) {
  const T* x = static_cast<const T*>(xs);
  R* r = static_cast<R*>(results);
  for (std::int64_t i = 0; i < count; ++i, x += n) {
    r[i] = F::template start<R>();
    if constexpr (std::is_integral_v<T>)
      fold_integers<T, R, F>(x, n, r + i);
    else
      fold_floats<T, R, F>(x, n, r + i);
  }
}

template <class F, bool kSelects, class T> FoldLoops loops_of() {
  using R = std::conditional_t<kSelects, T, Sum<T>>;
  if constexpr (std::is_integral_v<T>)
    return {dtype_of<R>, start_all<R, F>, fold_integers<T, R, F>, fold_rows<T, R, F>, fold_columns<T, R, F>};
  else
    return {dtype_of<R>, start_all<R, F>, fold_floats<T, R, F>, fold_rows<T, R, F>, fold_columns<T, R, F>};
}
template <class F, bool kSelects, class... Ts> FoldLoops loops_for(DType type, Types<Ts...>) {
  FoldLoops found;
  ((type == dtype_of<Ts> ? void(found = loops_of<F, kSelects, Ts>()) : void()), ...);
  return found;
}

using Numbers = Types<float, double, std::int32_t, std::int64_t>;
using Ordered = JoinTypes<Numbers, Types<std::uint8_t, std::int8_t>>;

FoldLoops find_fold(Fold op, DType type) {
  switch (op) {
    case Fold::sum:
      return loops_for<AddAll, false>(type, Numbers{});
    case Fold::magnitudes:
      return loops_for<AddMagnitudes, false>(type, Numbers{});
    case Fold::squares:
      return loops_for<AddSquares, false>(type, Numbers{});
    case Fold::product:
      return loops_for<MultiplyAll, false>(type, Numbers{});
    case Fold::maximum:
      return loops_for<TakeMost, true>(type, Ordered{});
    case Fold::minimum:
      return loops_for<TakeLeast, true>(type, Ordered{});
  }
  return {};
}

template <class T, class R> void run_on(const void* xs, std::int64_t n, bool is_exclusive, void* sums, void* ys) {
  const T* HWY_RESTRICT x = static_cast<const T*>(xs);
  R* HWY_RESTRICT sum = static_cast<R*>(sums);
  T* HWY_RESTRICT y = static_cast<T*>(ys);
  if (is_exclusive)
    for (std::int64_t i = 0; i < n; ++i) {
      y[i] = static_cast<T>(sum[i]);
      sum[i] = added(sum[i], static_cast<R>(x[i]));
    }
  else
    for (std::int64_t i = 0; i < n; ++i) {
      sum[i] = added(sum[i], static_cast<R>(x[i]));
      y[i] = static_cast<T>(sum[i]);
    }
}

RunningLoop find_running(DType type) {
  switch (type) {
    case DType::f32:
      return run_on<float, double>;
    case DType::f64:
      return run_on<double, double>;
    case DType::i32:
      return run_on<std::int32_t, std::int32_t>;
    case DType::i64:
      return run_on<std::int64_t, std::int64_t>;
    default:
      return nullptr;
  }
}

template <class F, class T> std::int64_t place_in_row(const void* xs, std::int64_t n, bool takes_last) {
  const T* x = static_cast<const T*>(xs);
  T best = F::template start<T>();
  if constexpr (std::is_integral_v<T>)
    fold_integers<T, T, F>(xs, n, &best);
  else
    fold_floats<T, T, F>(xs, n, &best);
  const auto is_it = [&](std::int64_t i) { return (x[i] == best) | ((best != best) & (x[i] != x[i])); };
  constexpr std::int64_t kBlock = 64;
  if (takes_last) {
    std::int64_t i = n - 1;
    while (i > 0 && !is_it(i)) --i;
    return i;
  }
  std::int64_t i = 0;
  for (; i + kBlock <= n; i += kBlock) {
    bool found = false;
    for (std::int64_t j = 0; j < kBlock; ++j) found |= is_it(i + j);
    if (found) break;
  }
  while (i + 1 < n && !is_it(i)) ++i;
  return i;
}

template <class F, class T>
void place_in_columns(const void* xs, std::int64_t n, std::int64_t step, std::int64_t wide, bool takes_last,
                      std::int64_t* places) {
  constexpr bool kIsMost = std::is_same_v<F, TakeMost>;
  // Places as wide as the numbers, so that both are vectors of as many; those of bytes have 16 bits at least.
  using Place = std::conditional_t<sizeof(T) == 8, std::int64_t, std::int32_t>;
  const T* x = static_cast<const T*>(xs);
  HWY_ALIGN T best[PlaceLoops::kWide];
  HWY_ALIGN Place at[PlaceLoops::kWide];
  for (std::int64_t j = 0; j < wide; ++j) {
    best[j] = x[j];
    at[j] = 0;
  }
  for (std::int64_t i = 1; i < n; ++i) {
    const T* HWY_RESTRICT row = x + i * step;
    const auto place = static_cast<Place>(i);
    if (takes_last)
      for (std::int64_t j = 0; j < wide; ++j) {
        const T held = best[j], value = row[j];
        // Not better than what is held: NaN is better than every number.
        const bool is_worse = ((held != held) & (value == value)) | (kIsMost ? held > value : held < value);
        best[j] = is_worse ? held : value;
        at[j] = is_worse ? at[j] : place;
      }
    else
      for (std::int64_t j = 0; j < wide; ++j) {
        const T held = best[j], value = row[j];
        const bool is_better = ((value != value) & (held == held)) | (kIsMost ? value > held : value < held);
        best[j] = is_better ? value : held;
        at[j] = is_better ? place : at[j];
      }
  }
  for (std::int64_t j = 0; j < wide; ++j) places[j] = at[j];
}

template <class F, class... Ts> PlaceLoops places_for(DType type, Types<Ts...>) {
  PlaceLoops found;
  ((type == dtype_of<Ts> ? void(found = {place_in_row<F, Ts>, place_in_columns<F, Ts>}) : void()), ...);
  return found;
}

PlaceLoops find_place(bool is_max, DType type) {
  return is_max ? places_for<TakeMost>(type, Ordered{}) : places_for<TakeLeast>(type, Ordered{});
}

}  // namespace HWY_NAMESPACE
}  // namespace ingot::engine
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ingot::engine {
namespace {

HWY_EXPORT(find_fold);
HWY_EXPORT(find_place);
HWY_EXPORT(find_running);

}  // namespace

FoldLoops fold_loops(Fold op, DType type) { return HWY_DYNAMIC_DISPATCH(find_fold)(op, type); }

PlaceLoops place_loops(bool is_max, DType type) { return HWY_DYNAMIC_DISPATCH(find_place)(is_max, type); }

RunningLoop running_loop(DType type) { return HWY_DYNAMIC_DISPATCH(find_running)(type); }

}  // namespace ingot::engine
#endif
