// Operators on sequences and optionals. A sequence is the elements of its tensors one after the other and a table of
// their dimensions; an optional is what it may hold, and whether it does.
#include <algorithm>

#include "ingot/lower/rows.h"

namespace ingot::lower {
namespace {

Expr number(const Expr& index) { return from_index(index, DType::i64); }

Expr settled(Lowering& l, const Expr& e) { return e.as_int() ? e : l.let(e); }

/// The dimensions of a tensor in a sequence.
Exprs dims_of(Lowering& l, const List& list, const Expr& i) {
  Exprs dims;
  for (std::int64_t c = 0; c < list.rank; ++c) dims.push_back(l.let(as_index(list.table.at({i, c}))));
  return dims;
}

/// Elements before a tensor.
Expr offset_of(Lowering& l, const List& list, const Expr& i) {
  const Expr sum = l.let(0, true);
  l.loop(i, [&](Expr k) { l.set(sum, sum + product(dims_of(l, list, k))); });
  return l.let(sum);
}

/// Where an index leads, counted from either end, at most `last`.
Expr position(Lowering& l, std::size_t input, const Expr& count, const Expr& last) {
  const Expr given = l.single_int(input);
  return l.let(max(0, min(last, select(less(given, 0), given + count, given))));
}

List list_of(Lowering& l, const std::vector<View>& tensors) {
  List list{tensors[0].type, static_cast<std::int64_t>(tensors[0].rank()), {}, {}, std::ssize(tensors)};
  Expr total = 0;
  for (const View& t : tensors) {
    if (t.rank() != tensors[0].rank()) l.refuse("tensors of different rank in one sequence");
    total = total + product(t.dims);
  }
  list.data = l.fresh(list.type, {settled(l, total)});
  list.table = l.fresh(DType::i64, {list.count, list.rank});
  Expr start = 0;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const View& t = tensors[i];
    l.map(
        list.data, t.dims, [&](const Exprs& at) { return Exprs{start + flat_index(at, t.dims)}; },
        [&](const Exprs& at) { return t.at(at); });
    for (std::size_t c = 0; c < t.rank(); ++c)
      l.store(list.table, {static_cast<std::int64_t>(i), static_cast<std::int64_t>(c)}, number(t.dims[c]));
    start = settled(l, start + product(t.dims));
  }
  return list;
}

View row_of(Lowering& l, const Exprs& dims) {
  const View row = l.fresh(DType::i64, {std::max<std::int64_t>(std::ssize(dims), 1)});
  for (std::size_t c = 0; c < dims.size(); ++c) l.store(row, {static_cast<std::int64_t>(c)}, number(dims[c]));
  return row;
}

}  // namespace

void lower_sequence_construct(Lowering& l) {
  std::vector<View> tensors;
  for (std::size_t i = 0; i < l.input_count(); ++i) tensors.push_back(l.stored(l.in(i)));
  if (tensors.empty()) l.refuse("a sequence of nothing");
  l.list_out(0, list_of(l, tensors));
}

void lower_sequence_empty(Lowering& l) {
  const auto type = static_cast<DType>(l.attr("dtype", static_cast<std::int64_t>(DType::f32)));
  l.list_out(0, {type, -1, {}, {}, 0});
}

void lower_sequence_insert(Lowering& l) {
  const List list = l.list_in(0);
  const View x = l.stored(l.in(1));
  if (list.rank < 0) return l.list_out(0, list_of(l, {x}));
  if (list.rank != static_cast<std::int64_t>(x.rank())) l.refuse("tensors of different rank in one sequence");
  const Expr at = l.has(2) ? position(l, 2, list.count, list.count) : list.count;
  const Expr start = offset_of(l, list, at), size = settled(l, product(x.dims));
  const View flat = l.reshaped(x, {size}), row = row_of(l, x.dims);
  List made{list.type, list.rank, {}, {}, settled(l, list.count + 1)};
  made.data = l.copied(l.computed(list.type, {settled(l, list.data.dims[0] + size)}, [=](const Exprs& k) {
    return select(less(k[0], start), list.data.at(k),
                  select(less(k[0], start + size), flat.at({k[0] - start}), list.data.at({k[0] - size})));
  }));
  made.table = l.copied(l.computed(DType::i64, {made.count, list.rank}, [=](const Exprs& k) {
    return select(less(k[0], at), list.table.at(k),
                  select(equal(k[0], at), row.at({k[1]}), list.table.at({k[0] - 1, k[1]})));
  }));
  l.list_out(0, made);
}

void lower_sequence_erase(Lowering& l) {
  const List list = l.list_in(0);
  if (list.rank < 0) l.refuse("nothing can be taken out of an empty sequence");
  l.require(less(0, list.count));
  const Expr at = position(l, 1, list.count, list.count - 1);
  const Expr from = l.has(1) ? at : settled(l, list.count - 1);
  const Expr start = offset_of(l, list, from), size = l.let(product(dims_of(l, list, from)));
  List made{list.type, list.rank, {}, {}, settled(l, list.count - 1)};
  made.data = l.copied(l.computed(list.type, {l.let(list.data.dims[0] - size)}, [=](const Exprs& k) {
    return select(less(k[0], start), list.data.at(k), list.data.at({k[0] + size}));
  }));
  made.table = l.copied(l.computed(DType::i64, {made.count, list.rank}, [=](const Exprs& k) {
    return select(less(k[0], from), list.table.at(k), list.table.at({k[0] + 1, k[1]}));
  }));
  l.list_out(0, made);
}

void lower_sequence_at(Lowering& l) {
  const List list = l.list_in(0);
  if (list.rank < 0) l.refuse("an empty sequence has no tensor");
  l.require(less(0, list.count));
  const Expr at = position(l, 1, list.count, list.count - 1), start = offset_of(l, list, at);
  Exprs dims = dims_of(l, list, at);
  const Exprs counted = dims;
  l.settle(0, dims);
  l.out(0, l.copied(l.computed(list.type, dims, [=](const Exprs& place) {
    return list.data.at({start + flat_index(place, counted)});
  })));
}

void lower_sequence_length(Lowering& l) {
  const Expr count = number(l.list_in(0).count);
  l.out(0, l.computed(DType::i64, {}, [=](const Exprs&) { return count; }));
}

void lower_concat_from_sequence(Lowering& l) {
  const List list = l.list_in(0);
  if (list.rank < 0) l.refuse("an empty sequence has no shape");
  const bool is_new = l.attr("new_axis", 0) != 0;
  l.require(less(0, list.count));
  const auto axis =
      static_cast<std::size_t>(l.axis(l.attr("axis", 0), static_cast<std::size_t>(list.rank) + (is_new ? 1 : 0)));
  Exprs dims = dims_of(l, list, 0);
  if (is_new) {
    dims.insert(dims.begin() + static_cast<std::ptrdiff_t>(axis), list.count);
  } else {
    const Expr sum = l.let(0, true);
    l.loop(list.count, [&](Expr i) { l.set(sum, sum + dims_of(l, list, i)[axis]); });
    dims[axis] = l.let(sum);
  }
  l.settle(0, dims);
  const View y = l.fresh(list.type, dims);
  const Expr start = l.let(0, true), along = l.let(0, true);
  l.loop(list.count, [&](Expr i) {
    const Exprs here = dims_of(l, list, i);
    for (std::size_t d = 0; d < here.size(); ++d)
      if (is_new || d != axis) l.require_same(here[d], dims[d + (is_new && d >= axis)]);
    l.loops(here, [&](const Exprs& at) {
      Exprs to = at;
      if (is_new)
        to.insert(to.begin() + static_cast<std::ptrdiff_t>(axis), i);
      else
        to[axis] = along + at[axis];
      l.store(y, to, list.data.at({start + flat_index(at, here)}));
    });
    l.set(start, start + product(here));
    if (!is_new) l.set(along, along + here[axis]);
  });
  l.out(0, y);
}

void lower_split_to_sequence(Lowering& l) {
  const View x = l.stored(l.in(0));
  const auto axis = static_cast<std::size_t>(l.axis(l.attr("axis", 0), x.rank()));
  const bool is_squeezed = !l.has(1) && l.attr("keepdims", 1) == 0;
  const View given = l.has(1) ? l.in(1) : View{};
  const bool has_sizes = l.has(1) && given.rank() == 1;
  const Expr n = x.dims[axis], chunk = !l.has(1) ? Expr(1) : has_sizes ? Expr(0) : settled(l, max(1, l.single_int(1)));
  const auto rank = static_cast<std::int64_t>(x.rank()) - (is_squeezed ? 1 : 0);
  List list{x.type, rank, {}, {}, settled(l, has_sizes ? given.dims[0] : ceil_div(n, chunk))};
  list.data = l.fresh(x.type, {settled(l, product(x.dims))});
  list.table = l.fresh(DType::i64, {list.count, rank});
  const Expr along = l.let(0, true), start = l.let(0, true);
  l.loop(list.count, [&](Expr i) {
    const Expr wanted = has_sizes ? as_index(given.at({i})) : chunk;
    if (has_sizes) l.require(both(less_equal(0, wanted), less_equal(wanted, n - along)));
    const Expr size = l.let(max(0, min(wanted, n - along)));
    Exprs here = x.dims;
    here[axis] = size;
    for (std::size_t d = 0, c = 0; d < here.size(); ++d)
      if (!is_squeezed || d != axis) l.store(list.table, {i, static_cast<std::int64_t>(c++)}, number(here[d]));
    l.loops(here, [&](const Exprs& at) {
      Exprs from = at;
      from[axis] = along + at[axis];
      l.store(list.data, {start + flat_index(at, here)}, x.at(from));
    });
    l.set(along, along + size);
    l.set(start, start + product(here));
  });
  if (has_sizes) l.require_same(along, n);
  l.list_out(0, list);
}

void lower_hand_on(Lowering& l) { l.hand_on(l.node().input(0), l.node().output(0)); }

void lower_optional_has_element(Lowering& l) {
  const Expr has = l.has(0) ? l.is_present(l.node().input(0)) : Expr::integer(0, DType::boolean);
  l.out(0, l.computed(DType::boolean, {}, [=](const Exprs&) { return has; }));
}

}  // namespace ingot::lower
