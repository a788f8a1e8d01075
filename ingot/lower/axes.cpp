// Axes that are named by inputs.
#include "ingot/lower/axes.h"

namespace ingot::lower {
namespace {

Expr truth(bool value) { return Expr::integer(value, DType::boolean); }

/// The number of elements of an input of rank 1, if it is only known at run time.
std::optional<Expr> unknown_count(Lowering& l, std::size_t input) {
  if (l.known_ints(input)) return std::nullopt;
  const View x = l.in(input);
  return x.rank() == 1 && !x.dims[0].as_int() ? std::optional(x.dims[0]) : std::nullopt;
}

}  // namespace

NamedAxes named_axes(Lowering& l, std::size_t input, std::size_t rank, bool all) {
  NamedAxes axes;
  axes.is_named.assign(rank, truth(all));
  if (!l.has(input)) return axes;
  const auto known = l.known_ints(input);
  const auto count = static_cast<std::int64_t>(rank);
  if (known ? known->empty() : l.in(input).rank() == 1 && l.in(input).dims[0].as_int() == 0) return axes;
  axes.is_named.assign(rank, truth(false));
  if (known) {
    for (const std::int64_t a : *known)
      if (const auto axis = static_cast<std::size_t>(l.axis(a, rank));
          axis < rank)  // a scalar has none, and may be asked
        axes.is_named[axis] = truth(true);
    return axes;
  }
  axes.is_known = false;
  if (const auto given = unknown_count(l, input)) {
    const View x = l.in(input);
    for (Expr& is : axes.is_named) is = l.let(all ? equal(*given, 0) : truth(false), true);
    l.loop(*given, [&](Expr k) {
      const Expr axis = l.let(place_of(x.at({k}), count));
      for (std::size_t i = 0; i < rank; ++i)
        l.set(axes.is_named[i], either(axes.is_named[i], equal(axis, static_cast<std::int64_t>(i))));
    });
    return axes;
  }
  for (const Expr& a : l.ints(input)) {
    const Expr axis = place_of(a, count);
    for (std::size_t i = 0; i < rank; ++i)
      axes.is_named[i] = either(axes.is_named[i], equal(axis, static_cast<std::int64_t>(i)));
  }
  for (Expr& is : axes.is_named) is = l.let(is);
  return axes;
}

std::size_t left_rank(Lowering& l, std::size_t input, std::size_t rank) {
  if (unknown_count(l, input)) return l.stated_rank(0);
  const std::size_t named = l.ints(input).size();
  if (named > rank) l.refuse("more axes are named than there are");
  return rank - named;
}

Exprs left_dims(Lowering& l, const Exprs& dims, const NamedAxes& axes, std::size_t count) {
  Exprs left(count, 1);
  Expr before = 0;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    for (std::size_t k = 0; k < count; ++k) {
      const Expr is_here = both(negate(axes.is_named[i]), equal(before, static_cast<std::int64_t>(k)));
      left[k] = l.let(select(is_here, dims[i], left[k]));
    }
    before = l.let(before + select(axes.is_named[i], 0, 1));
  }
  return left;
}

Exprs wider_dims(Lowering& l, const Exprs& dims, const NamedAxes& axes) {
  Exprs wide(axes.is_named.size(), 1);
  Expr taken = 0;
  for (std::size_t i = 0; i < wide.size(); ++i) {
    for (std::size_t k = 0; k < dims.size(); ++k) {
      const Expr is_here = both(negate(axes.is_named[i]), equal(taken, static_cast<std::int64_t>(k)));
      wide[i] = l.let(select(is_here, dims[k], wide[i]));
    }
    taken = l.let(taken + select(axes.is_named[i], 0, 1));
  }
  return wide;
}

Exprs ByAxis::of(Lowering& l, const Exprs& fallback) const {
  const bool has_axes = l.has(axes_input);
  if (unknown_count(l, input) || (has_axes && unknown_count(l, axes_input))) return of_unknown_count(l, fallback);
  const Exprs given = l.ints(input);
  const std::size_t count = given.size() / parts;
  if (given.size() % parts) l.refuse("there are not " + std::to_string(parts) + " numbers for each axis");
  const Exprs axes = has_axes ? l.ints(axes_input, count) : Exprs();
  Exprs all = fallback;
  for (std::size_t k = 0; k < count; ++k) {
    const Expr axis =
        has_axes ? place_of(axes[k], static_cast<std::int64_t>(all.size())) : Expr(static_cast<std::int64_t>(k));
    for (std::size_t i = 0; i < all.size(); ++i) {
      all[i] = select(equal(axis, static_cast<std::int64_t>(i)), given[part * count + k], all[i]);
      if (!all[i].as_int() && all[i]->op == Op::select) all[i] = l.let(all[i]);
    }
  }
  return all;
}

Exprs ByAxis::of_unknown_count(Lowering& l, const Exprs& fallback) const {
  const View given = l.in(input), axes = l.has(axes_input) ? l.in(axes_input) : View{};
  if (given.rank() != 1 || axes.rank() > 1) l.refuse("numbers for axes that are no list");
  const auto rank = static_cast<std::int64_t>(fallback.size());
  const Expr room = floor_div(given.dims[0], static_cast<std::int64_t>(parts));
  const Expr count = l.let(min(room, axes.rank() ? axes.dims[0] : Expr(rank)));
  Exprs all;
  for (const Expr& f : fallback) all.push_back(l.let(f, true));
  l.loop(count, [&](Expr k) {
    const Expr axis = l.let(axes.rank() ? place_of(axes.at({k}), rank) : k);
    const Expr number = l.let(as_index(given.at({room * static_cast<std::int64_t>(part) + k})));
    for (std::size_t i = 0; i < all.size(); ++i)
      l.set(all[i], select(equal(axis, static_cast<std::int64_t>(i)), number, all[i]));
  });
  return all;
}

}  // namespace ingot::lower
