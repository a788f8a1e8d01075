// How ReduceSum, ReduceMean, ReduceMax and the others run.
#include "ingot/ops/reduction/reduce_kernel.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <utility>

#include "ingot/base/checked.h"
#include "ingot/ops/math/scalar_functions.h"
#include "ingot/ops/reduction/fold.h"

namespace ingot::ops {
namespace {

/// What results are computed in: double for floats, which are rounded once at the end.
template <class T> using Wide = std::conditional_t<std::is_integral_v<T>, T, double>;

template <class T> Array filled(KernelContext& c, const Dims& dims, T value) {
  Array a = scratch(c, dtype_of<T>, dims);
  std::ranges::fill(a.mutable_data<T>(), value);
  return a;
}

/// Folds from `start`, which is called with the type to compute in, and finishes each result with finish(result,
/// count).
template <class Start, class F, class Finish> void run(KernelContext& c, Start start, F f, Finish finish) {
  const Reduction r = reduction_of(c);
  const Array x = computable(c, 0);
  dispatch(x.dtype(), ComputeNumbers{}, [&]<class T>() {
    using R = Wide<T>;
    Array results = filled<R>(c, r.dims, start(R{}));
    fold<T, R>(c, r, x, results, [&](R so_far, T number) { return f(so_far, static_cast<R>(number)); });
    for (R& result : results.mutable_data<R>()) result = finish(result, r.count);
    put(c, 0, results, c.in(0).dtype());
  });
}

constexpr auto kZero = []<class R>(R) { return R{0}; };
constexpr auto kOne = []<class R>(R) { return R{1}; };
constexpr auto kAsItIs = [](auto result, std::int64_t) { return result; };
constexpr auto kAdd = [](auto sum, auto x) { return wrapping_add(sum, x); };
constexpr auto kAddSquare = [](auto sum, auto x) { return wrapping_add(sum, wrapping_mul(x, x)); };
constexpr auto kAddMagnitude = []<class R>(R sum, R x) {
  if constexpr (std::is_integral_v<R>)
    return wrapping_add(sum, x < R{0} ? wrapping_negative(x) : x);
  else
    return sum + std::abs(x);
};

/// A function of floating numbers; integers are rounded towards zero.
template <class R, class F> R in_double(R x, F f) {
  if constexpr (std::is_integral_v<R>)
    return saturate_cast<R>(f(static_cast<double>(x)));
  else
    return f(x);
}
constexpr auto kRoot = [](auto sum, std::int64_t) { return in_double(sum, [](double x) { return std::sqrt(x); }); };
constexpr auto kLog = [](auto sum, std::int64_t) { return in_double(sum, [](double x) { return std::log(x); }); };

/// NaN wins over every number. Of nothing it is the end of the type's range.
template <class Better> void run_extremum(KernelContext& c) {
  const Reduction r = reduction_of(c);
  const DType elem = c.in(0).dtype();
  const Array x = converted(c.in(0), elem == DType::boolean ? DType::u8 : compute_dtype(elem), c.host());
  dispatch(x.dtype(), ComputeNumbers{}, [&]<class T>() {
    using Range = std::numeric_limits<T>;
    T low = std::is_integral_v<T> ? Range::lowest() : -Range::infinity();
    T high = std::is_integral_v<T> ? Range::max() : Range::infinity();
    if (elem == DType::boolean) high = 1;
    Array results = filled<T>(c, r.dims, Better()(low, high) ? high : low);
    fold<T, T>(c, r, x, results,
               [](T best, T number) { return is_nan(number) || Better()(number, best) ? number : best; });
    put(c, 0, results, elem);
  });
}

}  // namespace

void run_reduce_sum(KernelContext& c) { run(c, kZero, kAdd, kAsItIs); }
void run_reduce_sum_square(KernelContext& c) { run(c, kZero, kAddSquare, kAsItIs); }
void run_reduce_l1(KernelContext& c) { run(c, kZero, kAddMagnitude, kAsItIs); }
void run_reduce_l2(KernelContext& c) { run(c, kZero, kAddSquare, kRoot); }
void run_reduce_log_sum(KernelContext& c) { run(c, kZero, kAdd, kLog); }
void run_reduce_prod(KernelContext& c) {
  run(
      c, kOne, [](auto product, auto x) { return wrapping_mul(product, x); }, kAsItIs);
}
void run_reduce_mean(KernelContext& c) {
  run(c, kZero, kAdd, [&]<class R>(R sum, std::int64_t count) {
    if constexpr (std::is_integral_v<R>) {
      if (count == 0) c.fail("the mean of no integers does not exist");
      // A count beyond the type's numbers is more than every sum of it.
      return std::in_range<R>(count) ? static_cast<R>(sum / static_cast<R>(count)) : R{0};
    } else {
      return sum / static_cast<R>(count);
    }
  });
}

/// Shifted by the largest number, so that no exponent overflows.
void run_reduce_log_sum_exp(KernelContext& c) {
  const Reduction r = reduction_of(c);
  const Array x = converted(c.in(0), DType::f64, c.host());
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  Array highest = filled(c, r.dims, -kInfinity);
  fold<double, double>(c, r, x, highest,
                       [](double best, double number) { return std::isnan(number) || number > best ? number : best; });
  Array results = filled(c, r.dims, 0.0);
  const auto shifts = highest.data<double>();
  const auto out = results.mutable_data<double>();
  const double* in = x.data<double>().data();
  const std::int64_t step_in = r.walk.strides[0].back(), step_out = r.walk.strides[1].back();
  for_each_row(r.walk, c.host().budget(), [&](const std::int64_t* at, std::int64_t n) {
    for (std::int64_t i = 0; i < n; ++i) {
      const auto k = static_cast<std::size_t>(at[1] + i * step_out);
      out[k] += std::exp(in[at[0] + i * step_in] - shifts[k]);
    }
  });
  for (std::size_t k = 0; k < out.size(); ++k)
    out[k] = std::isinf(shifts[k]) ? shifts[k] : shifts[k] + std::log(out[k]);
  put(c, 0, results, c.in(0).dtype());
}

void run_reduce_max(KernelContext& c) { run_extremum<std::greater<>>(c); }
void run_reduce_min(KernelContext& c) { run_extremum<std::less<>>(c); }

}  // namespace ingot::ops
