// Operators of numbers and tensors, element by element.
#include <cmath>
#include <limits>
#include <numbers>

#include "ingot/frontends/numeric/bessel.h"
#include "ingot/frontends/numeric/gamma.h"
#include "ingot/frontends/numeric/inverse_erf.h"
#include "ingot/frontends/torch/call.h"
#include "ingot/frontends/values.h"

namespace ingot::frontends::torch {
namespace {

/// ONNX has no arithmetic of truth values: they are computed as numbers.
template <class Compute> Value* with_numbers(GraphBuilder& g, const Values& x, Compute&& compute) {
  if (x[0]->type.elem != DType::boolean) return compute(x);
  Values wide;
  for (Value* v : x) wide.push_back(g.cast(v, DType::i32));
  return g.cast(compute(wide), DType::boolean);
}

Value* scaled(const Call& c, Value* x, std::size_t alpha) {
  const Item& factor = c.arg(alpha);
  if (!c.has(alpha) || (factor.is<std::int64_t>() && *factor.get<std::int64_t>() == 1) ||
      (factor.is<double>() && *factor.get<double>() == 1))
    return x;
  return c.g().mul(x, c.g().cast(c.t.value_of(factor, x->type.elem), x->type.elem));
}

Value* number(const Call& c, std::size_t i, DType elem) { return c.g().cast(c.tensor(i), elem); }

Value* floor_of(GraphBuilder& g, Value* x) { return is_float(x->type.elem) ? g.op("Floor", {x}) : x; }

Value* truncated(GraphBuilder& g, Value* x) {
  if (!is_float(x->type.elem)) return x;
  return g.mul(g.op("Sign", {x}), g.op("Floor", {g.op("Abs", {x})}));
}

/// The remainder that has the divisor's sign, exactly: that of a division that is cut towards 0, moved where signs differ.
Value* signed_remainder(GraphBuilder& g, Value* a, Value* b) {
  if (!is_float(a->type.elem)) return g.op("Mod", {a, b});
  Value* zero = g.scalar(0, a->type.elem);
  Value* rest = g.op("Mod", {a, b}, {{"fmod", 1}});
  Value* is_other = g.op("Less", {g.mul(g.op("Sign", {rest}), g.op("Sign", {b})), zero});
  return g.where(is_other, g.add(rest, b), rest);
}

/// Rounded down as Python does: 1.0 // 0.1 is 9, although 1.0 / 0.1 is 10.
Value* whole_quotient(GraphBuilder& g, Value* a, Value* b) {
  Value* whole = g.div(g.sub(a, signed_remainder(g, a, b)), b);
  if (!is_float(a->type.elem)) return whole;
  // What is left of rounding is taken away; a division by 0 is what division says.
  return g.where(g.op("Equal", {b, g.scalar(0, b->type.elem)}), g.div(a, b), g.op("Round", {whole}));
}

template <class Compute> Item in_f64(const Call& c, Compute&& compute) {
  Value* x = c.real_tensor(0);
  return c.g().cast(compute(c.g(), c.g().cast(x, DType::f64)), x->type.elem);
}

Value* is_pole_of_gamma(GraphBuilder& g, Value* x) {
  return g.op("And", {g.op("LessOrEqual", {x, g.scalar(0, DType::f64)}), g.op("Equal", {x, g.op("Floor", {x})})});
}

template <const ops::OpDef& kDef> Item compare(const Call& c) {
  Values x = c.promoted({0, 1});
  if (x[0]->type.elem == DType::boolean && std::string_view(kDef.name) != "Equal")
    x = {c.g().cast(x[0], DType::i32), c.g().cast(x[1], DType::i32)};
  return c.g().op(ops::Name(kDef), x);
}

Value* as_bool(GraphBuilder& g, Value* x) { return g.cast(x, DType::boolean); }

}  // namespace

Item identity(const Call& c) { return c.arg(0); }
Item add(const Call& c) {
  const Values x = c.promoted({0, 1});
  return with_numbers(c.g(), x, [&](const Values& v) { return c.g().add(v[0], scaled(c, v[1], 2)); });
}
Item sub(const Call& c) {
  const Values x = c.promoted({0, 1});
  return c.g().sub(x[0], scaled(c, x[1], 2));
}
Item rsub(const Call& c) {
  const Values x = c.promoted({0, 1});
  return c.g().sub(x[1], scaled(c, x[0], 2));
}
Item mul(const Call& c) {
  return with_numbers(c.g(), c.promoted({0, 1}), [&](const Values& v) { return c.g().mul(v[0], v[1]); });
}
Item div(const Call& c) {
  Values x = c.promoted({0, 1});
  GraphBuilder& g = c.g();
  if (!c.has(2)) {
    if (!is_float(x[0]->type.elem)) x = {g.cast(x[0], DType::f32), g.cast(x[1], DType::f32)};
    return g.div(x[0], x[1]);
  }
  if (c.text(2) == "floor") return whole_quotient(g, x[0], x[1]);
  return is_float(x[0]->type.elem) ? truncated(g, g.div(x[0], x[1])) : g.div(x[0], x[1]);
}
Item floor_divide(const Call& c) {
  Values x = c.promoted({0, 1});
  // The one operator whose number, once a trace has made a tensor of it, is promoted as a tensor.
  const auto is_wide = [&](std::size_t i) { return c.is_tensor(i) && c.tensor(i)->type.elem == DType::f64; };
  if ((is_wide(0) || is_wide(1)) && x[0]->type.elem == DType::f32 && !is_float(c.tensor(is_wide(0) ? 1 : 0)->type.elem))
    for (Value*& v : x) v = c.g().cast(v, DType::f64);
  return whole_quotient(c.g(), x[0], x[1]);
}
Item remainder(const Call& c) {
  const Values x = c.promoted({0, 1});
  return signed_remainder(c.g(), x[0], x[1]);
}
Item fmod(const Call& c) { return c.g().op("Mod", c.promoted({0, 1}), {{"fmod", 1}}); }
Item pow(const Call& c) { return c.g().op("Pow", c.promoted({0, 1})); }
Item float_power(const Call& c) {
  const Values x = c.promoted({0, 1});
  return c.g().op("Pow", {c.g().cast(x[0], DType::f64), c.g().cast(x[1], DType::f64)});
}
Item maximum(const Call& c) {
  return with_numbers(c.g(), c.promoted({0, 1}), [&](const Values& v) { return c.g().op("Max", v); });
}
Item minimum(const Call& c) {
  return with_numbers(c.g(), c.promoted({0, 1}), [&](const Values& v) { return c.g().op("Min", v); });
}
Item fmax(const Call& c) {
  const Values x = c.promoted({0, 1});
  GraphBuilder& g = c.g();
  if (!is_float(x[0]->type.elem)) return maximum(c);
  Value* both = g.where(g.op("IsNaN", {x[0]}), x[1], g.op("Max", x));
  return g.where(g.op("IsNaN", {x[1]}), x[0], both);
}
Item fmin(const Call& c) {
  const Values x = c.promoted({0, 1});
  GraphBuilder& g = c.g();
  if (!is_float(x[0]->type.elem)) return minimum(c);
  Value* both = g.where(g.op("IsNaN", {x[0]}), x[1], g.op("Min", x));
  return g.where(g.op("IsNaN", {x[1]}), x[0], both);
}
Item eq(const Call& c) { return compare<ops::defs::Equal>(c); }
Item ne(const Call& c) { return c.g().op("Not", {c.g().op("Equal", c.promoted({0, 1}))}); }
Item lt(const Call& c) { return compare<ops::defs::Less>(c); }
Item le(const Call& c) { return compare<ops::defs::LessOrEqual>(c); }
Item gt(const Call& c) { return compare<ops::defs::Greater>(c); }
Item ge(const Call& c) { return compare<ops::defs::GreaterOrEqual>(c); }
Item isclose(const Call& c) {
  Values x = c.promoted({0, 1});
  GraphBuilder& g = c.g();
  Value* same = g.op("Equal", x);
  for (Value*& v : x)
    if (!is_float(v->type.elem)) v = g.cast(v, DType::f64);
  if (c.flag(4)) same = g.op("Or", {same, g.op("And", {g.op("IsNaN", {x[0]}), g.op("IsNaN", {x[1]})})});
  Value* gap = g.op("Abs", {g.sub(x[0], x[1])});
  Value* near = g.op("LessOrEqual", {gap, g.add(g.mul(g.op("Abs", {x[1]}), c.real(2)), c.real(3))});
  return g.op("Or", {g.op("And", {near, g.op("Not", {g.op("IsInf", {gap})})}), same});
}

Item neg(const Call& c) { return c.g().neg(c.tensor(0)); }
Item abs(const Call& c) { return c.g().op("Abs", {c.tensor(0)}); }
Item sign(const Call& c) {
  return with_numbers(c.g(), {c.tensor(0)}, [&](const Values& v) { return c.g().op("Sign", v); });
}
Item signbit(const Call& c) {
  Value* x = c.tensor(0);
  if (x->type.elem == DType::boolean) x = c.g().cast(x, DType::i32);
  return c.g().op("Less", {x, c.g().scalar(0, x->type.elem)});
}
Item floor(const Call& c) { return floor_of(c.g(), c.tensor(0)); }
Item ceil(const Call& c) {
  Value* x = c.tensor(0);
  return is_float(x->type.elem) ? c.g().op("Ceil", {x}) : x;
}
Item trunc(const Call& c) { return truncated(c.g(), c.tensor(0)); }
Item frac(const Call& c) {
  Value* x = c.tensor(0);
  return c.g().sub(x, truncated(c.g(), x));
}
Item round(const Call& c) {
  Value* x = c.tensor(0);
  if (!is_float(x->type.elem)) return x;
  const std::int64_t decimals = c.has(1) ? c.integer(1) : 0;
  if (decimals == 0) return c.g().op("Round", {x});
  const double ten = std::pow(10.0, static_cast<double>(decimals));
  return c.g().div(c.g().op("Round", {c.g().mul(x, ten)}), ten);
}
Item square(const Call& c) {
  Value* x = c.tensor(0);
  return x->type.elem == DType::boolean ? c.g().cast(x, DType::i64) : c.g().mul(x, x);
}
Item rsqrt(const Call& c) { return c.g().op("Reciprocal", {c.g().op("Sqrt", {c.real_tensor(0)})}); }
Item exp2(const Call& c) { return c.g().op("Exp", {c.g().mul(c.real_tensor(0), std::numbers::ln2)}); }
Item expm1(const Call& c) {
  return in_f64(c, [](GraphBuilder& g, Value* x) { return g.sub(g.op("Exp", {x}), 1); });
}
Item log1p(const Call& c) {
  return in_f64(c, [](GraphBuilder& g, Value* x) { return g.op("Log", {g.add(x, 1)}); });
}
Item log2(const Call& c) { return c.g().mul(c.g().op("Log", {c.real_tensor(0)}), 1 / std::numbers::ln2); }
Item log10(const Call& c) { return c.g().mul(c.g().op("Log", {c.real_tensor(0)}), 1 / std::numbers::ln10); }
Item logit(const Call& c) {
  Value* x = c.real_tensor(0);
  GraphBuilder& g = c.g();
  if (c.has(1)) x = g.op("Clip", {x, g.scalar(c.real(1), x->type.elem), g.scalar(1 - c.real(1), x->type.elem)});
  return g.op("Log", {g.div(x, g.sub(1, x))});
}
Item erfc(const Call& c) {
  // Runtimes have no Erf of doubles: only what is double already is computed in them.
  if (Value* x = c.real_tensor(0); x->type.elem != DType::f64) return c.g().sub(1, c.g().op("Erf", {x}));
  return in_f64(c, [](GraphBuilder& g, Value* x) { return g.sub(1, g.op("Erf", {x})); });
}
Item erfinv(const Call& c) {
  return in_f64(c, [](GraphBuilder& g, Value* x) { return numeric::inverse_erf(g, x); });
}
Item lgamma(const Call& c) {
  return in_f64(c, [](GraphBuilder& g, Value* x) {
    Value* infinite = g.scalar(std::numeric_limits<double>::infinity(), DType::f64);
    return g.where(is_pole_of_gamma(g, x), infinite, numeric::log_gamma(g, x));
  });
}
Item digamma(const Call& c) {
  return in_f64(c, [](GraphBuilder& g, Value* x) {
    // At 0 it is infinite, at the poles below it is said to have no value.
    Value* nothing = g.scalar(std::numeric_limits<double>::quiet_NaN(), DType::f64);
    Value* lowest = g.scalar(-std::numeric_limits<double>::infinity(), DType::f64);
    Value* at_pole = g.where(g.op("Equal", {x, g.scalar(0, DType::f64)}), lowest, nothing);
    return g.where(is_pole_of_gamma(g, x), at_pole, numeric::digamma(g, x));
  });
}
Item i0(const Call& c) {
  return in_f64(c, [](GraphBuilder& g, Value* x) { return numeric::bessel(g, x, 0, false); });
}
Item i0e(const Call& c) {
  return in_f64(c, [](GraphBuilder& g, Value* x) { return numeric::bessel(g, x, 0, true); });
}
Item i1(const Call& c) {
  return in_f64(c, [](GraphBuilder& g, Value* x) { return numeric::bessel(g, x, 1, false); });
}
Item i1e(const Call& c) {
  return in_f64(c, [](GraphBuilder& g, Value* x) { return numeric::bessel(g, x, 1, true); });
}
Item ndtr(const Call& c) {
  if (Value* x = c.real_tensor(0); x->type.elem != DType::f64) {
    GraphBuilder& g = c.g();
    return g.mul(g.add(g.op("Erf", {g.mul(x, std::numbers::sqrt2 / 2)}), 1), 0.5);
  }
  return in_f64(c, [](GraphBuilder& g, Value* x) {
    return g.mul(g.add(g.op("Erf", {g.mul(x, std::numbers::sqrt2 / 2)}), 1), 0.5);
  });
}
Item sinc(const Call& c) {
  Value* x = c.real_tensor(0);
  GraphBuilder& g = c.g();
  Value* is_zero = g.op("Equal", {x, g.scalar(0, x->type.elem)});
  Value* turned = g.mul(g.where(is_zero, g.scalar(1, x->type.elem), x), std::numbers::pi);
  return g.where(is_zero, g.scalar(1, x->type.elem), g.div(g.op("Sin", {turned}), turned));
}
Item deg2rad(const Call& c) { return c.g().mul(c.real_tensor(0), std::numbers::pi / 180); }
Item rad2deg(const Call& c) { return c.g().mul(c.real_tensor(0), 180 / std::numbers::pi); }
Item atan2(const Call& c) {
  Values x = c.promoted({0, 1});
  GraphBuilder& g = c.g();
  if (!is_float(x[0]->type.elem)) x = {g.cast(x[0], DType::f32), g.cast(x[1], DType::f32)};
  Value* zero = g.scalar(0, x[0]->type.elem);
  // A quotient of zeros is no number, though atan2 of them is 0.
  Value* at_origin = g.op("And", {g.op("Equal", {x[0], zero}), g.op("Equal", {x[1], zero})});
  Value* angle = g.op("Atan", {g.div(x[0], g.where(at_origin, g.scalar(1, x[0]->type.elem), x[1]))});
  Value* turn = g.where(g.op("Less", {x[0], zero}), g.scalar(-std::numbers::pi, x[0]->type.elem),
                        g.scalar(std::numbers::pi, x[0]->type.elem));
  return g.where(g.op("Less", {x[1], zero}), g.add(angle, turn), angle);
}
Item hypot(const Call& c) {
  const Values x = c.promoted({0, 1});
  return c.g().op("Sqrt", {c.g().add(c.g().mul(x[0], x[0]), c.g().mul(x[1], x[1]))});
}
Item copysign(const Call& c) {
  Values x = c.promoted({0, 1});
  GraphBuilder& g = c.g();
  if (!is_float(x[0]->type.elem)) x = {g.cast(x[0], DType::f32), g.cast(x[1], DType::f32)};
  Value* size = g.op("Abs", {x[0]});
  return g.where(g.op("Less", {x[1], g.scalar(0, x[1]->type.elem)}), g.neg(size), size);
}
Item logaddexp(const Call& c) {
  const Values x = c.promoted({0, 1});
  GraphBuilder& g = c.g();
  Value* gap = g.neg(g.op("Abs", {g.sub(x[0], x[1])}));
  Value* made = g.add(g.op("Max", x), g.op("Log", {g.add(g.op("Exp", {gap}), 1)}));
  // Of two equal infinities the gap is no number.
  return g.where(g.op("And", {g.op("IsInf", {x[0]}), g.op("Equal", x)}), x[0], made);
}
Item xlogy(const Call& c) {
  Values x = c.promoted({0, 1});
  GraphBuilder& g = c.g();
  if (!is_float(x[0]->type.elem)) x = {g.cast(x[0], DType::f32), g.cast(x[1], DType::f32)};
  Value* is_zero = g.op("Equal", {x[0], g.scalar(0, x[0]->type.elem)});
  return g.where(is_zero, g.scalar(0, x[0]->type.elem), g.mul(x[0], g.op("Log", {x[1]})));
}
Item heaviside(const Call& c) {
  GraphBuilder& g = c.g();
  return with_numbers(g, c.promoted({0, 1}), [&](const Values& x) {
    Value* zero = g.scalar(0, x[0]->type.elem);
    Value* step = g.cast(g.op("Greater", {x[0], zero}), x[0]->type.elem);
    return g.where(g.op("Equal", {x[0], zero}), x[1], step);
  });
}
Item lerp(const Call& c) {
  const Values x = c.promoted({0, 1, 2});
  return c.g().add(x[0], c.g().mul(x[2], c.g().sub(x[1], x[0])));
}
Item addcmul(const Call& c) {
  const Values x = c.promoted({0, 1, 2});
  return c.g().add(x[0], scaled(c, c.g().mul(x[1], x[2]), 3));
}
Item addcdiv(const Call& c) {
  const Values x = c.promoted({0, 1, 2});
  return c.g().add(x[0], scaled(c, c.g().div(x[1], x[2]), 3));
}
Item clamp(const Call& c) {
  GraphBuilder& g = c.g();
  const DType elem = c.has(1) && c.has(2) ? result_type(c, {0, 1, 2})
                     : c.has(1)           ? result_type(c, {0, 1})
                                          : result_type(c, {0, 2});
  Value* x = g.cast(c.tensor(0), elem);
  if (c.has(1)) x = g.op("Max", {x, number(c, 1, elem)});
  if (c.has(2)) x = g.op("Min", {x, number(c, 2, elem)});
  return x;
}
Item clamp_min(const Call& c) { return maximum(c); }
Item clamp_max(const Call& c) { return minimum(c); }
Item nan_to_num(const Call& c) {
  Value* x = c.tensor(0);
  GraphBuilder& g = c.g();
  const DType elem = x->type.elem;
  if (!is_float(elem)) return x;
  const double most = elem == DType::f64   ? std::numeric_limits<double>::max()
                      : elem == DType::f16 ? 65504.0
                      : elem == DType::bf16 ? 3.3895313892515355e38
                                           : static_cast<double>(std::numeric_limits<float>::max());
  Value* y = g.where(g.op("IsNaN", {x}), g.scalar(c.has(1) ? c.real(1) : 0, elem), x);
  Value* high = g.op("IsInf", {x}, {{"detect_negative", 0}});
  Value* low = g.op("IsInf", {x}, {{"detect_positive", 0}});
  y = g.where(high, g.scalar(c.has(2) ? c.real(2) : most, elem), y);
  return g.where(low, g.scalar(c.has(3) ? c.real(3) : -most, elem), y);
}
Item isnan(const Call& c) {
  Value* x = c.tensor(0);
  return is_float(x->type.elem) ? c.g().op("IsNaN", {x}) : c.g().op("Not", {c.g().op("Equal", {x, x})});
}
Item isinf(const Call& c) { return c.g().op("IsInf", {c.real_tensor(0)}); }
Item isposinf(const Call& c) { return c.g().op("IsInf", {c.real_tensor(0)}, {{"detect_negative", 0}}); }
Item isneginf(const Call& c) { return c.g().op("IsInf", {c.real_tensor(0)}, {{"detect_positive", 0}}); }
Item isfinite(const Call& c) {
  Value* x = c.real_tensor(0);
  return c.g().op("Not", {c.g().op("Or", {c.g().op("IsNaN", {x}), c.g().op("IsInf", {x})})});
}

Item logical_and(const Call& c) { return c.g().op("And", {as_bool(c.g(), c.tensor(0)), as_bool(c.g(), c.tensor(1))}); }
Item logical_or(const Call& c) { return c.g().op("Or", {as_bool(c.g(), c.tensor(0)), as_bool(c.g(), c.tensor(1))}); }
Item logical_xor(const Call& c) { return c.g().op("Xor", {as_bool(c.g(), c.tensor(0)), as_bool(c.g(), c.tensor(1))}); }
Item logical_not(const Call& c) { return c.g().op("Not", {as_bool(c.g(), c.tensor(0))}); }
Item bitwise_and(const Call& c) {
  const Values x = c.promoted({0, 1});
  return x[0]->type.elem == DType::boolean ? c.g().op("And", x) : c.g().op("BitwiseAnd", x);
}
Item bitwise_or(const Call& c) {
  const Values x = c.promoted({0, 1});
  return x[0]->type.elem == DType::boolean ? c.g().op("Or", x) : c.g().op("BitwiseOr", x);
}
Item bitwise_xor(const Call& c) {
  const Values x = c.promoted({0, 1});
  return x[0]->type.elem == DType::boolean ? c.g().op("Xor", x) : c.g().op("BitwiseXor", x);
}
Item bitwise_not(const Call& c) {
  Value* x = c.tensor(0);
  return x->type.elem == DType::boolean ? c.g().op("Not", {x}) : c.g().op("BitwiseNot", {x});
}
Item left_shift(const Call& c) {
  const Values x = c.promoted({0, 1});
  if (x[0]->type.elem == DType::u8) return c.g().op("BitShift", x, {{"direction", "LEFT"}});
  return c.g().mul(x[0], c.g().op("Pow", {c.g().scalar(2, x[0]->type.elem), x[1]}));
}
Item right_shift(const Call& c) {
  const Values x = c.promoted({0, 1});
  if (x[0]->type.elem == DType::u8) return c.g().op("BitShift", x, {{"direction", "RIGHT"}});
  return whole_quotient(c.g(), x[0], c.g().op("Pow", {c.g().scalar(2, x[0]->type.elem), x[1]}));
}
Item where(const Call& c) {
  if (!c.has(1)) return c.t.call("nonzero_numpy", {c.arg(0)});
  c.t.demand_dtype(c.tensor(0), DType::boolean);
  const Values x = c.promoted({1, 2});
  return c.g().where(as_bool(c.g(), c.tensor(0)), x[0], x[1]);
}
Item masked_fill(const Call& c) {
  c.t.demand_dtype(c.tensor(1), DType::boolean);
  Value* x = c.tensor(0);
  return c.g().where(as_bool(c.g(), c.tensor(1)), number(c, 2, x->type.elem), x);
}
Item to_bool(const Call& c) { return as_bool(c.g(), c.tensor(0)); }

}  // namespace ingot::frontends::torch
