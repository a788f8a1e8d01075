// Operators that order elements or pick some of them.
#include "ingot/lower/rows.h"

namespace ingot::lower {
namespace {

Expr number(const Expr& index) { return from_index(index, DType::i64); }

/// The order of the elements along an axis.
View sorted(Lowering& l, const View& x, std::size_t axis, bool is_descending) {
  const View places = l.fresh(DType::i64, x.dims);
  const auto a = static_cast<std::ptrdiff_t>(axis);
  Sort sort;
  sort.places = places.tensor;
  sort.x = x.tensor;
  sort.outer = product(Exprs(x.dims.begin(), x.dims.begin() + a));
  sort.n = x.dims[axis];
  sort.inner = product(Exprs(x.dims.begin() + a + 1, x.dims.end()));
  sort.is_descending = is_descending;
  l.emit({sort});
  return places;
}

}  // namespace

void lower_top_k(Lowering& l) {
  const View x = l.stored(l.in(0));
  const auto axis = static_cast<std::size_t>(l.axis(l.attr("axis", -1), x.rank()));
  const View places = sorted(l, x, axis, l.attr("largest", 1) != 0);
  Exprs dims = x.dims;
  dims[axis] = l.single_int(1);
  l.settle(0, dims);
  if (!dims[axis].as_int()) dims[axis] = l.let(dims[axis]);
  l.require_natural(dims[axis]);
  if (!same(dims[axis], x.dims[axis])) l.require(less_equal(dims[axis], x.dims[axis]));
  l.out(0, l.computed(x.type, dims, [=](const Exprs& at) {
    Exprs place = at;
    place[axis] = as_index(places.at(at));
    return x.at(place);
  }));
  l.out(1, l.computed(DType::i64, dims, [=](const Exprs& at) { return places.at(at); }));
}

namespace {

/// Slices of [outer, n, inner] along the middle axis that differ, while they are found.
struct Different {
  View x, firsts, group, counts, rank;
  Expr n, count;

  Expr element(const Expr& slice, const Exprs& at) const { return x.at({at[0], slice, at[1]}); }
  Exprs rest() const { return {x.dims[0], x.dims[2]}; }
};

/// Whether slice i is the same as slice j, as a variable.
Expr are_equal(Lowering& l, const Different& d, const Expr& i, const Expr& j) {
  const Expr is = l.let(Expr::integer(1, DType::boolean), true);
  l.loops(d.rest(), [&](const Exprs& at) {
    const Expr differs = negate(Expr::make(Op::equal, DType::boolean, {d.element(i, at), d.element(j, at)}));
    l.branch(differs, [&] { l.set(is, Expr::integer(0, DType::boolean)); });
  });
  return is;
}

/// Gives each slice the number of the first that equals it.
void find_groups(Lowering& l, const Different& d) {
  l.loop(d.n, [&](Expr i) {
    const Expr found = l.let(-1, true);
    l.loop(d.count, [&](Expr g) {
      l.branch(less(found, 0), [&] {
        const Expr is = are_equal(l, d, i, as_index(d.firsts.at({g})));
        l.branch(is, [&] { l.set(found, g); });
      });
    });
    l.branch(
        less(found, 0),
        [&] {
          l.store(d.firsts, {d.count}, number(i));
          l.store(d.group, {i}, number(d.count));
          l.store(d.counts, {d.count}, Expr::integer(1, DType::i64));
          l.set(d.count, d.count + 1);
        },
        [&] {
          l.store(d.group, {i}, number(found));
          l.store(d.counts, {found}, number(as_index(d.counts.at({found})) + 1));
        });
  });
}

/// The place of each group in ascending order of its elements.
void rank_groups(Lowering& l, const Different& d) {
  l.loop(d.count, [&](Expr g) {
    const Expr smaller = l.let(0, true);
    l.loop(d.count, [&](Expr h) {
      const Expr order = l.let(0, true);
      l.loops(d.rest(), [&](const Exprs& at) {
        const Expr a = l.let(d.element(as_index(d.firsts.at({h})), at)),
                   b = l.let(d.element(as_index(d.firsts.at({g})), at));
        l.branch(equal(order, 0), [&] {
          l.branch(
              less(a, b), [&] { l.set(order, -1); }, [&] { l.branch(less(b, a), [&] { l.set(order, 1); }); });
        });
      });
      l.branch(less(order, 0), [&] { l.set(smaller, smaller + 1); });
    });
    l.store(d.rank, {g}, number(smaller));
  });
}

/// The same for single numbers, which need no search: equal ones are neighbours in the order of all.
void group_numbers(Lowering& l, const View& x, const Different& d) {
  const View order = sorted(l, x, 0, false);
  l.loop(d.n, [&](Expr i) {
    const Expr here = l.let(as_index(order.at({i}))), before = l.let(as_index(order.at({max(0, i - 1)})));
    const Expr is_same = Expr::make(Op::equal, DType::boolean, {x.at({here}), x.at({before})});
    l.branch(
        both(less(0, i), is_same),
        [&] {
          const Expr last = d.counts.at({d.count - 1});
          l.store(d.counts, {d.count - 1}, Expr::make(Op::add, DType::i64, {last, Expr::integer(1, DType::i64)}));
        },
        [&] {
          l.store(d.firsts, {d.count}, number(here));
          l.store(d.counts, {d.count}, Expr::integer(1, DType::i64));
          l.set(d.count, d.count + 1);
        });
    l.store(d.group, {here}, number(d.count - 1));
  });
  if (l.attr("sorted", 1)) return l.loop(d.count, [&](Expr g) { l.store(d.rank, {g}, number(g)); });
  const Expr next = l.let(0, true);
  l.loop(d.n, [&](Expr i) {
    const Expr group = l.let(as_index(d.group.at({i})));
    l.branch(equal(as_index(d.firsts.at({group})), i), [&] {
      l.store(d.rank, {group}, number(next));
      l.set(next, next + 1);
    });
  });
}

}  // namespace

void lower_unique(Lowering& l) {
  View x = l.stored(l.in(0));
  const bool has_axis = l.node().attributes.has("axis");
  const auto axis = has_axis ? static_cast<std::size_t>(l.axis(l.attr("axis", 0), x.rank())) : 0;
  if (!has_axis) x = l.reshaped(x, {product(x.dims)});
  const auto a = static_cast<std::ptrdiff_t>(axis);
  const Expr n = x.dims[axis];
  Different d;
  d.x = l.reshaped(
      x, {product(Exprs(x.dims.begin(), x.dims.begin() + a)), n, product(Exprs(x.dims.begin() + a + 1, x.dims.end()))});
  d.n = n;
  for (View* v : {&d.firsts, &d.group, &d.counts, &d.rank}) *v = l.fresh(DType::i64, {n});
  d.count = l.let(0, true);
  if (x.rank() == 1) {
    group_numbers(l, x, d);
  } else {
    find_groups(l, d);
    if (l.attr("sorted", 1))
      rank_groups(l, d);
    else
      l.loop(d.count, [&](Expr g) { l.store(d.rank, {g}, number(g)); });
  }
  Exprs dims = x.dims;
  dims[axis] = l.let(d.count);
  const Exprs counted = {dims[axis]};
  const View y = l.fresh(x.type, dims), firsts = l.fresh(DType::i64, counted), counts = l.fresh(DType::i64, counted);
  const View y3 = {y.type, {d.x.dims[0], dims[axis], d.x.dims[2]}, y.tensor, {}, 0};
  l.loop(dims[axis], [&](Expr g) {
    const Expr place = l.let(as_index(d.rank.at({g})));
    l.store(firsts, {place}, d.firsts.at({g}));
    l.store(counts, {place}, d.counts.at({g}));
    l.loops(d.rest(), [&](const Exprs& at) {
      l.store(y3, {at[0], place, at[1]}, d.element(as_index(d.firsts.at({g})), at));
    });
  });
  l.out(0, y);
  l.out(1, firsts);
  const View group = d.group, rank = d.rank;
  l.out(2, l.copied(l.computed(DType::i64, {n}, [=](const Exprs& at) { return rank.at({as_index(group.at(at))}); })));
  l.out(3, counts);
}

namespace {

struct Corners {
  Expr low_y, low_x, high_y, high_x;
};

Expr f32(Op op, const Expr& a, const Expr& b) { return Expr::make(op, DType::f32, {a, b}); }

/// Corners in either order, or centre and size.
Corners corners_of(Lowering& l, const View& boxes, const Expr& batch, const Expr& box, bool is_centred) {
  Exprs b;
  for (std::int64_t i = 0; i < 4; ++i) b.push_back(l.let(boxes.at({batch, box, i})));
  const auto let = [&](Op op, const Expr& p, const Expr& q) { return l.let(f32(op, p, q)); };
  if (!is_centred)
    return {let(Op::min, b[0], b[2]), let(Op::min, b[1], b[3]), let(Op::max, b[0], b[2]), let(Op::max, b[1], b[3])};
  const Expr half = Expr::constant(0.5, DType::f32);
  const Expr height = f32(Op::mul, b[3], half), width = f32(Op::mul, b[2], half);
  return {let(Op::sub, b[1], height), let(Op::sub, b[0], width), let(Op::add, b[1], height), let(Op::add, b[0], width)};
}

/// The area that two boxes share as part of the area they cover together.
Expr overlap(Lowering& l, const Corners& a, const Corners& b) {
  const Expr zero = Expr::constant(0, DType::f32);
  const auto area = [&](const Corners& c) {
    return l.let(f32(Op::mul, f32(Op::sub, c.high_y, c.low_y), f32(Op::sub, c.high_x, c.low_x)));
  };
  const Expr height = l.let(f32(Op::sub, f32(Op::min, a.high_y, b.high_y), f32(Op::max, a.low_y, b.low_y)));
  const Expr width = l.let(f32(Op::sub, f32(Op::min, a.high_x, b.high_x), f32(Op::max, a.low_x, b.low_x)));
  const Expr area_a = area(a), area_b = area(b), shared = l.let(f32(Op::mul, height, width));
  const Expr meets = both(both(less(zero, height), less(zero, width)), both(less(zero, area_a), less(zero, area_b)));
  return l.let(select(meets, f32(Op::div, shared, f32(Op::sub, f32(Op::add, area_a, area_b), shared)), zero));
}

}  // namespace

void lower_non_max_suppression(Lowering& l) {
  const View boxes = l.stored(l.in(0)), scores = l.stored(l.in(1));
  const Expr batches = scores.dims[0], classes = scores.dims[1], n = scores.dims[2];
  const bool is_centred = l.attr("center_point_box", 0) != 0;
  l.require_same(boxes.dims, {batches, n, 4});
  const auto scalar = [&](std::size_t i, double fallback) {
    if (!l.has(i)) return Expr::constant(fallback, DType::f32);
    const View v = l.in(i);
    return v.at(Exprs(v.rank(), 0));
  };
  const Expr most = l.has(2) ? l.let(l.single_int(2)) : Expr(0);
  const Expr most_overlap = l.let(scalar(3, 0)), least_score = l.let(scalar(4, -__builtin_inf()));
  const View order = sorted(l, scores, 2, true);
  const View found = l.fresh(DType::i64, {batches * classes * n, 3});
  const Expr count = l.let(0, true);
  l.loops({batches, classes}, [&](const Exprs& at) {
    const Expr start = l.let(count);
    l.loop(n, [&](Expr k) {
      const Expr box = l.let(as_index(order.at({at[0], at[1], k})));
      const Expr is_good = both(less(least_score, scores.at({at[0], at[1], box})), less(count - start, most));
      l.branch(is_good, [&] {
        const Corners corners = corners_of(l, boxes, at[0], box, is_centred);
        const Expr is_kept = l.let(Expr::integer(1, DType::boolean), true);
        l.loop(count - start, [&](Expr j) {
          const Corners other = corners_of(l, boxes, at[0], as_index(found.at({start + j, 2})), is_centred);
          l.branch(less(most_overlap, overlap(l, corners, other)),
                   [&] { l.set(is_kept, Expr::integer(0, DType::boolean)); });
        });
        l.branch(is_kept, [&] {
          l.store(found, {count, 0}, number(at[0]));
          l.store(found, {count, 1}, number(at[1]));
          l.store(found, {count, 2}, number(box));
          l.set(count, count + 1);
        });
      });
    });
  });
  const Expr kept = l.let(count);
  const View y = l.fresh(DType::i64, {kept, 3});
  l.map(
      y, y.dims, [](const Exprs& at) { return at; }, [&](const Exprs& at) { return found.at(at); });
  l.out(0, y);
}

}  // namespace ingot::lower
