// Views and other ways to look at the same elements.
#include <algorithm>
#include <numeric>

#include "ingot/frontends/torch/call.h"
#include "ingot/frontends/values.h"

namespace ingot::frontends::torch {
namespace {

Item size_at(const Call& c, Value* x, std::int64_t axis) {
  if (const auto known = dim_of(x, axis)) return *known;
  return c.t.number_of(size_of(c.g(), x, axis));
}

Ints counted_axes(std::int64_t rank) {
  Ints axes(static_cast<std::size_t>(rank));
  std::iota(axes.begin(), axes.end(), 0);
  return axes;
}

Value* exchanged(const Call& c, Value* x, std::int64_t a, std::int64_t b) {
  Ints perm = counted_axes(c.rank(x));
  if (perm.empty()) return x;
  std::swap(perm[static_cast<std::size_t>(a)], perm[static_cast<std::size_t>(b)]);
  return a == b ? x : c.g().transpose(x, perm);
}

/// A size of 0 is one, it copies none.
Value* reshaped_to(GraphBuilder& g, Value* x, Value* sizes) {
  const auto known = known_ints(sizes);
  const bool has_zero = known && std::ranges::count(*known, 0) != 0;
  return g.op("Reshape", {x, sizes}, has_zero ? Attrs{{"allowzero", 1}} : Attrs{});
}

Value* reshaped(const Call& c, Value* x, std::size_t shape) {
  Value* sizes = c.index_vector(shape);
  // Where the run alone knows all of them, each may be 0.
  const std::vector<Item>* parts = parts_of(c.arg(shape));
  const auto is_open = [](const Item& part) { return part.is<Scalar>(); };
  if (parts && parts->size() > 1 && std::ranges::all_of(*parts, is_open) && !known_ints(sizes))
    return c.g().op("Reshape", {x, sizes}, {{"allowzero", 1}});
  return reshaped_to(c.g(), x, sizes);
}

/// [begin, end) of an axis in steps; ends may be known only later.
Value* cut(const Call& c, Value* x, std::int64_t axis, Value* begin, Value* end, std::int64_t step = 1) {
  GraphBuilder& g = c.g();
  return g.op("Slice", {x, g.reshape(begin, {1}), g.reshape(end, {1}), g.ints({axis}), g.ints({step})});
}

Item in_parts(const Call& c, Value* x, std::int64_t axis, const Ints& sizes) {
  GraphBuilder& g = c.g();
  std::vector<Item> parts;
  if (sizes.size() == 1) return Item::list({Item(g.op("Identity", {x}))});
  for (Value* part : g.op("Split", {x, g.ints(sizes)}, {{"axis", axis}}, sizes.size())) parts.emplace_back(part);
  return Item::list(std::move(parts));
}

std::int64_t known_size(Value* x, std::int64_t axis) {
  if (const auto size = dim_of(x, axis)) return *size;
  throw Error(Code::shape_needed, "the size of an axis must be known here")
      .hint("--input-shape tells the shapes of inputs");
}

Ints equal_parts(std::int64_t size, std::int64_t each) {
  Ints sizes;
  for (std::int64_t at = 0; at < size; at += each) sizes.push_back(std::min(each, size - at));
  if (sizes.empty()) sizes.push_back(0);
  return sizes;
}

}  // namespace

Item size(const Call& c) {
  Value* x = c.tensor(0);
  if (c.has(1) && !c.known_integer(1)) return c.t.number_of(c.g().op("Gather", {c.g().shape(x), c.index(1)}));
  if (c.has(1)) return size_at(c, x, c.axis(1, x));
  std::vector<Item> sizes;
  for (std::int64_t i = 0; i < c.rank(x); ++i) sizes.push_back(size_at(c, x, i));
  return Item::list(std::move(sizes));
}
Item stride(const Call& c) {
  Value* x = c.tensor(0);
  Ints strides;
  std::int64_t step = 1;
  for (std::int64_t i = c.rank(x); i-- > 0; step *= known_size(x, i)) strides.insert(strides.begin(), step);
  return c.has(1) ? Item(strides.at(static_cast<std::size_t>(c.axis(1, x)))) : Item::integers(strides);
}
Item storage_offset(const Call&) { return 0; }
Item dim(const Call& c) {
  const TensorRef* tensor = c.arg(0).get<TensorRef>();
  return c.rank(c.tensor(0)) - (tensor && (*tensor)->is_packed ? 1 : 0);
}
Item numel(const Call& c) { return c.t.number_of(c.g().op("Size", {c.tensor(0)})); }
Item len(const Call& c) { return size_at(c, c.tensor(0), 0); }
Item reshape(const Call& c) { return reshaped(c, c.tensor(0), 1); }
Item reshape_flat(const Call& c) { return c.g().reshape(c.tensor(0), {-1}); }
Item reshape_as(const Call& c) {
  return c.g().op("Reshape", {c.tensor(0), c.g().shape(c.tensor(1))}, {{"allowzero", 1}});
}
Item view(const Call& c) {
  if (c.arg(1).is<std::int64_t>()) refuse("the bits of a tensor are taken as another type");
  return reshaped(c, c.tensor(0), 1);
}
Item flatten(const Call& c) {
  Value* x = c.tensor(0);
  GraphBuilder& g = c.g();
  const std::int64_t start = c.integer(1), end = c.integer(2);
  // Not by Reshape with -1, which cannot tell how wide rows are of which there are none.
  if (start == 1 && end == -1 && rank_of(x) != 0 && rank_of(x) != 1) return g.op("Flatten", {x}, {{"axis", 1}});
  const std::int64_t rank = c.rank(x), from = normal_axis(start, rank), to = normal_axis(end, rank);
  if (rank == 0) return g.reshape(x, {1});
  if (from == to) return x;
  Ints shape(static_cast<std::size_t>(from), 0);
  shape.push_back(-1);
  // What follows is copied by number where it is known, else computed.
  Values sizes{g.ints(shape)};
  if (to + 1 < rank) sizes.push_back(g.op("Slice", {g.shape(x), g.ints({to + 1}), g.ints({rank})}));
  return g.op("Reshape", {x, sizes.size() == 1 ? sizes[0] : g.concat(sizes, 0)});
}
Item unflatten(const Call& c) {
  Value* x = c.tensor(0);
  GraphBuilder& g = c.g();
  const std::int64_t axis = c.axis(1, x), rank = c.rank(x);
  Value* shape = g.shape(x);
  Values sizes;
  if (axis > 0) sizes.push_back(g.op("Slice", {shape, g.ints({0}), g.ints({axis})}));
  sizes.push_back(c.index_vector(2));
  if (axis + 1 < rank) sizes.push_back(g.op("Slice", {shape, g.ints({axis + 1}), g.ints({rank})}));
  return reshaped_to(g, x, g.concat(sizes, 0));
}
Item transpose(const Call& c) {
  Value* x = c.tensor(0);
  (void)c.rank(x);
  return exchanged(c, x, c.axis(1, x), c.axis(2, x));
}
Item matrix_transpose(const Call& c) {
  Value* x = c.tensor(0);
  const std::int64_t rank = c.rank(x);
  return rank < 2 ? Item(x) : Item(exchanged(c, x, rank - 2, rank - 1));
}
Item reversed_axes(const Call& c) {
  Value* x = c.tensor(0);
  Ints perm = counted_axes(c.rank(x));
  std::ranges::reverse(perm);
  return c.g().transpose(x, perm);
}
Item permute(const Call& c) {
  Value* x = c.tensor(0);
  Ints perm = c.ints(1);
  c.expect_rank(x, perm.size());
  for (std::int64_t& p : perm) p = normal_axis(p, static_cast<std::int64_t>(perm.size()));
  return perm.empty() ? Item(x) : Item(c.g().transpose(x, perm));
}
Item movedim(const Call& c) {
  Value* x = c.tensor(0);
  const std::int64_t rank = c.rank(x);
  Ints from = c.ints(1), to = c.ints(2);
  Ints perm(static_cast<std::size_t>(rank), -1);
  std::vector<bool> taken(static_cast<std::size_t>(rank));
  for (std::size_t i = 0; i < from.size(); ++i) {
    perm.at(static_cast<std::size_t>(normal_axis(to.at(i), rank))) = normal_axis(from[i], rank);
    taken.at(static_cast<std::size_t>(normal_axis(from[i], rank))) = true;
  }
  std::size_t next = 0;
  for (std::int64_t& p : perm) {
    if (p >= 0) continue;
    while (taken[next]) ++next;
    p = static_cast<std::int64_t>(next++);
  }
  return c.g().transpose(x, perm);
}
Item squeeze(const Call& c) {
  Value* x = c.tensor(0);
  Ints axes;
  if (c.has(1)) {
    for (const std::int64_t a : c.axes(1, x)) {
      const auto size = dim_of(x, a);
      if (size.value_or(1) == 1) axes.push_back(a);
      if (!size)
        c.t.notes.add(fmt::format("axis {} of '{}', which is squeezed, is taken to be of size 1", a, c.t.scope()));
    }
  } else {
    for (std::int64_t i = 0; i < c.rank(x); ++i) {
      if (dim_of(x, i) == 1) axes.push_back(i);
      if (!dim_of(x, i))
        c.t.notes.add(fmt::format("axis {} of '{}', which is squeezed, is taken not to be of size 1", i, c.t.scope()));
    }
  }
  return axes.empty() || rank_of(x) == 0 ? c.g().op("Identity", {x}) : c.g().squeeze(x, axes);
}
Item unsqueeze(const Call& c) {
  Value* x = c.tensor(0);
  const std::int64_t axis = c.integer(1);
  return c.g().unsqueeze(x, {axis < 0 && rank_of(x) ? normal_axis(axis, *rank_of(x) + 1) : axis});
}
Item expand(const Call& c) {
  Value* x = c.tensor(0);
  // -1 keeps a size; 1 does in Expand. What the run computes of sizes is none of them.
  const std::vector<Item>* parts = parts_of(c.arg(1));
  if (!parts) return c.g().op("Expand", {x, c.g().op("Max", {c.index_vector(1), c.g().ints({1})})});
  std::vector<Item> sizes = *parts;
  for (Item& size : sizes)
    if (const auto* known = size.get<std::int64_t>(); known && *known < 0) size = 1;
  return c.g().op("Expand", {x, Call{c.t, c.row, {Item::list(std::move(sizes))}}.index_vector(0)});
}
Item expand_as(const Call& c) { return c.g().op("Expand", {c.tensor(0), c.g().shape(c.tensor(1))}); }
Item broadcast_tensors(const Call& c) {
  Values x = c.tensors(0);
  GraphBuilder& g = c.g();
  Value* all = nullptr;
  for (Value* v : x) {
    Value* zeros = g.op("Expand", {g.constant(Tensor::scalar(std::int64_t{0})), g.shape(v)});
    all = all ? g.add(all, zeros) : zeros;
  }
  std::vector<Item> made;
  for (Value* v : x) made.emplace_back(g.op("Expand", {v, g.shape(all)}));
  return Item::list(std::move(made));
}
Item repeat(const Call& c) {
  Value* x = c.tensor(0);
  GraphBuilder& g = c.g();
  Value* times = c.index_vector(1);
  const std::int64_t wanted = dim_of(times, 0).value_or(c.rank(x)), rank = c.rank(x);
  if (wanted > rank) x = g.unsqueeze(x, counted_axes(wanted - rank));
  if (wanted < rank) {
    if (c.row.name == "repeat") refuse("there are fewer repeats than axes");
    times = g.concat({g.ints(Ints(static_cast<std::size_t>(rank - wanted), 1)), times}, 0);
  }
  return g.op("Tile", {x, times});
}
Item repeat_interleave(const Call& c) {
  GraphBuilder& g = c.g();
  Value* x = c.tensor(0);
  const bool is_alone = !c.has(1);  // the numbers of times alone: the places are repeated
  if (is_alone || (c.is_tensor(1) && rank_of(c.tensor(1)) != 0 && dim_of(c.tensor(1), 0) != 1)) {
    // Place i of the result comes from the last element whose share begins at or before i.
    Value* times = as_int64(g, c.tensor(is_alone ? 0 : 1));
    Value* ends = g.op("CumSum", {times, g.index(0)});
    Value* total = g.reshape(g.op("ReduceSum", {times}, {{"keepdims", 0}}), {});
    Value* is_past = g.op("LessOrEqual", {g.unsqueeze(ends, {0}), g.unsqueeze(counted(g, total), {1})});
    Value* from = g.op("ReduceSum", {g.cast(is_past, DType::i64), g.ints({1})}, {{"keepdims", 0}});
    if (is_alone) return from;
    if (!c.has(2)) x = g.reshape(x, {-1});
    return g.op("Gather", {x, from}, {{"axis", c.has(2) ? c.axis(2, x) : 0}});
  }
  if (!c.has(2)) x = g.reshape(x, {-1});
  const std::int64_t axis = c.has(2) ? c.axis(2, x) : 0;
  Value* size = g.op("Gather", {g.shape(x), g.index(axis)});
  Value* times = c.index(1);
  Value* places = g.div(counted(g, g.mul(size, times)), times);
  return g.op("Gather", {x, places}, {{"axis", axis}});
}
Item select(const Call& c) {
  Value* x = c.tensor(0);
  return c.g().op("Gather", {x, c.index(2)}, {{"axis", c.integer(1)}});
}
Item slice(const Call& c) {
  Value* x = c.tensor(0);
  GraphBuilder& g = c.g();
  Value* begin = c.has(2) ? c.index(2) : g.index(0);
  Value* end = c.has(3) ? c.index(3) : g.index(INT64_MAX);
  return cut(c, x, c.integer(1), begin, end, c.has(4) ? c.integer(4) : 1);
}
Item narrow(const Call& c) {
  Value* begin = c.index(2);
  GraphBuilder& g = c.g();
  Value* end = g.add(begin, c.index(3));
  if (c.known_integer(1)) return cut(c, c.tensor(0), c.integer(1), begin, end);
  return g.op("Slice", {c.tensor(0), g.reshape(begin, {1}), g.reshape(end, {1}), c.index_vector(1)});
}
Item split(const Call& c) {
  Value* x = c.tensor(0);
  const std::int64_t axis = c.axis(2, x);
  if (const ListRef* list = c.arg(1).get<ListRef>();
      list && !std::ranges::all_of((*list)->items, [](const Item& size) { return size.is<std::int64_t>(); })) {
    // Sizes that only the run knows; how many there are is known.
    std::vector<Item> parts;
    for (Value* part : c.g().op("Split", {x, c.index_vector(1)}, {{"axis", axis}}, (*list)->items.size()))
      parts.emplace_back(part);
    return Item::list(std::move(parts));
  }
  if (c.arg(1).is<ListRef>() || c.arg(1).is<Tuple>()) return in_parts(c, x, axis, c.ints(1));
  const std::int64_t each = c.integer(1);
  if (each <= 0) refuse("a tensor is split in parts of no size");
  return in_parts(c, x, axis, equal_parts(known_size(x, axis), each));
}
Item chunk(const Call& c) {
  Value* x = c.tensor(0);
  const std::int64_t axis = c.axis(2, x), count = c.integer(1);
  if (count <= 0) refuse("a tensor is split in no parts");
  if (!dim_of(x, axis)) {  // as if it could be split evenly
    std::vector<Item> parts;
    for (Value* part :
         c.g().op("Split", {x}, {{"axis", axis}, {"num_outputs", count}}, static_cast<std::size_t>(count)))
      parts.emplace_back(part);
    return Item::list(std::move(parts));
  }
  const std::int64_t size = known_size(x, axis);
  return in_parts(c, x, axis, equal_parts(size, std::max<std::int64_t>((size + count - 1) / count, 1)));
}
Item tensor_split(const Call& c) {
  Value* x = c.tensor(0);
  const std::int64_t axis = c.axis(2, x), size = known_size(x, axis);
  Ints sizes;
  if (c.arg(1).is<std::int64_t>()) {
    const std::int64_t count = c.integer(1);
    for (std::int64_t i = 0; i < count; ++i) sizes.push_back(size / count + (i < size % count));
  } else {
    std::int64_t at = 0;
    for (std::int64_t end : c.ints(1)) {
      end = std::clamp(end < 0 ? end + size : end, at, size);
      sizes.push_back(end - at);
      at = end;
    }
    sizes.push_back(size - at);
  }
  return in_parts(c, x, axis, sizes);
}
Item unbind(const Call& c) {
  Value* x = c.tensor(0);
  const std::int64_t axis = c.axis(1, x);
  std::vector<Item> parts;
  for (std::int64_t i = 0; i < known_size(x, axis); ++i)
    parts.emplace_back(c.g().op("Gather", {x, c.g().index(i)}, {{"axis", axis}}));
  return Item::list(std::move(parts));
}
Item flip(const Call& c) {
  Value* x = c.tensor(0);
  const auto* parts = parts_of(c.arg(1));
  if (parts && parts->empty()) return x;
  GraphBuilder& g = c.g();
  if (parts && std::ranges::any_of(*parts, [](const Item& axis) { return axis.is<Scalar>(); })) {
    Value *axes = c.index_vector(1), *back = g.op("Expand", {g.ints({-1}), g.shape(axes)});
    return g.op("Slice", {x, back, g.op("Expand", {g.ints({INT64_MIN}), g.shape(axes)}), axes, back});
  }
  const Ints axes = c.axes(1, x);
  const std::size_t n = axes.size();
  return g.op("Slice", {x, g.ints(Ints(n, -1)), g.ints(Ints(n, INT64_MIN)), g.ints(axes), g.ints(Ints(n, -1))});
}
Item fliplr(const Call& c) { return c.t.call("flip", {c.arg(0), Item::integers({1})}); }
Item flipud(const Call& c) { return c.t.call("flip", {c.arg(0), Item::integers({0})}); }
Item roll(const Call& c) {
  Value* x = c.tensor(0);
  GraphBuilder& g = c.g();
  const ListRef* list = c.arg(1).get<ListRef>();
  const std::vector<Item> shifts = list ? (*list)->items : std::vector<Item>{c.arg(1)};
  Ints axes = c.has(2) ? c.ints(2) : Ints{};
  Value* shape = g.shape(x);
  const bool is_flat = axes.empty();
  if (is_flat) {
    x = g.reshape(x, {-1});
    axes = {0};
  }
  if (shifts.size() != axes.size()) refuse("as many shifts as axes are needed");
  for (std::size_t i = 0; i < axes.size(); ++i) {
    Value* size = size_of(g, x, axes[i] < 0 ? normal_axis(axes[i], c.rank(x)) : axes[i]);
    Value* at = g.op("Mod", {g.neg(Call{c.t, c.row, {shifts[i]}}.index(0)), g.op("Max", {size, g.index(1)})});
    x = g.concat({cut(c, x, axes[i], at, g.index(INT64_MAX)), cut(c, x, axes[i], g.index(0), at)}, axes[i]);
  }
  return is_flat ? g.op("Reshape", {x, shape}) : x;
}
Item rot90(const Call& c) {
  Value* x = c.tensor(0);
  const Ints axes = c.axes(2, x);
  const std::int64_t turns = ((c.integer(1) % 4) + 4) % 4;
  Item at = c.arg(0);
  if (turns == 2) return c.t.call("flip", {at, Item::integers(axes)});
  if (turns == 0) return x;
  if (turns == 1) at = c.t.call("flip", {at, Item::integers({axes.at(1)})});
  at = Item(exchanged(c, Call{c.t, c.row, {at}}.tensor(0), axes.at(0), axes.at(1)));
  return turns == 3 ? c.t.call("flip", {at, Item::integers({axes.at(1)})}) : at;
}
Item unfold(const Call& c) {
  Value* x = c.tensor(0);
  GraphBuilder& g = c.g();
  const std::int64_t axis = c.axis(1, x), size = c.integer(2), step = c.integer(3), rank = c.rank(x);
  if (step <= 0 || size < 0) refuse("windows in steps of nothing");
  Value* count = g.add(g.div(g.sub(size_of(g, x, axis), g.index(size)), g.index(step)), g.index(1));
  Value* starts = g.mul(g.unsqueeze(counted(g, count), {1}), g.index(step));
  Ints offsets(static_cast<std::size_t>(size));
  std::iota(offsets.begin(), offsets.end(), 0);
  Value* windows = g.op("Gather", {x, g.add(starts, g.ints(offsets))}, {{"axis", axis}});  // [.., count, size, ..]
  Ints perm = counted_axes(rank + 1);
  perm.erase(perm.begin() + axis + 1);
  perm.push_back(axis + 1);
  return g.transpose(windows, perm);
}
Item as_strided(const Call& c) {
  GraphBuilder& g = c.g();
  const Ints sizes = c.ints(1), strides = c.ints(2);
  Value* places = g.index(c.has(3) ? c.integer(3) : 0);
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    Ints shape(sizes.size() - i, 1);
    shape[0] = -1;
    places = g.add(places, g.reshape(g.mul(counted(g, g.index(sizes[i])), g.index(strides.at(i))), shape));
  }
  return g.op("Gather", {g.reshape(c.tensor(0), {-1}), places});
}
Item cat(const Call& c) {
  GraphBuilder& g = c.g();
  const ListRef* list = c.arg(0).get<ListRef>();
  const std::int64_t axis = c.integer(1);
  if (list && (*list)->rolled) {
    // What was stacked along a new first axis is joined along another one.
    Value* stacked = (*list)->rolled;
    const std::int64_t rank = c.rank(stacked) - 1, at = normal_axis(axis, rank);
    Ints perm = counted_axes(rank + 1);
    perm.erase(perm.begin());
    perm.insert(perm.begin() + at, 0);
    Value* moved = g.transpose(stacked, perm);
    Value* shape = g.shape(moved);
    Values sizes;
    if (at > 0) sizes.push_back(g.op("Slice", {shape, g.ints({0}), g.ints({at})}));
    sizes.push_back(g.ints({-1}));
    if (at + 1 < rank) sizes.push_back(g.op("Slice", {shape, g.ints({at + 2}), g.ints({INT64_MAX})}));
    Value* joined = g.op("Reshape", {moved, g.concat(sizes, 0)});
    if ((*list)->items.empty()) return joined;
    Values all = Call{c.t, c.row, {Item::list((*list)->items)}}.tensors(0);
    all.push_back(joined);
    return g.concat(all, axis);
  }
  Values x = c.tensors(0);
  // Tensors of shape [0] were always left out.
  std::erase_if(x, [&](Value* v) { return x.size() > 1 && rank_of(v) == 1 && dim_of(v, 0) == 0; });
  DType common = DType::undefined;
  for (const Value* v : x) common = promoted_types(common, v->type.elem);
  for (Value*& v : x) v = common == DType::undefined ? v : g.cast(v, common);
  return x.size() == 1 ? Item(g.op("Identity", {x[0]})) : Item(g.concat(x, axis));
}
Item stack(const Call& c) {
  GraphBuilder& g = c.g();
  const ListRef* list = c.arg(0).get<ListRef>();
  if (list && (*list)->rolled) {
    Values rows;
    for (Value* item : Call{c.t, c.row, {Item::list((*list)->items)}}.tensors(0)) rows.push_back(g.unsqueeze(item, {0}));
    rows.push_back((*list)->rolled);
    Value* stacked = rows.size() == 1 ? rows[0] : g.concat(rows, 0);
    const std::int64_t rank = c.rank(stacked), at = normal_axis(c.integer(1), rank);
    Ints perm = counted_axes(rank);
    perm.erase(perm.begin());
    perm.insert(perm.begin() + at, 0);
    return g.transpose(stacked, perm);
  }
  Values x = c.tensors(0);
  DType common = DType::undefined;
  for (const Value* v : x) common = promoted_types(common, v->type.elem);
  std::int64_t axis = c.integer(1);
  if (axis < 0 && !x.empty()) axis = normal_axis(axis, c.rank(x[0]) + 1);
  for (Value*& v : x) v = g.unsqueeze(g.cast(v, common), {axis});
  return x.size() == 1 ? Item(x[0]) : Item(g.concat(x, axis));
}
Item hstack(const Call& c) {
  const Values x = c.tensors(0);
  return c.t.call("cat", {c.arg(0), c.rank(x.at(0)) <= 1 ? 0 : 1});
}
Item vstack(const Call& c) {
  std::vector<Item> rows;
  for (Value* v : c.tensors(0)) rows.emplace_back(c.rank(v) == 1 ? c.g().unsqueeze(v, {0}) : v);
  return c.t.call("cat", {Item::list(std::move(rows)), 0});
}
Item clone(const Call& c) { return c.g().op("Identity", {c.tensor(0)}); }
Item meshgrid(const Call& c) {
  GraphBuilder& g = c.g();
  Values x = c.tensors(0);
  const bool is_xy = c.has(1) && c.text(1) == "xy" && x.size() > 1;
  if (is_xy) std::swap(x[0], x[1]);
  Values sizes;
  for (Value* v : x) sizes.push_back(g.reshape(g.op("Size", {v}), {1}));
  Value* shape = g.concat(sizes, 0);
  std::vector<Item> made;
  for (std::size_t i = 0; i < x.size(); ++i) {
    Ints own(x.size(), 1);
    own[i] = -1;
    made.emplace_back(g.op("Expand", {g.reshape(x[i], own), shape}));
  }
  if (is_xy) std::swap(made[0], made[1]);
  return Item::list(std::move(made));
}

}  // namespace ingot::frontends::torch
