// Functions of single elements that keras.ops has from NumPy.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "ingot/frontends/keras/operand.h"
#include "ingot/frontends/keras/translators.h"
#include "ingot/frontends/repeat.h"

namespace ingot::frontends::keras {
namespace {

IrValue* is_less(GraphBuilder& b, IrValue* x, double than) { return b.op("Less", {x, number_like(b, x, than)}); }
IrValue* is(GraphBuilder& b, IrValue* x, double value) { return b.op("Equal", {x, number_like(b, x, value)}); }

IrValue* angle(GraphBuilder& b, IrValue* x) {
  return b.where(is_less(b, x, 0), number_like(b, x, std::numbers::pi),
                 b.where(b.op("IsNaN", {x}), x, number_like(b, x, 0)));
}
IrValue* cube_root(GraphBuilder& b, IrValue* x) {
  return b.mul(b.op("Sign", {x}), b.op("Pow", {b.op("Abs", {x}), number_like(b, x, 1.0 / 3)}));
}
IrValue* radians(GraphBuilder& b, IrValue* x) { return b.mul(x, std::numbers::pi / 180); }
IrValue* degrees(GraphBuilder& b, IrValue* x) { return b.mul(x, 180 / std::numbers::pi); }
IrValue* power_of_two(GraphBuilder& b, IrValue* x) { return b.op("Pow", {number_like(b, x, 2), x}); }
IrValue* zeros(GraphBuilder& b, IrValue* x) { return filled_like(b, x, 0); }
IrValue* truth(GraphBuilder& b, IrValue* x) { return b.cast(filled_like(b, x, 1), DType::boolean); }
IrValue* is_negative_infinity(GraphBuilder& b, IrValue* x) { return b.op("IsInf", {x}, {{"detect_positive", 0}}); }
IrValue* is_positive_infinity(GraphBuilder& b, IrValue* x) { return b.op("IsInf", {x}, {{"detect_negative", 0}}); }
/// Also that of a negative zero, whose reciprocal is negative.
IrValue* sign_bit(GraphBuilder& b, IrValue* x) {
  IrValue* below = is_less(b, x, 0);
  if (!is_float(x->type.elem)) return below;
  return b.op("Or", {below, b.op("And", {is(b, x, 0), is_less(b, b.op("Reciprocal", {x}), 0)})});
}
IrValue* sinc(GraphBuilder& b, IrValue* x) {
  IrValue* is_zero = is(b, x, 0);
  IrValue* at = b.mul(b.where(is_zero, number_like(b, x, 1), x), std::numbers::pi);
  return b.where(is_zero, number_like(b, x, 1), b.div(b.op("Sin", {at}), at));
}
IrValue* truncated(GraphBuilder& b, IrValue* x) {
  if (!is_float(x->type.elem)) return x;
  return b.mul(b.op("Sign", {x}), b.op("Floor", {b.op("Abs", {x})}));
}

struct Single {
  std::string_view name;
  IrValue* (*function)(GraphBuilder&, IrValue*);
  bool is_real;  // whole numbers are made real ones first
};
constexpr Single kSingles[] = {
    {"Angle", angle, true},
    {"Cbrt", cube_root, true},
    {"Deg2rad", radians, true},
    {"Exp2", power_of_two, true},
    {"Imag", zeros, false},
    {"Isneginf", is_negative_infinity, true},
    {"Isposinf", is_positive_infinity, true},
    {"Isreal", truth, false},
    {"Rad2deg", degrees, true},
    {"Signbit", sign_bit, false},
    {"Sinc", sinc, true},
    {"Trunc", truncated, false},
};
static_assert(std::ranges::is_sorted(kSingles, {}, &Single::name), "keep the table sorted");

/// The square root of the sum of squares, also where those are too large.
IrValue* hypotenuse(GraphBuilder& b, IrValue* x, IrValue* y) {
  IrValue *p = b.op("Abs", {x}), *q = b.op("Abs", {y});
  IrValue *most = b.op("Max", {p, q}), *least = b.op("Min", {p, q});
  IrValue* ratio = b.div(least, b.where(is(b, most, 0), number_like(b, most, 1), most));
  return b.mul(most, b.op("Sqrt", {b.add(b.mul(ratio, ratio), 1)}));
}
IrValue* heaviside(GraphBuilder& b, IrValue* x, IrValue* at_zero) {
  IrValue* step = b.where(is_less(b, x, 0), number_like(b, x, 0), b.where(b.op("IsNaN", {x}), x, number_like(b, x, 1)));
  return b.where(is(b, x, 0), at_zero, step);
}
/// log(e^x + e^y), to a base whose logarithm is `log_of_base`.
IrValue* log_of_sum(GraphBuilder& b, IrValue* x, IrValue* y, double log_of_base) {
  // Where both are one infinity their difference is not a number.
  IrValue* away = b.where(b.op("Equal", {x, y}), number_like(b, x, 0), b.op("Abs", {b.sub(x, y)}));
  IrValue* rest = b.op("Log", {b.add(b.op("Exp", {b.mul(away, -log_of_base)}), 1)});
  return b.add(b.op("Max", {x, y}), b.div(rest, log_of_base));
}
IrValue* log_of_sum_e(GraphBuilder& b, IrValue* x, IrValue* y) { return log_of_sum(b, x, y, 1); }
IrValue* log_of_sum_2(GraphBuilder& b, IrValue* x, IrValue* y) { return log_of_sum(b, x, y, std::numbers::ln2); }

template <const ops::OpDef& def> IrValue* but_numbers(GraphBuilder& b, IrValue* x, IrValue* y) {
  IrValue* chosen = b.op(ops::Name(def), {x, y});
  if (!is_float(x->type.elem)) return chosen;
  return b.where(b.op("IsNaN", {x}), y, b.where(b.op("IsNaN", {y}), x, chosen));
}
IrValue* remainder(GraphBuilder& b, IrValue* x, IrValue* y) { return b.op("Mod", {x, y}, {{"fmod", 1}}); }
IrValue* scaled(GraphBuilder& b, IrValue* x, IrValue* power) { return b.mul(x, power_of_two(b, power)); }

/// Euclid's way, until nothing is left of any.
IrValue* common_divisor(GraphBuilder& b, IrValue* x, IrValue* y) {
  IrValue* none = b.mul(b.mul(x, y), 0.0);
  const Values start{b.op("Abs", {b.add(x, none)}), b.op("Abs", {b.add(y, none)})};
  return repeat_while(b, start, [](GraphBuilder& g, IrValue*, const Values& state) {
    IrValue* is_done = is(g, state[1], 0);
    IrValue* by = g.where(is_done, number_like(g, state[1], 1), state[1]);
    IrValue* rest = g.where(is_done, state[1], g.op("Mod", {state[0], by}));
    IrValue* any = g.op("Greater", {g.op("ReduceMax", {rest}, {{"keepdims", 0}}), number_like(g, rest, 0)});
    return Values{g.where(is_done, state[0], state[1]), rest, any};
  })[0];
}
IrValue* common_multiple(GraphBuilder& b, IrValue* x, IrValue* y) {
  IrValue* divisor = common_divisor(b, x, y);
  IrValue* by = b.where(is(b, divisor, 0), number_like(b, divisor, 1), divisor);
  return b.op("Abs", {b.mul(b.div(x, by), y)});
}

struct Pair {
  std::string_view name;
  IrValue* (*function)(GraphBuilder&, IrValue*, IrValue*);
  bool is_real;
};
namespace defs = ops::defs;
constexpr Pair kPairs[] = {
    {"Fmax", but_numbers<defs::Max>, false},
    {"Fmin", but_numbers<defs::Min>, false},
    {"Fmod", remainder, false},
    {"Gcd", common_divisor, false},
    {"Heaviside", heaviside, true},
    {"Hypot", hypotenuse, true},
    {"Lcm", common_multiple, false},
    {"Ldexp", scaled, true},
    {"Logaddexp", log_of_sum_e, true},
    {"Logaddexp2", log_of_sum_2, true},
};
static_assert(std::ranges::is_sorted(kPairs, {}, &Pair::name), "keep the table sorted");

template <class Table> const auto& entry_of(const Table& table, const Call& call) {
  return *std::ranges::find(table, call.layer.class_name, &std::ranges::range_value_t<Table>::name);
}

}  // namespace

void op_single(Call& call) {
  const Single& single = entry_of(kSingles, call);
  IrValue* x = first(call);
  call.set(single.function(call.b, single.is_real ? real(call.b, x) : x));
}

void op_pair(Call& call) {
  const Pair& pair = entry_of(kPairs, call);
  auto [x, y] = pair_of(call);
  if (pair.is_real) x = real(call.b, x), y = real(call.b, y);
  call.set(pair.function(call.b, x, y));
}

/// Whether each element is near the other's: all of them, with "AllClose".
void op_is_close(Call& call) {
  GraphBuilder& b = call.b;
  auto [x, y] = pair_of(call);
  x = real(b, x);
  y = real(b, y);
  const double rtol = setting(call, 2, {"rtol"}).as_number().value_or(1e-5);
  const double atol = setting(call, 3, {"atol"}).as_number().value_or(1e-8);
  IrValue* most = b.add(b.mul(b.op("Abs", {y}), rtol), atol);
  IrValue* is_near = b.op("LessOrEqual", {b.op("Abs", {b.sub(x, y)}), most});
  IrValue* is_finite = b.op("Not", {b.op("IsInf", {y})});
  IrValue* close = b.op("Or", {b.op("And", {is_near, is_finite}), b.op("Equal", {x, y})});
  if (setting(call, 4, {"equal_nan"}).as_bool().value_or(false))
    close = b.op("Or", {close, b.op("And", {b.op("IsNaN", {x}), b.op("IsNaN", {y})})});
  if (call.layer.class_name == "Isclose") return call.set(close);
  call.set(b.cast(b.op("ReduceMin", {b.cast(close, DType::i32)}, {{"keepdims", 0}}), DType::boolean));
}

void op_nan_to_num(Call& call) {
  GraphBuilder& b = call.b;
  IrValue* x = first(call);
  if (!is_float(x->type.elem)) return call.set(x);
  const double most = x->type.elem == DType::f16   ? 65504
                      : x->type.elem == DType::f64 ? std::numeric_limits<double>::max()
                                                   : std::numeric_limits<float>::max();
  const auto given = [&](const char* name, std::size_t place, double otherwise) {
    return number_like(b, x, setting(call, place, {name}).as_number().value_or(otherwise));
  };
  IrValue* y = b.where(b.op("IsNaN", {x}), given("nan", 1, 0), x);
  y = b.where(is_positive_infinity(b, x), given("posinf", 2, most), y);
  call.set(b.where(is_negative_infinity(b, x), given("neginf", 3, -most), y));
}

void op_threshold(Call& call) {
  GraphBuilder& b = call.b;
  IrValue* x = first(call);
  const double from = setting(call, 1, {"threshold"}).as_number().value_or(0);
  const double otherwise = setting(call, 2, {"default_value"}).as_number().value_or(0);
  call.set(b.where(b.op("Greater", {x, number_like(b, x, from)}), x, number_like(b, x, otherwise)));
}

/// Stops at the ends of the type.
void op_saturate_cast(Call& call) {
  GraphBuilder& b = call.b;
  IrValue* x = first(call);
  const DType type = compute_type(setting(call, 1, {"dtype"}));
  call.require(type != DType::undefined, "it does not say to which type");
  double low = 0, high = 0;
  switch (type) {
    case DType::i8:
    case DType::i16:
    case DType::i32:
      high = std::ldexp(1.0, type == DType::i8 ? 7 : type == DType::i16 ? 15 : 31) - 1;
      low = -high - 1;
      break;
    case DType::u8:
    case DType::u16:
    case DType::u32:
      high = std::ldexp(1.0, type == DType::u8 ? 8 : type == DType::u16 ? 16 : 32) - 1;
      break;
    case DType::f16:
      high = 65504;
      low = -high;
      break;
    default:
      return call.set(b.cast(x, type));
  }
  // The largest int32 is no float: what is beyond it is put there afterwards.
  const bool is_wide = type == DType::i32 || type == DType::u32;
  if (x->type.elem == DType::boolean || (is_integer(x->type.elem) && is_wide)) return call.set(b.cast(x, type));
  if (is_integer(x->type.elem) && (type != DType::f16)) {
    x = b.cast(x, DType::i64);
    return call.set(b.cast(
        b.op("Clip", {x, b.index(static_cast<std::int64_t>(low)), b.index(static_cast<std::int64_t>(high))}), type));
  }
  if (is_wide) x = b.cast(x, DType::f64);
  call.set(b.cast(b.op("Clip", {x, number_like(b, x, low), number_like(b, x, high)}), type));
}

}  // namespace ingot::frontends::keras
