// Add, Sub, Mul, Div, Mod and Pow: two operands, broadcast.
#include <cmath>

#include "ingot/base/checked.h"
#include "ingot/ops/gradient.h"
#include "ingot/ops/math/known_elements.h"
#include "ingot/ops/math/legacy_broadcast.h"
#include "ingot/ops/math/scalar_functions.h"
#include "ingot/ops/math/wider_type.h"
#include "ingot/ops/walk.h"

namespace ingot::ops {
namespace {

Dim add(std::span<const Dim> x) { return x[0] + x[1]; }
Dim sub(std::span<const Dim> x) { return x[0] - x[1]; }
Dim mul(std::span<const Dim> x) { return x[0] * x[1]; }

/// Towards zero, as integer types divide.
Dim truncated_div(std::span<const Dim> x) {
  if (x[0].is_known() && x[1].is_known() && x[1].value() != 0) {
    const Dim quotient = floor_div(x[0], x[1]);
    const bool is_rounded_down = !same(quotient * x[1], x[0]) && (x[0].value() < 0) != (x[1].value() < 0);
    return is_rounded_down ? quotient + 1 : quotient;
  }
  return x[0].is_at_least(0) && x[1].is_at_least(1) ? floor_div(x[0], x[1]) : Dim();
}

/// The quotient of floating numbers is followed where it is a whole number.
Dim exact_quotient(std::span<const Dim> x) {
  const Dim quotient = truncated_div(x);
  return same(quotient * x[1], x[0]) ? quotient : Dim();
}

void infer_div(InferContext& c) {
  infer_broadcast(c);
  fold_elements(c, c.elem(0), 2, is_float(c.elem(0)) ? exact_quotient : truncated_div);
}

void infer_mod(InferContext& c) {
  const bool is_fmod = c.attr("fmod", std::int64_t{0}) != 0;
  c.require(is_fmod || !is_float(c.elem(0)), "floating inputs need fmod = 1");
  infer_broadcast(c);
  fold_elements(c, c.elem(0), 2, [&](std::span<const Dim> x) {
    // With fmod the result has the sign of the dividend, else of the divisor.
    const bool is_either = x[0].is_at_least(0) && x[1].is_at_least(1);
    return !is_fmod || is_either ? mod(x[0], x[1]) : x[0] - truncated_div(x) * x[1];
  });
}

Dim power(std::span<const Dim> x) {
  constexpr std::int64_t kMostFactors = 8;
  const auto exponent = x[1].as_int();
  if (!exponent || *exponent < 0 || *exponent > kMostFactors) return {};
  Dim result = 1;
  for (std::int64_t i = 0; i < *exponent; ++i) result = result * x[0];
  return result;
}

// Until 11 the exponent had the base's type.
void down_to_one_type(StepContext& c) {
  const DType base = c.type(0).elem, exponent = c.type(1).elem;
  if (base == exponent) return;
  if (base == DType::undefined || exponent == DType::undefined)
    c.cannot("the types of base and exponent must be known to be the same");
  c.node.set_input(1, c.g.cast(c.node.input(1), base));
}

constexpr Step kPowSteps[] = {
    kLegacyBroadcast[0],
    {.since = 12, .down = down_to_one_type},
};

// Older versions have the exponent in the base's type, and never in bfloat16.
Values decompose_pow(DecomposeContext& c) {
  const DType base = c.elem(0), exponent = c.elem(1);
  if (exponent == DType::undefined || !is_float(base)) return {};
  const DType other = base == DType::bf16 ? DType::f32 : base;
  if (exponent == base ? base != DType::bf16 : exponent == other) return {};
  return {c.g.op("Pow", {c.in(0), c.g.cast(c.in(1), other)})};
}

template <class Op> void run(KernelContext& c) {
  map_binary(c, ComputeNumbers{}, []<class T>(T x, T y) {
    // Through 64 bits without sign: products of 16-bit numbers overflow the int they are promoted to.
    using Wide = std::conditional_t<std::is_integral_v<T>, std::uint64_t, T>;
    return static_cast<T>(Op()(static_cast<Wide>(x), static_cast<Wide>(y)));
  });
}

void run_div(KernelContext& c) {
  map_binary(c, ComputeNumbers{}, [&]<class T>(T x, T y) {
    if constexpr (std::is_integral_v<T>) {
      if (y == 0) c.fail("integer division by zero");
      if constexpr (std::is_signed_v<T>)
        if (y == -1) return wrapping_negative(x);
    }
    return static_cast<T>(x / y);
  });
}

/// The remainder has the sign of the dividend with fmod, else that of the divisor.
template <std::integral T> T remainder_of(const KernelContext& c, T x, T y, bool is_fmod) {
  if (y == 0) c.fail("integer division by zero");
  if constexpr (std::is_signed_v<T>)
    if (y == -1) return 0;
  const T rest = static_cast<T>(x % y);
  return !is_fmod && rest != 0 && (rest < 0) != (y < 0) ? static_cast<T>(rest + y) : rest;
}

void run_mod(KernelContext& c) {
  const bool is_fmod = c.attr("fmod", std::int64_t{0}) != 0;
  if (!is_fmod && is_float(c.in(0).dtype())) c.fail("floating inputs need fmod = 1");
  map_binary(c, ComputeNumbers{}, [&]<class T>(T x, T y) {
    if constexpr (std::is_integral_v<T>)
      return remainder_of(c, x, y, is_fmod);
    else
      return std::fmod(x, y);
  });
}

/// By squaring; wraps around. Of negative powers the whole part is taken, as integers divide.
template <std::signed_integral T, std::integral E> T integer_power(const KernelContext& c, T base, E exponent) {
  if (exponent < 0) {
    if (base == 0) c.fail("zero to a negative power");
    return base == 1 || (base == -1 && exponent % 2 == 0) ? T{1} : base == -1 ? T{-1} : T{0};
  }
  T result = 1;
  for (auto left = static_cast<std::uint64_t>(exponent); left != 0; left /= 2) {
    if (left % 2 == 1) result = wrapping_mul(result, base);
    base = wrapping_mul(base, base);
  }
  return result;
}

template <class Base, class Exponent, class F>
void map_power(KernelContext& c, const Array& x, const Array& y, F power) {
  const Dims dims = broadcast_dims(c, {&x.dims(), &y.dims()});
  const Walk walk = broadcast(dims, {&x.dims(), &y.dims()});
  Array z = scratch(c, x.dtype(), dims);
  const Base* a = x.data<Base>().data();
  const Exponent* b = y.data<Exponent>().data();
  Base* out = z.mutable_data<Base>().data();
  const std::int64_t step_a = walk.strides[0].back(), step_b = walk.strides[1].back();
  for_each_row(walk, c.host().budget(), [&](const std::int64_t* at, std::int64_t n) {
    for (std::int64_t i = 0; i < n; ++i) *out++ = power(a[at[0] + i * step_a], b[at[1] + i * step_b]);
  });
  put(c, 0, z, c.in(0).dtype());
}

// The exponent has a type of its own. Integers to the power of integers are exact, all else is computed in double.
void run_pow(KernelContext& c) {
  const Array x = computable(c, 0);
  const Array& y = c.in(1);
  dispatch(x.dtype(), JoinTypes<ComputeFloats, Types<std::int32_t, std::int64_t>>{}, [&]<class T>() {
    if constexpr (std::is_integral_v<T>) {
      const auto exact = [&](T base, auto exponent) { return integer_power(c, base, exponent); };
      if (y.dtype() == DType::u64) return map_power<T, std::uint64_t>(c, x, y, exact);
      if (is_integer(y.dtype())) return map_power<T, std::int64_t>(c, x, converted(y, DType::i64, c.host()), exact);
      map_power<T, double>(c, x, converted(y, DType::f64, c.host()), [](T base, double exponent) {
        return saturate_cast<T>(std::pow(static_cast<double>(base), exponent));
      });
    } else {
      map_power<T, double>(c, x, converted(y, DType::f64, c.host()), [](T base, double exponent) {
        return static_cast<T>(std::pow(static_cast<double>(base), exponent));
      });
    }
  });
}

Values gradient_add(GradContext& c) { return {c.sum_to(c.dy(), c.x(0)), c.sum_to(c.dy(), c.x(1))}; }

Values gradient_sub(GradContext& c) { return {c.sum_to(c.dy(), c.x(0)), c.sum_to(c.g.neg(c.dy()), c.x(1))}; }

Values gradient_mul(GradContext& c) {
  Value* da = c.wants(0) ? c.sum_to(c.g.mul(c.dy(), c.x(1)), c.x(0)) : nullptr;
  Value* db = c.wants(1) ? c.sum_to(c.g.mul(c.dy(), c.x(0)), c.x(1)) : nullptr;
  return {da, db};
}

Values gradient_div(GradContext& c) {
  Value* ratio = c.g.div(c.dy(), c.x(1));
  Value* da = c.wants(0) ? c.sum_to(ratio, c.x(0)) : nullptr;
  Value* db = c.wants(1) ? c.sum_to(c.g.neg(c.g.mul(ratio, c.y())), c.x(1)) : nullptr;
  return {da, db};
}

// a - b * n, with n a whole number that does not change nearby.
Values gradient_mod(GradContext& c) {
  Value* da = c.sum_to(c.dy(), c.x(0));
  if (!c.wants(1)) return {da};
  Value* multiple = c.g.op("Round", {c.g.div(c.g.sub(c.x(0), c.y()), c.x(1))});
  return {da, c.sum_to(c.g.neg(c.g.mul(c.dy(), multiple)), c.x(1))};
}

Values gradient_pow(GradContext& c) {
  GraphBuilder& g = c.g;
  if (!is_float(c.elem())) return {};
  Value* exponent = g.cast(c.x(1), c.elem());
  Value *da = nullptr, *db = nullptr;
  if (c.wants(0)) {
    // x^0 does not change, even at 0.
    Value* slope = g.mul(exponent, g.op("Pow", {c.x(0), g.sub(exponent, 1)}));
    Value* is_constant = c.equal(exponent, c.number(0));
    da = c.sum_to(g.mul(c.dy(), g.where(is_constant, c.number(0), slope)), c.x(0));
  }
  if (c.wants(1) && is_float(c.elem(1))) {
    // 0^b is 0 for all positive b.
    Value* is_zero = c.equal(c.x(0), c.number(0));
    Value* is_flat = g.op("And", {is_zero, g.op("GreaterOrEqual", {exponent, c.number(0)})});
    Value* slope = g.mul(c.y(), g.op("Log", {c.x(0)}));
    Value* each = g.mul(c.dy(), g.where(is_flat, c.number(0), slope));
    db = c.sum_to(g.cast(each, c.elem(1)), c.x(1));
  }
  return {da, db};
}

}  // namespace

constinit const OpDef defs::Add = {
    .name = "Add",
    .infer = infer_binary<add>,
    .steps = kLegacyBroadcastCommuting,
    .decompose = small_integers_in_int32,
    .kernel = run<std::plus<>>,
    .gradient = gradient_add,
};
constinit const OpDef defs::Sub = {
    .name = "Sub",
    .infer = infer_binary<sub>,
    .steps = kLegacyBroadcast,
    .decompose = small_integers_in_int32,
    .kernel = run<std::minus<>>,
    .gradient = gradient_sub,
};
constinit const OpDef defs::Mul = {
    .name = "Mul",
    .infer = infer_binary<mul>,
    .steps = kLegacyBroadcastCommuting,
    .decompose = small_integers_in_int32,
    .kernel = run<std::multiplies<>>,
    .gradient = gradient_mul,
};
constinit const OpDef defs::Div = {
    .name = "Div",
    .infer = infer_div,
    .steps = kLegacyBroadcast,
    .decompose = small_integers_in_int32,
    .kernel = run_div,
    .gradient = gradient_div,
};
constinit const OpDef defs::Mod = {
    .name = "Mod",
    .infer = infer_mod,
    .kernel = run_mod,
    .gradient = gradient_mod,
};
constinit const OpDef defs::Pow = {
    .name = "Pow",
    .infer = infer_binary<power>,
    .steps = kPowSteps,
    .decompose = decompose_pow,
    .kernel = run_pow,
    .gradient = gradient_pow,
};

}  // namespace ingot::ops
