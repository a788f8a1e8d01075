// Operators that only move elements, along fixed paths.
#include <algorithm>

#include "ingot/lower/axes.h"
#include "ingot/lower/rows.h"
#include "ingot/lower/walk.h"

namespace ingot::lower {
namespace {

DType elem(Lowering& l) { return l.node().input(0)->type.elem; }

/// A view of the same elements in the same order without storing them: `place` says where each was.
void out_moved(Lowering& l, std::size_t i, const View& x, Exprs dims, std::function<Exprs(const Exprs&)> place) {
  l.settle(i, dims);
  l.out(i, l.computed(
               x.type, std::move(dims), [x, place](const Exprs& at) { return x.at(place(at)); }, x.cost));
}

/// What is in memory is seen in another shape; what is computed is read elsewhere.
void out_seen_as(Lowering& l, const View& x, const Exprs& dims, std::function<Exprs(const Exprs&)> place) {
  if (x.tensor >= 0)
    l.out(0, l.reshaped(x, dims));
  else
    out_moved(l, 0, x, dims, std::move(place));
}

bool is_named(const NamedAxes& axes, std::size_t axis) { return axes.is_named[axis].as_int() == 1; }

}  // namespace

void lower_shape(Lowering& l) {
  const View x = l.in(0);
  const auto rank = static_cast<std::int64_t>(x.rank());
  const auto bound = [rank](std::int64_t i) { return std::clamp<std::int64_t>(i < 0 ? i + rank : i, 0, rank); };
  const std::int64_t start = bound(l.attr("start", 0)), end = bound(l.attr("end", rank));
  Exprs sizes;
  for (std::int64_t i = start; i < end; ++i) sizes.push_back(x.dims[static_cast<std::size_t>(i)]);
  const auto read = [sizes](const Exprs& at) {
    if (const auto i = at[0].as_int()) {
      // Who reads one of several lists asks all of them, and takes what the right one says.
      const bool is_inside = *i >= 0 && *i < static_cast<std::int64_t>(sizes.size());
      return from_index(is_inside ? sizes[static_cast<std::size_t>(*i)] : Expr(0), DType::i64);
    }
    Expr y = from_index(sizes.empty() ? Expr(0) : sizes.back(), DType::i64);
    for (std::size_t i = sizes.size(); i-- > 1;)
      y = select(equal(at[0], static_cast<std::int64_t>(i - 1)), from_index(sizes[i - 1], DType::i64), y);
    return y;
  };
  l.out(0, l.computed(DType::i64, {static_cast<std::int64_t>(sizes.size())}, read));
}

void lower_size(Lowering& l) {
  const Expr size = product(l.in(0).dims);
  l.out(0, l.computed(DType::i64, {}, [size](const Exprs&) { return from_index(size, DType::i64); }));
}

namespace {

/// The shape of an output where inference or the model states all of it.
std::optional<Exprs> stated_dims(Lowering& l) {
  const auto dims = static_dims(l.node().output(0)->type.shape);
  return dims ? std::optional(Exprs(dims->begin(), dims->end())) : std::nullopt;
}

}  // namespace

void lower_reshape(Lowering& l) {
  const View x = l.in(0);
  if (const auto dims = stated_dims(l)) return l.out(0, l.reshaped_exactly(x, *dims));
  Exprs dims = l.sizes(1);
  const bool keeps_zero = l.attr("allowzero", 0) != 0;
  for (std::size_t i = 0; i < dims.size(); ++i)
    if (!keeps_zero && i < x.rank()) dims[i] = select(equal(dims[i], 0), x.dims[i], dims[i]);
  l.settle(0, dims);
  // What is not -1 divides the size.
  Exprs rest;
  Expr unknown = 0;
  for (Expr& d : dims) {
    if (!d.as_int() && d->op != Op::variable) d = l.let(d);
    rest.push_back(select(equal(d, -1), 1, d));
    if (!is_natural(d, l.program())) unknown = unknown + select(equal(d, -1), 1, 0);
  }
  l.require(less(unknown, 2));
  const Expr left = floor_div(product(x.dims), max(rest.size() > 2 ? checked_product(rest) : product(rest), 1));
  for (Expr& d : dims)
    if (!d.as_int() || *d.as_int() == -1) d = select(equal(d, -1), left, d);
  l.out(0, l.reshaped_exactly(x, dims));
}

void lower_flatten(Lowering& l) {
  const View x = l.in(0);
  const std::int64_t axis = l.attr("axis", 1);
  const std::size_t split = static_cast<std::size_t>(axis < 0 ? axis + static_cast<std::int64_t>(x.rank()) : axis);
  if (split > x.rank()) l.refuse("axis is out of range");
  const auto middle = x.dims.begin() + static_cast<std::ptrdiff_t>(split);
  l.out(0, l.reshaped(x, {product(Exprs(x.dims.begin(), middle)), product(Exprs(middle, x.dims.end()))}));
}

void lower_squeeze(Lowering& l) {
  const View x = l.in(0);
  if (const auto dims = stated_dims(l); dims && l.has(1) && !l.known_ints(1))
    return l.out(0, l.reshaped_exactly(x, *dims));
  NamedAxes axes;
  if (l.has(1)) {
    axes = named_axes(l, 1, x.rank(), false);
  } else {
    for (const Expr& d : x.dims) {
      if (!d.as_int()) l.refuse("which sizes are 1 is only known at run time");
      axes.is_named.push_back(equal(d, 1));
    }
  }
  if (!axes.is_known) return l.out(0, l.reshaped_exactly(x, left_dims(l, x.dims, axes, left_rank(l, 1, x.rank()))));
  Exprs dims;
  for (std::size_t i = 0; i < x.rank(); ++i) {
    if (is_named(axes, i))
      l.require_same(x.dims[i], 1);
    else
      dims.push_back(x.dims[i]);
  }
  out_seen_as(l, x, dims, [axes](const Exprs& at) {
    Exprs place;
    for (std::size_t i = 0, k = 0; i < axes.is_named.size(); ++i)
      place.push_back(is_named(axes, i) ? Expr(0) : at[k++]);
    return place;
  });
}

void lower_unsqueeze(Lowering& l) {
  const View x = l.in(0);
  const auto known = l.known_ints(1);
  if (const auto stated = stated_dims(l); stated && !known) return l.out(0, l.reshaped_exactly(x, *stated));
  const NamedAxes axes = named_axes(l, 1, known ? x.rank() + known->size() : l.stated_rank(0), false);
  if (!axes.is_known) return l.out(0, l.reshaped_exactly(x, wider_dims(l, x.dims, axes)));
  Exprs dims;
  for (std::size_t i = 0, k = 0; i < axes.is_named.size(); ++i)
    dims.push_back(is_named(axes, i) ? Expr(1) : x.dims[k++]);
  out_seen_as(l, x, dims, [axes](const Exprs& at) {
    Exprs place;
    for (std::size_t i = 0; i < at.size(); ++i)
      if (!is_named(axes, i)) place.push_back(at[i]);
    return place;
  });
}

void lower_transpose(Lowering& l) {
  const View x = l.in(0);
  std::vector<std::int64_t> perm = l.node().attributes.ints_or("perm", {});
  if (perm.empty())
    for (std::size_t i = x.rank(); i-- > 0;) perm.push_back(static_cast<std::int64_t>(i));
  if (perm.size() != x.rank()) l.refuse("attribute 'perm' does not have one entry per dimension");
  Exprs dims;
  for (std::int64_t& p : perm) dims.push_back(x.dims[static_cast<std::size_t>(p = l.axis(p, x.rank()))]);
  out_moved(l, 0, x, dims, [perm](const Exprs& at) {
    Exprs place(at.size());
    for (std::size_t i = 0; i < at.size(); ++i) place[static_cast<std::size_t>(perm[i])] = at[i];
    return place;
  });
}

void lower_expand(Lowering& l) {
  const View x = l.in(0);
  Exprs dims = l.broadcast(x.dims, l.sizes_from_the_end(1));
  l.settle(0, dims);
  out_moved(l, 0, x, dims, [x, dims](const Exprs& at) { return broadcast_place(at, dims, x.dims); });
}

void lower_tile(Lowering& l) {
  const View x = l.in(0);
  const Exprs repeats = l.ints(1, x.rank());
  for (const Expr& r : repeats) l.require_natural(r);
  Exprs dims;
  for (std::size_t i = 0; i < x.rank(); ++i) dims.push_back(x.dims[i] * repeats[i]);
  out_moved(l, 0, x, dims, [x, repeats](const Exprs& at) {
    Exprs place;
    for (std::size_t i = 0; i < at.size(); ++i)
      place.push_back(repeats[i].as_int() == 1 ? at[i] : modulo(at[i], x.dims[i]));
    return place;
  });
}

/// Few numbers, as shapes are made of: read one by one, so that known ones stay known.
bool is_small(const Exprs& dims, DType type) {
  return dims.size() == 1 && is_integer(type) && dims[0].as_int() && *dims[0].as_int() <= 16;
}

void lower_concat(Lowering& l) {
  std::vector<View> xs;
  for (std::size_t i = 0; i < l.input_count(); ++i) xs.push_back(l.in(i));
  const auto axis = static_cast<std::size_t>(l.axis(l.attr("axis", 0), xs[0].rank()));
  Exprs dims = xs[0].dims, starts;
  dims[axis] = 0;
  constexpr int kMostTerms = 16;  // of a sum that is spelt out
  int terms = 0;
  for (const View& x : xs) {
    for (std::size_t i = 0; i < dims.size(); ++i)
      if (i != axis) l.require_same(x.dims[i], dims[i]);
    starts.push_back(dims[axis]);
    dims[axis] = dims[axis] + x.dims[axis];
    if (!x.dims[axis].as_int() && ++terms % kMostTerms == 0) dims[axis] = l.let(dims[axis]);
  }
  if (is_small(dims, xs[0].type)) {
    const auto read = [xs, starts](const Exprs& at) {
      Expr y = xs.back().at({at[0] - starts.back()});
      for (std::size_t i = xs.size(); i-- > 1;) {
        const Expr is_before = less(at[0], starts[i]);
        if (is_before.as_int() == 0) continue;
        y = select(is_before, xs[i - 1].at({at[0] - starts[i - 1]}), y);
      }
      return y;
    };
    return l.out(0, l.computed(xs[0].type, dims, read));
  }
  l.settle(0, dims);
  const View y = l.fresh(xs[0].type, dims);
  for (std::size_t i = 0; i < xs.size(); ++i) {
    const Expr start = starts[i];
    const auto place = [&](Exprs at) {
      at[axis] = at[axis] + start;
      return at;
    };
    l.map(y, xs[i].dims, place, [&](const Exprs& at) { return xs[i].at(at); });
  }
  l.out(0, y);
}

void lower_split(Lowering& l) {
  const View x = l.in(0).cost ? l.stored(l.in(0)) : l.in(0);
  const auto axis = static_cast<std::size_t>(l.axis(l.attr("axis", 0), x.rank()));
  const auto parts = static_cast<std::int64_t>(l.node().output_count());
  Exprs sizes;
  if (l.has(1))
    sizes = l.ints(1, l.node().output_count());
  else
    for (std::int64_t i = 0; i < parts; ++i) {
      const Expr chunk = ceil_div(x.dims[axis], parts);
      sizes.push_back(max(0, min(chunk, x.dims[axis] - chunk * i)));
    }
  Expr start = 0;
  for (std::size_t i = 0; i < l.node().output_count(); ++i) {
    Exprs dims = x.dims;
    dims[axis] = sizes[i];
    out_moved(l, i, x, dims, [axis, start](Exprs at) {
      at[axis] = at[axis] + start;
      return at;
    });
    start = start + sizes[i];
    if (l.has(1)) l.require_natural(sizes[i]);
  }
  if (l.has(1)) l.require_same(start, x.dims[axis]);
}

void lower_slice(Lowering& l) {
  const View x = l.in(0);
  const std::size_t rank = x.rank();
  const Exprs starts = ByAxis{1, 3}.of(l, Exprs(rank, 0)), ends = ByAxis{2, 3}.of(l, x.dims);
  const Exprs step = l.has(4) ? ByAxis{4, 3}.of(l, Exprs(rank, 1)) : Exprs(rank, 1);
  Exprs dims = x.dims, first(rank, 0);
  const auto bounded = [](const Expr& i, const Expr& size, const Expr& low, const Expr& high) {
    return max(low, min(high, select(less(i, 0), i + size, i)));
  };
  for (std::size_t a = 0; a < rank; ++a) {
    if (starts[a].as_int() == 0 && same(ends[a], x.dims[a]) && step[a].as_int() == 1) continue;
    const Expr &size = x.dims[a], rises = less(0, step[a]);
    const Expr begin = select(rises, bounded(starts[a], size, 0, size), bounded(starts[a], size, 0, size - 1));
    const Expr end = select(rises, bounded(ends[a], size, 0, size), bounded(ends[a], size, -1, size - 1));
    first[a] = begin.as_int() ? begin : l.let(begin);
    dims[a] = max(0, select(rises, ceil_div(end - begin, max(step[a], 1)), ceil_div(begin - end, max(0 - step[a], 1))));
  }
  out_moved(l, 0, x, dims, [first, step](const Exprs& at) {
    Exprs place;
    for (std::size_t i = 0; i < at.size(); ++i) place.push_back(at[i] * step[i] + first[i]);
    return place;
  });
}

void lower_pad(Lowering& l) {
  const View x = l.in(0);
  const std::string mode = l.node().attributes.string_or("mode", "constant");
  const Exprs before = ByAxis{1, 3, 0, 2}.of(l, Exprs(x.rank(), 0));
  const Exprs after = ByAxis{1, 3, 1, 2}.of(l, Exprs(x.rank(), 0));
  Exprs dims = x.dims;
  for (std::size_t i = 0; i < x.rank(); ++i) dims[i] = dims[i] + before[i] + after[i];
  l.settle(0, dims);
  for (std::size_t i = 0; i < x.rank(); ++i)
    if (mode != "constant" && !same(dims[i], x.dims[i])) l.require_place(x.dims[i], product(dims));
  const bool has_value = l.has(2);
  const View value = has_value ? l.in(2) : View{};
  const auto read = [=](const Exprs& at) {
    Exprs place;
    Expr is_inside = Expr::integer(1, DType::boolean);
    for (std::size_t i = 0; i < at.size(); ++i) {
      const Expr p = at[i] - before[i], &d = x.dims[i];
      if (before[i].as_int() == 0 && same(dims[i], d)) {
        place.push_back(at[i]);
      } else if (mode == "constant") {
        is_inside = both(is_inside, both(less_equal(0, p), less(p, d)));
        place.push_back(p);
      } else if (mode == "edge") {
        place.push_back(max(0, min(p, d - 1)));
      } else if (mode == "wrap") {
        place.push_back(modulo(p, d));
      } else {
        const Expr period = max(1, (d - 1) * 2), m = modulo(p, period);
        place.push_back(select(less(m, d), m, period - m));
      }
    }
    const Expr outside = has_value ? value.at(Exprs(value.rank(), 0)) : Expr::constant(0, x.type);
    return select(is_inside, x.at(place), outside);
  };
  l.out(0, l.computed(x.type, dims, read, x.cost + 1));
}

void lower_depth_to_space(Lowering& l) {
  const View x = l.in(0);
  const std::int64_t b = l.attr("blocksize", 1);
  const bool is_crd = l.node().attributes.string_or("mode", "DCR") == "CRD";
  const Expr channels = floor_div(x.dims[1], b * b);
  l.require_same(modulo(x.dims[1], b * b), 0);
  out_moved(l, 0, x, {x.dims[0], channels, x.dims[2] * b, x.dims[3] * b}, [=](const Exprs& at) {
    const Expr cell = modulo(at[2], b) * b + modulo(at[3], b);
    const Expr channel = is_crd ? at[1] * (b * b) + cell : cell * channels + at[1];
    return Exprs{at[0], channel, floor_div(at[2], b), floor_div(at[3], b)};
  });
}

void lower_space_to_depth(Lowering& l) {
  const View x = l.in(0);
  const std::int64_t b = l.attr("blocksize", 1);
  const Expr channels = x.dims[1];
  for (const std::size_t i : {2, 3}) l.require_same(modulo(x.dims[i], b), 0);
  out_moved(l, 0, x, {x.dims[0], channels * (b * b), floor_div(x.dims[2], b), floor_div(x.dims[3], b)},
            [=](const Exprs& at) {
              const Expr cell = floor_div(at[1], channels);
              return Exprs{at[0], modulo(at[1], channels), at[2] * b + floor_div(cell, b), at[3] * b + modulo(cell, b)};
            });
}

void lower_reverse_sequence(Lowering& l) {
  const View x = l.in(0), lengths = l.in(1);
  const auto time = static_cast<std::size_t>(l.attr("time_axis", 0)),
             batch = static_cast<std::size_t>(l.attr("batch_axis", 1));
  l.require_same(lengths.dims[0], x.dims[batch]);
  out_moved(l, 0, x, x.dims, [=](Exprs at) {
    const Expr length = as_index(lengths.at({at[batch]}));
    at[time] = select(less(at[time], length), place_of(length - 1 - at[time], x.dims[time]), at[time]);
    return at;
  });
}

void lower_trilu(Lowering& l) {
  const View x = l.in(0);
  const Expr k = l.has(1) ? l.single_int(1) : Expr(0);
  const bool is_upper = l.attr("upper", 1) != 0;
  const auto read = [=](const Exprs& at) {
    const Expr row = at[at.size() - 2], column = at.back();
    const Expr is_kept = is_upper ? less_equal(row + k, column) : less_equal(column, row + k);
    return select(is_kept, x.at(at), Expr::constant(0, x.type));
  };
  l.out(0, l.computed(x.type, x.dims, read, x.cost + 1));
}

void lower_eye_like(Lowering& l) {
  const View x = l.in(0);
  const auto type = static_cast<DType>(l.attr("dtype", static_cast<std::int64_t>(elem(l))));
  const std::int64_t k = l.attr("k", 0);
  l.out(0, l.computed(type, x.dims, [=](const Exprs& at) {
    return select(equal(at[0] + k, at[1]), Expr::constant(1, type), Expr::constant(0, type));
  }));
}

void lower_constant_of_shape(Lowering& l) {
  const Tensor* value = l.node().attributes.get<Tensor>("value");
  const View one = l.weight(value ? value->reshaped({}) : Tensor::scalar(0.0f));
  Exprs dims = l.sizes(0);
  l.settle(0, dims);
  l.out(0, l.computed(one.type, dims, [one](const Exprs&) { return one.at({}); }));
}

void lower_constant(Lowering& l) {
  const Attributes& a = l.node().attributes;
  const auto* tensor = a.get<Tensor>("value");
  if (tensor && tensor->dtype() == DType::string) return l.strings_out(0, l.constant_strings(*tensor));
  if (tensor) return l.out(0, l.weight(*tensor));
  if (const auto* word = a.get<std::string>("value_string"))
    return l.strings_out(0, l.constant_strings(Tensor::of_strings({}, {*word})));
  if (const auto* words = a.get<std::vector<std::string>>("value_strings"))
    return l.strings_out(0, l.constant_strings(Tensor::of_strings({std::ssize(*words)}, *words)));
  if (const auto* number = a.get<std::int64_t>("value_int")) return l.out(0, l.weight(Tensor::scalar(*number)));
  if (const auto* number = a.get<float>("value_float")) return l.out(0, l.weight(Tensor::scalar(*number)));
  if (const auto* ints = a.get<std::vector<std::int64_t>>("value_ints")) return l.out(0, l.weight(Tensor::ints(*ints)));
  if (const auto* floats = a.get<std::vector<float>>("value_floats"))
    return l.out(0, l.weight(Tensor::of<float>({static_cast<std::int64_t>(floats->size())}, *floats)));
  l.refuse("this kind of constant is not supported");
}

void lower_one_hot(Lowering& l) {
  const View places = l.in(0), values = l.in(2);
  const Expr depth = l.single_int(1);
  const auto axis = static_cast<std::size_t>(l.axis(l.attr("axis", -1), places.rank() + 1));
  Exprs dims = places.dims;
  dims.insert(dims.begin() + static_cast<std::ptrdiff_t>(axis), depth);
  l.settle(0, dims);
  l.require_same(values.dims[0], 2);
  const auto read = [=](Exprs at) {
    const Expr here = at[axis];
    at.erase(at.begin() + static_cast<std::ptrdiff_t>(axis));
    const Expr place = as_index(places.at(at));
    return select(equal(select(less(place, 0), place + depth, place), here), values.at({1}), values.at({0}));
  };
  l.out(0, l.computed(values.type, dims, read, 1));
}

void lower_range(Lowering& l) {
  const View start = l.in(0), limit = l.in(1), step = l.in(2);
  const DType type = start.type;
  const auto scalar = [](const View& x) { return x.at(Exprs(x.rank(), 0)); };
  const Expr a = scalar(start), b = scalar(limit), d = scalar(step);
  Exprs dims(1);
  if (is_float(type)) {
    const Expr width = Expr::make(Op::sub, type, {b, a});
    dims[0] = max(0, as_index(Expr::make(Op::ceil, type, {Expr::make(Op::div, type, {width, d})})));
  } else {
    const Expr from = as_index(a), to = as_index(b), by = as_index(d);
    dims[0] = max(0, select(less(0, by), ceil_div(to - from, max(by, 1)), ceil_div(from - to, max(0 - by, 1))));
  }
  l.settle(0, dims);
  l.out(0, l.computed(
               type, dims,
               [=](const Exprs& at) {
                 return Expr::make(Op::add, type, {a, Expr::make(Op::mul, type, {from_index(at[0], type), d})});
               },
               1));
}

}  // namespace ingot::lower
