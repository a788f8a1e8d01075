// Random numbers: those that the engine draws, of which each depends on the seed and its own place only.
#include "ingot/ops/generator/random.h"

#include <cmath>

#include "ingot/lower/rows.h"

namespace ingot::lower {
namespace {

constexpr DType kWord = DType::u64;  // holds 32 bits, and the product of two such words

Expr word(std::uint32_t value) { return Expr::integer(value, kWord); }
Expr low_half(const Expr& x) { return Expr::make(Op::bit_and, kWord, {x, word(0xFFFFFFFF)}); }
Expr high_half(const Expr& x) { return Expr::make(Op::shift_right, kWord, {x, word(32)}); }
Expr exclusive(const Expr& x, const Expr& y, std::uint32_t key) {
  return Expr::make(Op::bit_xor, kWord, {Expr::make(Op::bit_xor, kWord, {x, y}), word(key)});
}
Expr real(double value) { return Expr::constant(value, DType::f64); }
Expr of_two(Op op, const Expr& x, const Expr& y) { return Expr::make(op, DType::f64, {x, y}); }

/// Philox4x32-10, as ops::Random::block has it, of draw 0.
Exprs block(Lowering& l, const Expr& i, std::array<std::uint32_t, 2> key) {
  const Expr place = from_index(i, kWord);
  Exprs x = {l.let(low_half(place)), l.let(high_half(place)), word(0), word(0)};
  constexpr int kRounds = 10;
  for (int round = 0; round < kRounds; ++round) {
    const Expr p = l.let(Expr::make(Op::mul, kWord, {word(0xD2511F53), x[0]})),
               q = l.let(Expr::make(Op::mul, kWord, {word(0xCD9E8D57), x[2]}));
    x = {l.let(exclusive(high_half(q), x[1], key[0])), l.let(low_half(q)), l.let(exclusive(high_half(p), x[3], key[1])),
         l.let(low_half(p))};
    key[0] += 0x9E3779B9;
    key[1] += 0xBB67AE85;
  }
  return x;
}

/// In [0, 1), in steps of 2^-digits.
Expr fraction(const Expr& low, const Expr& high, int digits) {
  const Expr bits = Expr::make(Op::bit_or, kWord, {Expr::make(Op::shift_left, kWord, {high, word(32)}), low});
  const Expr kept = Expr::make(Op::shift_right, kWord, {bits, word(static_cast<std::uint32_t>(64 - digits))});
  return of_two(Op::mul, cast(kept, DType::f64), real(std::ldexp(1.0, -digits)));
}

constexpr int kAllDigits = 53;

int digits_of(DType type) { return type == DType::f64 ? kAllDigits : type == DType::f16 ? 11 : 24; }

/// A number for each element, in double.
View drawn(Lowering& l, const Exprs& dims, const std::function<Expr(const Exprs& words)>& number) {
  const View numbers = l.fresh(DType::f64, dims);
  const Expr count = product(numbers.dims).as_int() ? product(numbers.dims) : l.let(product(numbers.dims));
  const View flat = l.reshaped(numbers, {count});
  const auto key = ops::Random(l.node()).key();
  l.loop(count, [&](Expr i) { l.store(flat, {i}, number(block(l, i, key))); });
  return numbers;
}

View drawn_uniform(Lowering& l, const Exprs& dims, int digits) {
  return drawn(l, dims, [=](const Exprs& words) { return fraction(words[0], words[1], digits); });
}

/// By Box and Muller.
View drawn_normal(Lowering& l, const Exprs& dims) {
  constexpr double kTau = 6.2831853071795864769;
  const auto one = [](Op op, const Expr& x) { return Expr::make(op, DType::f64, {x}); };
  return drawn(l, dims, [=](const Exprs& x) {
    const Expr u = fraction(x[0], x[1], kAllDigits), v = fraction(x[2], x[3], kAllDigits);
    const Expr radius = one(Op::sqrt, of_two(Op::mul, real(-2), one(Op::log1p, one(Op::neg, u))));
    return of_two(Op::mul, radius, one(Op::cos, of_two(Op::mul, real(kTau), v)));
  });
}

void out_stretched(Lowering& l, const View& x, DType type, double from, double by) {
  if (!is_float(type)) l.refuse("no code can be made for random numbers of this type");
  l.out(0, l.computed(
               type, x.dims,
               [=](const Exprs& at) {
                 return cast(of_two(Op::add, real(from), of_two(Op::mul, real(by), x.at(at))), type);
               },
               2));
}

DType type_or(Lowering& l, DType absent) {
  return static_cast<DType>(l.attr("dtype", static_cast<std::int64_t>(absent)));
}

void out_uniform(Lowering& l, const Exprs& dims, DType type) {
  const Attributes& a = l.node().attributes;
  const double low = a.float_or("low", 0.0f), high = a.float_or("high", 1.0f);
  out_stretched(l, drawn_uniform(l, dims, digits_of(type)), type, low, high - low);
}

void out_normal(Lowering& l, const Exprs& dims, DType type) {
  const Attributes& a = l.node().attributes;
  out_stretched(l, drawn_normal(l, dims), type, a.float_or("mean", 0.0f), a.float_or("scale", 1.0f));
}

Exprs stated_shape(Lowering& l) {
  const auto dims = l.node().attributes.ints_or("shape", {});
  return Exprs(dims.begin(), dims.end());
}

DType type_like(Lowering& l, const View& x) { return type_or(l, is_float(x.type) ? x.type : DType::f32); }

}  // namespace

void lower_random_uniform(Lowering& l) { out_uniform(l, stated_shape(l), type_or(l, DType::f32)); }

void lower_random_normal(Lowering& l) { out_normal(l, stated_shape(l), type_or(l, DType::f32)); }

void lower_random_uniform_like(Lowering& l) {
  const View x = l.in(0);
  out_uniform(l, x.dims, type_like(l, x));
}

void lower_random_normal_like(Lowering& l) {
  const View x = l.in(0);
  out_normal(l, x.dims, type_like(l, x));
}

void lower_bernoulli(Lowering& l) {
  const View p = l.in(0), u = drawn_uniform(l, p.dims, kAllDigits);
  const DType type = type_or(l, p.type);
  l.out(0,
        l.computed(
            type, p.dims, [=](const Exprs& at) { return cast(less(u.at(at), cast(p.at(at), DType::f64)), type); }, 2));
}

void lower_dropout(Lowering& l) {
  const View x = l.stored(l.in(0));
  const auto number = [&](std::size_t input) {
    const View v = l.in(input);
    return v.at(Exprs(v.rank(), 0));
  };
  const Expr ratio = l.let(l.has(1) ? cast(number(1), DType::f64) : real(0.5));
  const Expr drops = l.let(both(number(2), less(real(0), ratio)));
  const View u = drawn_uniform(l, x.dims, kAllDigits);
  const View stays = l.stored(l.computed(
      DType::boolean, x.dims, [=](const Exprs& at) { return either(negate(drops), less_equal(ratio, u.at(at))); }));
  const DType type = x.type == DType::f64 ? DType::f64 : DType::f32;
  const Expr scale = l.let(cast(of_two(Op::div, real(1), of_two(Op::sub, real(1), ratio)), type));
  l.out(0, l.computed(
               x.type, x.dims,
               [=](const Exprs& at) {
                 const Expr grown = cast(Expr::make(Op::mul, type, {cast(x.at(at), type), scale}), x.type);
                 return select(drops, select(stays.at(at), grown, Expr::constant(0, x.type)), x.at(at));
               },
               2));
  l.out(1, stays);
}

}  // namespace ingot::lower
