// Operators that read or write where other tensors say.
#include "ingot/lower/rows.h"

namespace ingot::lower {
namespace {

Exprs part(const Exprs& xs, std::size_t from, std::size_t to) {
  return Exprs(xs.begin() + static_cast<std::ptrdiff_t>(from), xs.begin() + static_cast<std::ptrdiff_t>(to));
}

Exprs joined(Exprs a, const Exprs& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

/// What a written element becomes.
Expr combined(const std::string& how, const Expr& old, const Expr& update) {
  const auto by = [&](Op op) { return Expr::make(op, old.type(), {old, update}); };
  if (how == "add") return by(Op::add);
  if (how == "mul") return by(Op::mul);
  if (how == "max") return by(Op::max);
  if (how == "min") return by(Op::min);
  return update;
}

/// That indices, each at its own place of all axes but one, lead to places.
void require_within(Lowering& l, const Exprs& indices, const Exprs& dims, std::size_t axis) {
  if (indices.size() != dims.size()) l.refuse("the indices have another rank than what they lead into");
  for (std::size_t i = 0; i < dims.size(); ++i) {
    if (i == axis)
      l.require_place(dims[i], product(indices));
    else if (!same(indices[i], dims[i]))
      l.require(less_equal(indices[i], dims[i]));
  }
}

}  // namespace

void lower_gather(Lowering& l) {
  const View x = l.in(0), indices = l.in(1);
  const auto axis = static_cast<std::size_t>(l.axis(l.attr("axis", 0), x.rank()));
  const std::size_t width = indices.rank();
  Exprs dims = joined(joined(part(x.dims, 0, axis), indices.dims), part(x.dims, axis + 1, x.rank()));
  l.settle(0, dims);
  l.require_place(x.dims[axis], product(indices.dims));
  const auto read = [=](const Exprs& at) {
    const Expr place = place_of(indices.at(part(at, axis, axis + width)), x.dims[axis]);
    return x.at(joined(joined(part(at, 0, axis), {place}), part(at, axis + width, at.size())));
  };
  l.out(0, l.computed(x.type, dims, read, x.cost + indices.cost));
}

void lower_gather_elements(Lowering& l) {
  const View x = l.in(0), indices = l.in(1);
  const auto axis = static_cast<std::size_t>(l.axis(l.attr("axis", 0), x.rank()));
  require_within(l, indices.dims, x.dims, axis);
  const auto read = [=](const Exprs& at) {
    Exprs place = at;
    place[axis] = place_of(indices.at(at), x.dims[axis]);
    return x.at(place);
  };
  l.out(0, l.computed(x.type, indices.dims, read, x.cost + indices.cost));
}

void lower_gather_nd(Lowering& l) {
  const View x = l.in(0), indices = l.in(1);
  const auto batch = static_cast<std::size_t>(l.attr("batch_dims", 0));
  const auto depth = indices.dims.back().as_int();
  const std::size_t outer = indices.rank() - 1;
  const std::size_t n = depth ? static_cast<std::size_t>(*depth) : x.rank() + outer - batch - l.stated_rank(0);
  if (n > x.rank() - std::min(x.rank(), batch)) l.refuse("indices that are deeper than what they lead into");
  l.require_same(part(indices.dims, 0, batch), part(x.dims, 0, batch));
  for (std::size_t k = 0; k < n; ++k) l.require_place(x.dims[batch + k], product(indices.dims));
  Exprs dims = joined(part(indices.dims, 0, outer), part(x.dims, batch + n, x.rank()));
  l.settle(0, dims);
  const auto read = [=](const Exprs& at) {
    Exprs place = part(at, 0, batch);
    for (std::size_t k = 0; k < n; ++k) {
      const Expr index = indices.at(joined(part(at, 0, outer), {static_cast<std::int64_t>(k)}));
      place.push_back(place_of(index, x.dims[batch + k]));
    }
    return x.at(joined(place, part(at, outer, at.size())));
  };
  l.out(0, l.computed(x.type, dims, read, x.cost + indices.cost));
}

void lower_scatter_elements(Lowering& l) {
  const View x = l.in(0), indices = l.in(1), updates = l.in(2);
  const auto axis = static_cast<std::size_t>(l.axis(l.attr("axis", 0), x.rank()));
  const std::string how = l.node().attributes.string_or("reduction", "none");
  require_within(l, indices.dims, x.dims, axis);
  l.require_same(updates.dims, indices.dims);
  const View y = l.copied(x);
  l.loops(indices.dims, [&](const Exprs& at) {
    Exprs place = at;
    place[axis] = place_of(indices.at(at), x.dims[axis]);
    l.store(y, place, combined(how, y.at(place), updates.at(at)));
  });
  l.out(0, y);
}

void lower_scatter_nd(Lowering& l) {
  const View x = l.in(0), indices = l.in(1), updates = l.in(2);
  const auto depth = indices.dims.back().as_int();
  const std::size_t outer = indices.rank() - 1;
  const std::size_t n = depth ? static_cast<std::size_t>(*depth) : x.rank() + outer - updates.rank();
  if (n > x.rank()) l.refuse("indices that are deeper than what they lead into");
  const std::string how = l.node().attributes.string_or("reduction", "none");
  l.require_same(updates.dims, joined(part(indices.dims, 0, outer), part(x.dims, n, x.rank())));
  for (std::size_t k = 0; k < n; ++k) l.require_place(x.dims[k], product(indices.dims));
  const View y = l.copied(x);
  l.loops(updates.dims, [&](const Exprs& at) {
    Exprs place;
    for (std::size_t k = 0; k < n; ++k)
      place.push_back(place_of(indices.at(joined(part(at, 0, outer), {static_cast<std::int64_t>(k)})), x.dims[k]));
    place = joined(place, part(at, outer, at.size()));
    l.store(y, place, combined(how, y.at(place), updates.at(at)));
  });
  l.out(0, y);
}

/// How many elements hold, counted before their places can be kept.
Expr counted(Lowering& l, const Exprs& dims, const std::function<Expr(const Exprs&)>& holds) {
  const Expr count = l.let(0, true);
  l.loops(dims, [&](const Exprs& at) { l.branch(holds(at), [&] { l.set(count, count + 1); }); });
  return count;
}

void lower_non_zero(Lowering& l) {
  const View x = l.stored(l.in(0));
  const auto holds = [&](const Exprs& at) {
    const Expr v = x.at(at);
    return x.type == DType::boolean ? v : negate(Expr::make(Op::equal, DType::boolean, {v, Expr::constant(0, x.type)}));
  };
  Exprs dims = {static_cast<std::int64_t>(x.rank()), Expr()};
  const Expr count = counted(l, x.dims, holds);
  dims[1] = l.let(count);
  const View y = l.fresh(DType::i64, dims);
  l.set(count, 0);
  l.loops(x.dims, [&](const Exprs& at) {
    l.branch(holds(at), [&] {
      for (std::size_t d = 0; d < at.size(); ++d)
        l.store(y, {static_cast<std::int64_t>(d), count}, from_index(at[d], DType::i64));
      l.set(count, count + 1);
    });
  });
  l.out(0, y);
}

void lower_compress(Lowering& l) {
  View x = l.in(0);
  const View condition = l.in(1);
  std::size_t axis = 0;
  if (l.node().attributes.has("axis"))
    axis = static_cast<std::size_t>(l.axis(l.attr("axis", 0), x.rank()));
  else
    x = l.reshaped(x, {product(x.dims)});
  const Expr n = min(condition.dims[0], x.dims[axis]);
  const Expr count = l.let(0, true);
  l.loop(n, [&](Expr i) { l.branch(condition.at({i}), [&] { l.set(count, count + 1); }); });
  Exprs dims = x.dims;
  dims[axis] = l.let(count);
  l.settle(0, dims);
  const View places = l.fresh(DType::i64, {dims[axis]}), kept = places;
  l.set(count, 0);
  l.loop(n, [&](Expr i) {
    l.branch(condition.at({i}), [&] {
      l.store(places, {count}, from_index(i, DType::i64));
      l.set(count, count + 1);
    });
  });
  l.out(0, l.computed(
               x.type, dims,
               [=](Exprs at) {
                 at[axis] = place_of(kept.at({at[axis]}), x.dims[axis]);
                 return x.at(at);
               },
               x.cost));
}

}  // namespace ingot::lower
