// QuantizeLinear and DequantizeLinear: one scale for all, per axis or per block.
#include "ingot/lower/rows.h"

namespace ingot::lower {
namespace {

/// Where the scale of an element stands.
struct ScalePlace {
  std::size_t axis = 0;
  std::int64_t block = 0;

  Exprs of(const Exprs& at, const View& scale) const {
    if (scale.rank() == 0 || product(scale.dims).as_int() == 1) return Exprs(scale.rank(), 0);
    if (scale.rank() == 1 && block == 0)
      return {scale.dims[0].as_int() ? at[axis] : select(equal(scale.dims[0], 1), 0, at[axis])};
    Exprs place = at;
    if (block) place[axis] = floor_div(at[axis], block);
    return place;
  }
};

ScalePlace scale_place(Lowering& l, const View& x, const View& scale) {
  ScalePlace place;
  place.block = l.attr("block_size", 0);
  if (scale.rank() == 0 || product(scale.dims).as_int() == 1) return place;
  place.axis = static_cast<std::size_t>(l.axis(l.attr("axis", 1), std::max<std::size_t>(x.rank(), 1)));
  if (scale.rank() == 1 && place.block == 0) {
    l.require_spread({scale.dims[0]}, {x.dims[place.axis]});
    return place;
  }
  Exprs dims = x.dims;
  if (place.block) dims[place.axis] = ceil_div(dims[place.axis], place.block);
  l.require_same(scale.dims, dims);
  return place;
}

Expr make(Op op, const Expr& a, const Expr& b) { return Expr::make(op, a.type(), {a, b}); }

/// The type that numbers with this scale are computed in.
DType arithmetic_type(DType scale) { return TypeSet(Floats{}).has(scale) ? scale : DType::f32; }

/// The numbers that an integer type holds.
Expr limit(DType type, bool is_highest, DType in) {
  const int bits = static_cast<int>(bits_of(type));
  const bool is_signed = is_signed_integer(type);
  const double low = is_signed ? -static_cast<double>(std::int64_t{1} << (bits - 1)) : 0;
  const double high = static_cast<double>(std::int64_t{1} << (is_signed ? bits - 1 : bits)) - 1;
  return Expr::constant(is_highest ? high : low, in);
}

}  // namespace

void lower_quantize_linear(Lowering& l) {
  const View x = l.in(0), scale = l.in(1);
  const bool has_zero = l.has(2);
  const View zero = has_zero ? l.in(2) : View{};
  const std::int64_t stated = l.attr("output_dtype", 0), given = l.attr("precision", 0);
  const DType to = has_zero ? zero.type : stated ? static_cast<DType>(stated) : DType::u8;
  const DType precision = given ? static_cast<DType>(given) : arithmetic_type(scale.type);
  const ScalePlace place = scale_place(l, x, scale);
  if (has_zero) scale_place(l, x, zero);
  const std::int64_t rounding = l.attr("saturate", 1) ? kSaturate : kOverflow;
  // Float holds all numbers of 16 bits, and what it cannot hold lies beyond their ends.
  const DType sum = precision == DType::f32 && is_integer(to) && bits_of(to) <= 16 ? DType::f32 : DType::f64;
  const auto read = [=](const Exprs& at) {
    const Expr q = make(Op::div, cast(x.at(at), precision), cast(scale.at(place.of(at, scale)), precision));
    const Expr offset = has_zero ? cast(zero.at(place.of(at, zero)), sum) : Expr::constant(0, sum);
    const Expr wide = cast(q, sum);
    if (is_float(to)) return cast(has_zero ? make(Op::add, wide, offset) : wide, to, rounding);
    const Expr number = Expr::make(Op::round, sum, {wide});
    const Expr none = Expr::make(Op::is_nan, DType::boolean, {number});
    const Expr moved = make(Op::add, select(none, Expr::constant(0, sum), number), offset);
    return cast(make(Op::min, make(Op::max, moved, limit(to, false, sum)), limit(to, true, sum)), to);
  };
  l.out(0, l.computed(to, x.dims, read, x.cost + 6));
}

void lower_dequantize_linear(Lowering& l) {
  const View x = l.in(0), scale = l.in(1);
  const bool has_zero = l.has(2);
  const View zero = has_zero ? l.in(2) : View{};
  const std::int64_t stated = l.attr("output_dtype", 0);
  const DType to = stated ? static_cast<DType>(stated) : scale.type;
  const ScalePlace place = scale_place(l, x, scale);
  if (has_zero) scale_place(l, x, zero);
  const DType type = to == DType::f64 || x.type == DType::i32 ? DType::f64 : DType::f32;
  const auto read = [=](const Exprs& at) {
    Expr number = cast(x.at(at), type);
    if (has_zero) number = make(Op::sub, number, cast(zero.at(place.of(at, zero)), type));
    return cast(make(Op::mul, number, cast(scale.at(place.of(at, scale)), type)), to);
  };
  l.out(0, l.computed(to, x.dims, read, x.cost + 2));
}

}  // namespace ingot::lower
