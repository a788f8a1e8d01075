// Operators that make each element of elements at the same place.
#include <cmath>
#include <numbers>

#include "ingot/lower/rows.h"

namespace ingot::lower {
namespace {

Expr unary(Op op, const Expr& x) { return Expr::make(op, x.type(), {x}); }
Expr number(double value, const Expr& like) { return Expr::constant(value, like.type()); }
Expr div(const Expr& a, const Expr& b) { return Expr::make(Op::div, a.type(), {a, b}); }
Expr times(const Expr& a, const Expr& b) { return Expr::make(Op::mul, a.type(), {a, b}); }
Expr plus(const Expr& a, const Expr& b) { return Expr::make(Op::add, a.type(), {a, b}); }
Expr minus(const Expr& a, const Expr& b) { return Expr::make(Op::sub, a.type(), {a, b}); }
Expr least(const Expr& a, const Expr& b) { return Expr::make(Op::min, a.type(), {a, b}); }
Expr greatest(const Expr& a, const Expr& b) { return Expr::make(Op::max, a.type(), {a, b}); }

/// Halves are computed in float and rounded once.
Expr wide(const Expr& x) { return x.type() == DType::f32 || x.type() == DType::f64 ? x : cast(x, DType::f32); }

template <class F> void map_one(Lowering& l, DType type, int cost, F f) {
  const View x = l.in(0);
  l.out(0, l.computed(
               type, x.dims, [x, f](const Exprs& at) { return f(x.at(at)); }, x.cost + cost));
}

template <class F> void map_two(Lowering& l, DType type, F f) {
  const View a = l.in(0), b = l.in(1);
  Exprs dims = l.broadcast(a.dims, b.dims);
  l.settle(0, dims);
  const auto read = [a, b, dims, f](const Exprs& at) {
    return f(a.at(broadcast_place(at, dims, a.dims)), b.at(broadcast_place(at, dims, b.dims)));
  };
  l.out(0, l.computed(type, dims, read, a.cost + b.cost + 1));
}

DType elem(Lowering& l, std::size_t i = 0) { return l.node().input(i)->type.elem; }

/// A formula of floats.
template <class F> void map_float(Lowering& l, int cost, F f) {
  const DType type = elem(l);
  map_one(l, type, cost, [f, type](const Expr& x) { return cast(f(wide(x)), type); });
}

}  // namespace

template <Op op> void lower_unary(Lowering& l) {
  map_one(l, elem(l), 1, [](const Expr& x) { return unary(op, x); });
}
template <Op op> void lower_test(Lowering& l) {
  map_one(l, DType::boolean, 1, [](const Expr& x) { return Expr::make(op, DType::boolean, {x}); });
}
template <Op op> void lower_binary(Lowering& l) {
  map_two(l, elem(l), [](const Expr& a, const Expr& b) { return Expr::make(op, a.type(), {a, b}); });
}
template <Op op> void lower_comparison(Lowering& l) {
  map_two(l, DType::boolean, [](const Expr& a, const Expr& b) { return Expr::make(op, DType::boolean, {a, b}); });
}
template <Op op> void lower_opposite(Lowering& l) {
  map_two(l, DType::boolean, [](const Expr& a, const Expr& b) { return Expr::make(op, DType::boolean, {b, a}); });
}

#define INGOT_LOWER_ALIKE(kind, ...) template void kind<__VA_ARGS__>(Lowering&);
INGOT_LOWER_ALIKE(lower_unary, Op::abs)
INGOT_LOWER_ALIKE(lower_unary, Op::acos)
INGOT_LOWER_ALIKE(lower_unary, Op::acosh)
INGOT_LOWER_ALIKE(lower_unary, Op::asin)
INGOT_LOWER_ALIKE(lower_unary, Op::asinh)
INGOT_LOWER_ALIKE(lower_unary, Op::atan)
INGOT_LOWER_ALIKE(lower_unary, Op::atanh)
INGOT_LOWER_ALIKE(lower_unary, Op::bit_not)
INGOT_LOWER_ALIKE(lower_unary, Op::ceil)
INGOT_LOWER_ALIKE(lower_unary, Op::cos)
INGOT_LOWER_ALIKE(lower_unary, Op::cosh)
INGOT_LOWER_ALIKE(lower_unary, Op::erf)
INGOT_LOWER_ALIKE(lower_unary, Op::exp)
INGOT_LOWER_ALIKE(lower_unary, Op::floor)
INGOT_LOWER_ALIKE(lower_unary, Op::log)
INGOT_LOWER_ALIKE(lower_unary, Op::neg)
INGOT_LOWER_ALIKE(lower_unary, Op::round)
INGOT_LOWER_ALIKE(lower_unary, Op::sigmoid)
INGOT_LOWER_ALIKE(lower_unary, Op::sign)
INGOT_LOWER_ALIKE(lower_unary, Op::sin)
INGOT_LOWER_ALIKE(lower_unary, Op::sinh)
INGOT_LOWER_ALIKE(lower_unary, Op::sqrt)
INGOT_LOWER_ALIKE(lower_unary, Op::tan)
INGOT_LOWER_ALIKE(lower_unary, Op::tanh)
INGOT_LOWER_ALIKE(lower_test, Op::is_nan)
INGOT_LOWER_ALIKE(lower_test, Op::negate)
INGOT_LOWER_ALIKE(lower_binary, Op::add)
INGOT_LOWER_ALIKE(lower_binary, Op::bit_and)
INGOT_LOWER_ALIKE(lower_binary, Op::bit_or)
INGOT_LOWER_ALIKE(lower_binary, Op::bit_xor)
INGOT_LOWER_ALIKE(lower_binary, Op::both)
INGOT_LOWER_ALIKE(lower_binary, Op::div)
INGOT_LOWER_ALIKE(lower_binary, Op::either)
INGOT_LOWER_ALIKE(lower_binary, Op::mul)
INGOT_LOWER_ALIKE(lower_binary, Op::pow)
INGOT_LOWER_ALIKE(lower_binary, Op::sub)
INGOT_LOWER_ALIKE(lower_comparison, Op::equal)
INGOT_LOWER_ALIKE(lower_comparison, Op::less)
INGOT_LOWER_ALIKE(lower_comparison, Op::less_equal)
INGOT_LOWER_ALIKE(lower_opposite, Op::less)
INGOT_LOWER_ALIKE(lower_opposite, Op::less_equal)
#undef INGOT_LOWER_ALIKE

void lower_xor(Lowering& l) {
  map_two(l, DType::boolean, [](const Expr& a, const Expr& b) {
    return negate(Expr::make(Op::equal, DType::boolean, {a, b}));
  });
}

void lower_is_inf(Lowering& l) {
  const bool above = l.attr("detect_positive", 1) != 0, below = l.attr("detect_negative", 1) != 0;
  map_one(l, DType::boolean, 1, [above, below](const Expr& x) {
    const Expr is = Expr::make(Op::is_inf, DType::boolean, {x});
    if (above && below) return is;
    if (!above && !below) return Expr::integer(0, DType::boolean);
    const Expr zero = number(0, x);
    return both(is, above ? less(zero, x) : less(x, zero));
  });
}

void lower_mod(Lowering& l) {
  const Op op = l.attr("fmod", 0) ? Op::remainder : Op::modulo;
  map_two(l, elem(l), [op](const Expr& a, const Expr& b) { return Expr::make(op, a.type(), {a, b}); });
}

void lower_shift(Lowering& l) {
  const Op op = l.node().attributes.string_or("direction", "") == "LEFT" ? Op::shift_left : Op::shift_right;
  map_two(l, elem(l), [op](const Expr& a, const Expr& b) { return Expr::make(op, a.type(), {a, b}); });
}

void lower_reciprocal(Lowering& l) {
  map_one(l, elem(l), 1, [](const Expr& x) { return div(number(1, x), x); });
}

void lower_relu(Lowering& l) {
  map_one(l, elem(l), 1, [](const Expr& x) { return greatest(x, number(0, x)); });
}

void lower_leaky_relu(Lowering& l) {
  const double alpha = l.node().attributes.float_or("alpha", 0.01f);
  map_float(l, 2, [alpha](const Expr& x) { return select(less(x, number(0, x)), times(x, number(alpha, x)), x); });
}

void lower_hard_sigmoid(Lowering& l) {
  const double alpha = l.node().attributes.float_or("alpha", 0.2f), beta = l.node().attributes.float_or("beta", 0.5f);
  map_float(l, 3, [=](const Expr& x) {
    return greatest(number(0, x), least(number(1, x), plus(times(x, number(alpha, x)), number(beta, x))));
  });
}

void lower_hard_swish(Lowering& l) {
  map_float(l, 4, [](const Expr& x) {
    const Expr sixth = plus(times(x, number(1.0 / 6, x)), number(0.5, x));
    return times(x, greatest(number(0, x), least(number(1, x), sixth)));
  });
}

void lower_elu(Lowering& l) {
  const double alpha = l.node().attributes.float_or("alpha", 1);
  map_float(l, 3, [alpha](const Expr& x) {
    return select(less(x, number(0, x)), times(minus(unary(Op::exp, x), number(1, x)), number(alpha, x)), x);
  });
}

Expr softplus(const Expr& x) {
  const Expr tail = unary(Op::log1p, unary(Op::exp, unary(Op::neg, unary(Op::abs, x))));
  return plus(greatest(x, number(0, x)), tail);
}

void lower_softplus(Lowering& l) {
  map_float(l, 3, [](const Expr& x) { return softplus(x); });
}

void lower_mish(Lowering& l) {
  map_float(l, 5, [](const Expr& x) { return times(x, unary(Op::tanh, softplus(x))); });
}

void lower_swish(Lowering& l) {
  const double alpha = l.node().attributes.float_or("alpha", 1);
  map_float(l, 3, [alpha](const Expr& x) { return times(x, unary(Op::sigmoid, times(x, number(alpha, x)))); });
}

void lower_gelu(Lowering& l) {
  const bool is_near = l.node().attributes.string_or("approximate", "none") == "tanh";
  map_float(l, 6, [is_near](const Expr& x) {
    const Expr half = times(x, number(0.5, x));
    if (!is_near) return times(half, plus(number(1, x), unary(Op::erf, times(x, number(std::numbers::sqrt2 / 2, x)))));
    const Expr cube = times(times(times(x, x), x), number(0.044715, x));
    return times(half,
                 plus(number(1, x), unary(Op::tanh, times(plus(x, cube), number(std::sqrt(2 / std::numbers::pi), x)))));
  });
}

void lower_prelu(Lowering& l) {
  l.require_spread(l.in(1).dims, l.in(0).dims);
  map_two(l, elem(l), [](const Expr& x, const Expr& slope) {
    return select(Expr::make(Op::less, DType::boolean, {x, number(0, x)}), times(x, slope), x);
  });
}

void lower_clip(Lowering& l) {
  const View x = l.in(0);
  const bool has_low = l.has(1), has_high = l.has(2);
  const View low = has_low ? l.in(1) : View{}, high = has_high ? l.in(2) : View{};
  const auto read = [=](const Exprs& at) {
    Expr y = x.at(at);
    if (has_low) y = greatest(y, low.at(Exprs(low.rank(), 0)));
    if (has_high) y = least(y, high.at(Exprs(high.rank(), 0)));
    return y;
  };
  l.out(0, l.computed(x.type, x.dims, read, x.cost + 2));
}

/// All of them together, from the first to the last.
template <Op op> View joined(Lowering& l, const std::vector<View>& xs, bool is_result) {
  Exprs dims = xs[0].dims;
  int cost = 0;
  for (const View& x : xs) {
    dims = l.broadcast(dims, x.dims);
    cost += x.cost + 1;
  }
  if (is_result) l.settle(0, dims);
  const auto read = [xs, dims](const Exprs& at) {
    Expr y = xs[0].at(broadcast_place(at, dims, xs[0].dims));
    for (std::size_t i = 1; i < xs.size(); ++i)
      y = Expr::make(op, y.type(), {y, xs[i].at(broadcast_place(at, dims, xs[i].dims))});
    return y;
  };
  return l.computed(xs[0].type, dims, read, cost);
}

template <Op op> void lower_variadic(Lowering& l) {
  constexpr std::size_t kMost = 64;  // in one expression: whoever prints or compiles it goes down to its first part
  std::vector<View> xs;
  for (std::size_t i = 0; i < l.input_count(); ++i) {
    if (xs.size() == kMost) xs = {l.stored(joined<op>(l, xs, false))};
    xs.push_back(l.in(i));
  }
  l.out(0, joined<op>(l, xs, true));
}
template void lower_variadic<Op::min>(Lowering&);
template void lower_variadic<Op::max>(Lowering&);
template void lower_variadic<Op::add>(Lowering&);

void lower_where(Lowering& l) {
  const View c = l.in(0), a = l.in(1), b = l.in(2);
  Exprs dims = l.broadcast(c.dims, l.broadcast(a.dims, b.dims));
  l.settle(0, dims);
  const auto read = [=](const Exprs& at) {
    return select(c.at(broadcast_place(at, dims, c.dims)), a.at(broadcast_place(at, dims, a.dims)),
                  b.at(broadcast_place(at, dims, b.dims)));
  };
  l.out(0, l.computed(a.type, dims, read, c.cost + a.cost + b.cost + 1));
}

void lower_cast(Lowering& l) {
  const auto to = static_cast<DType>(l.attr("to", 0));
  if (to == DType::string || elem(l) == DType::string) l.refuse("strings are not supported");
  const std::string mode = l.node().attributes.string_or("round_mode", "up");
  std::int64_t rounding = l.attr("saturate", 1) ? kSaturate : kOverflow;
  if (mode == "down") rounding |= kPowerDown;
  if (mode == "nearest") rounding |= kPowerNear;
  map_one(l, to, 1, [to, rounding](const Expr& x) { return cast(x, to, rounding); });
}

void lower_bit_cast(Lowering& l) {
  const auto to = static_cast<DType>(l.attr("to", 0));
  const View x = l.in(0);
  if (x.type == DType::string || is_complex(x.type) || is_complex(to)) l.refuse("this element type is not supported");
  map_one(l, to, 1, [to](const Expr& e) { return e.type() == to ? e : Expr::make(Op::bit_cast, to, {e}); });
}

void lower_identity(Lowering& l) { l.out(0, l.in(0)); }

}  // namespace ingot::lower
