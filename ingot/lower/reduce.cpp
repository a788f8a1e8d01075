// Operators that make one number of many along axes.
#include "ingot/lower/axes.h"
#include "ingot/lower/rows.h"

namespace ingot::lower {
template <Combine combine> void lower_reduction(Lowering& l) {
  const View x = l.in(0);
  const NamedAxes axes = named_axes(l, 1, x.rank(), l.attr("noop_with_empty_axes", 0) == 0);
  Exprs kept, over, last;
  for (std::size_t i = 0; i < x.rank(); ++i) {
    const Expr& is = axes.is_named[i];
    kept.push_back(select(is, 1, x.dims[i]));
    if (!kept.back().as_int()) kept.back() = l.let(kept.back());
    if (is.as_int() != 0) over.push_back(select(is, x.dims[i], 1));
    if (is.as_int() != 1 || l.attr("keepdims", 1)) last.push_back(kept.back());
  }
  const auto value = [&](const Exprs& at, const Exprs& inner) {
    Exprs place;
    for (std::size_t i = 0, k = 0; i < x.rank(); ++i) {
      const Expr& is = axes.is_named[i];
      place.push_back(is.as_int() == 0 ? at[i] : select(is, inner[k++], at[i]));
    }
    return x.at(place);
  };
  if (axes.is_known) {
    const View y = l.reduced(x.type, kept, over, combine, value);
    return l.out(0, l.reshaped(y, last));
  }
  // The shape that inference or the model states is the same in the end.
  Exprs dims = l.attr("keepdims", 1) ? kept : left_dims(l, x.dims, axes, left_rank(l, 1, x.rank()));
  l.settle(0, dims);
  View y = l.fresh(x.type, dims);
  const View result = y;
  y.dims = kept;
  l.reduce_into(y, over, combine, value);
  l.out(0, result);
}
template void lower_reduction<Combine::sum>(Lowering&);
template void lower_reduction<Combine::product>(Lowering&);
template void lower_reduction<Combine::min>(Lowering&);
template void lower_reduction<Combine::max>(Lowering&);

template <bool is_max> void lower_arg_extremum(Lowering& l) {
  const View x = l.stored(l.in(0));
  const auto axis = static_cast<std::size_t>(l.axis(l.attr("axis", 0), x.rank()));
  const bool takes_last = l.attr("select_last_index", 0) != 0;
  Exprs dims = x.dims, last;
  dims[axis] = 1;
  for (std::size_t i = 0; i < dims.size(); ++i)
    if (i != axis || l.attr("keepdims", 1)) last.push_back(dims[i]);
  l.require_place(x.dims[axis], product(dims));
  const View y = l.fresh(DType::i64, dims);
  l.loops(dims, [&](Exprs at) {
    const Expr best = l.let(x.at(at), true), place = l.let(0, true);
    l.loop(x.dims[axis], [&](Expr i) {
      Exprs here = at;
      here[axis] = i;
      const Expr v = l.let(x.at(here));
      const Expr &low = is_max ? best : v, &high = is_max ? v : best;
      const Expr is_better = Expr::make(takes_last ? Op::less_equal : Op::less, DType::boolean, {low, high});
      l.branch(is_better, [&] {
        l.set(best, v);
        l.set(place, i);
      });
    });
    l.store(y, at, from_index(place, DType::i64));
  });
  l.out(0, l.reshaped(y, last));
}
template void lower_arg_extremum<true>(Lowering&);
template void lower_arg_extremum<false>(Lowering&);

namespace {

template <bool is_product> void accumulate_along(Lowering& l, const View& x, const View& y, std::size_t axis) {
  const bool is_exclusive = l.attr("exclusive", 0) != 0, is_reversed = l.attr("reverse", 0) != 0;
  Exprs outer = x.dims;
  outer[axis] = 1;
  const DType type = is_float(x.type) && x.type != DType::f64 ? DType::f32 : x.type;
  l.loops(outer, [&](Exprs at) {
    const Expr sum = l.let(Expr::constant(is_product, type), true);
    l.loop(x.dims[axis], [&](Expr i) {
      at[axis] = is_reversed ? x.dims[axis] - 1 - i : i;
      const Expr next = Expr::make(is_product ? Op::mul : Op::add, type, {sum, cast(x.at(at), type)});
      if (is_exclusive) l.store(y, at, cast(sum, x.type));
      l.set(sum, next);
      if (!is_exclusive) l.store(y, at, cast(sum, x.type));
    });
  });
}

}  // namespace

template <bool is_product> void lower_cumulative(Lowering& l) {
  const View x = l.in(0), y = l.fresh(x.type, x.dims);
  const Expr axis = place_of(l.single_int(1), static_cast<std::int64_t>(x.rank()));
  for (std::size_t a = 0; a < x.rank(); ++a) {
    const Expr is = equal(axis, static_cast<std::int64_t>(a));
    if (is.as_int() == 0) continue;
    if (is.as_int())
      accumulate_along<is_product>(l, x, y, a);
    else
      l.branch(is, [&] { accumulate_along<is_product>(l, x, y, a); });
  }
  l.out(0, y);
}
template void lower_cumulative<true>(Lowering&);
template void lower_cumulative<false>(Lowering&);

template <bool is_max> void lower_global_pool(Lowering& l) {
  const View x = l.in(0);
  Exprs dims = x.dims;
  const Exprs over(x.dims.begin() + 2, x.dims.end());
  for (std::size_t i = 2; i < dims.size(); ++i) dims[i] = 1;
  const DType type = x.type == DType::f64 || is_max ? x.type : DType::f32;
  const View sums =
      l.reduced(type, dims, over, is_max ? Combine::max : Combine::sum, [&](Exprs at, const Exprs& inner) {
        std::copy(inner.begin(), inner.end(), at.begin() + 2);
        return cast(x.at(at), type);
      });
  if (is_max) return l.out(0, sums);
  const Expr count = from_index(product(over), type);
  l.out(0, l.computed(
               x.type, dims,
               [=](const Exprs& at) {
                 return cast(Expr::make(Op::div, type, {sums.at(at), count}), x.type);
               },
               1));
}
template void lower_global_pool<true>(Lowering&);
template void lower_global_pool<false>(Lowering&);

void lower_global_lp_pool(Lowering& l) {
  const View x = l.in(0);
  Exprs dims = x.dims;
  const Exprs over(x.dims.begin() + 2, x.dims.end());
  for (std::size_t i = 2; i < dims.size(); ++i) dims[i] = 1;
  const auto p = static_cast<double>(l.attr("p", 2));
  const auto power = [](const Expr& base, double exponent) {
    return Expr::make(Op::pow, DType::f64, {base, Expr::constant(exponent, DType::f64)});
  };
  const View sums = l.reduced(DType::f64, dims, over, Combine::sum, [&](Exprs at, const Exprs& inner) {
    std::copy(inner.begin(), inner.end(), at.begin() + 2);
    return power(Expr::make(Op::abs, DType::f64, {cast(x.at(at), DType::f64)}), p);
  });
  l.out(0, l.computed(
               x.type, dims, [=](const Exprs& at) { return cast(power(sums.at(at), 1 / p), x.type); }, 1));
}

}  // namespace ingot::lower
