// Indexing by tensors, and writing at indices.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "ingot/frontends/torch/call.h"
#include "ingot/frontends/values.h"

namespace ingot::frontends::torch {
namespace {

/// Which axes are indexed by which tensors: truth values are turned into the places where they hold.
struct Indices {
  Ints axes;
  Values tensors;
};

Indices indices_of(const Call& c, std::size_t i) {
  GraphBuilder& g = c.g();
  Indices made;
  std::int64_t axis = 0;
  for (Value* index : c.tensors(i)) {
    if (!index) {
      ++axis;
    } else if (index->type.elem == DType::boolean || index->type.elem == DType::u8) {
      const std::int64_t rank = c.rank(index);
      Value* places = g.op("NonZero", {g.cast(index, DType::boolean)});
      for (std::int64_t k = 0; k < rank; ++k) {
        made.axes.push_back(axis++);
        made.tensors.push_back(g.op("Gather", {places, g.index(k)}));
      }
    } else {
      made.axes.push_back(axis++);
      made.tensors.push_back(as_int64(g, index));
    }
  }
  if (made.axes.empty()) refuse("a tensor is indexed by nothing");
  return made;
}

/// The axes that are indexed first, then the others; `at` is where the result has the indices' own axes.
struct Order {
  Ints perm;
  std::int64_t at = 0;
};

Order order_of(const Indices& indices, std::int64_t rank) {
  Order order{indices.axes, 0};
  for (std::int64_t i = 0; i < rank; ++i)
    if (std::ranges::find(indices.axes, i) == indices.axes.end()) order.perm.push_back(i);
  bool are_adjacent = true;
  for (std::size_t i = 1; i < indices.axes.size(); ++i) are_adjacent &= indices.axes[i] == indices.axes[i - 1] + 1;
  if (are_adjacent) order.at = indices.axes[0];
  return order;
}

/// The indices side by side along a last axis, in their common shape.
Value* joined(GraphBuilder& g, const Values& tensors) {
  Value* sum = nullptr;
  for (Value* t : tensors) sum = sum ? g.add(sum, t) : t;
  Values each;
  for (Value* t : tensors) {
    Value* spread = tensors.size() == 1 ? t : g.op("Expand", {t, g.shape(sum)});
    each.push_back(g.unsqueeze(spread, {-1}));
  }
  return each.size() == 1 ? each[0] : g.concat(each, -1);
}

/// Moves `count` axes from the front to position `at`.
Ints moved_axes(std::int64_t count, std::int64_t at, std::int64_t rank) {
  Ints perm;
  for (std::int64_t i = 0; i < at; ++i) perm.push_back(count + i);
  for (std::int64_t i = 0; i < count; ++i) perm.push_back(i);
  for (std::int64_t i = count + at; i < rank; ++i) perm.push_back(i);
  return perm;
}

Ints inverse_order(const Ints& perm) {
  Ints made(perm.size());
  for (std::size_t i = 0; i < perm.size(); ++i) made[static_cast<std::size_t>(perm[i])] = static_cast<std::int64_t>(i);
  return made;
}

bool is_in_order(const Ints& perm) { return std::ranges::is_sorted(perm); }

Value* transposed(GraphBuilder& g, Value* x, const Ints& perm) { return is_in_order(perm) ? x : g.transpose(x, perm); }

Value* spread_to(const Call& c, std::size_t i, Value* like, DType elem) {
  Value* v = c.g().cast(c.tensor(i), elem);
  return rank_of(v) == 0 ? c.g().op("Expand", {v, c.g().shape(like)}) : v;
}

Item scattered(const Call& c, const char* reduction) {
  GraphBuilder& g = c.g();
  Value* x = c.tensor(0);
  Value* places = as_int64(g, c.tensor(2));
  Value* from = spread_to(c, 3, places, x->type.elem);
  if (rank_of(x) == 0) {  // a single element
    Value* made = g.op("ScatterElements", {g.reshape(x, {1}), g.reshape(places, {1}), g.reshape(from, {1})},
                       {{"reduction", reduction}});
    return g.reshape(made, {});
  }
  // Only as many values are taken as there are indices.
  if (rank_of(from) && rank_of(places) == rank_of(from) && from->type.shape != places->type.shape) {
    const auto rank = static_cast<std::size_t>(*rank_of(from));
    Ints axes(rank);
    std::iota(axes.begin(), axes.end(), 0);
    from = g.op("Slice", {from, g.ints(Ints(rank, 0)), g.shape(places), g.ints(axes)});
  }
  return g.op("ScatterElements", {x, places, from}, {{"axis", c.axis(1, x)}, {"reduction", reduction}});
}

/// Indices of rank 1 along an axis, spread over a tensor of the source's shape.
Value* along_axis(const Call& c, Value* places, Value* source, std::int64_t axis) {
  GraphBuilder& g = c.g();
  Ints shape(static_cast<std::size_t>(c.rank(source)), 1);
  shape[static_cast<std::size_t>(axis)] = -1;
  return g.op("Expand", {g.reshape(as_int64(g, places), shape), g.shape(source)});
}

}  // namespace

Item index(const Call& c) {
  GraphBuilder& g = c.g();
  Value* x = c.tensor(0);
  const Indices indices = indices_of(c, 1);
  if (indices.axes.size() == 1) return g.op("Gather", {x, indices.tensors[0]}, {{"axis", indices.axes[0]}});
  const std::int64_t rank = c.rank(x);
  const Order order = order_of(indices, rank);
  Value* places = joined(g, indices.tensors);
  Value* picked = g.op("GatherND", {transposed(g, x, order.perm), places});
  const std::int64_t own = c.rank(places) - 1;
  return transposed(g, picked, moved_axes(own, order.at, c.rank(picked)));
}
Item index_put(const Call& c) {
  GraphBuilder& g = c.g();
  Value* x = c.tensor(0);
  const Indices indices = indices_of(c, 1);
  const std::int64_t rank = c.rank(x);
  const Order order = order_of(indices, rank);
  Value* places = joined(g, indices.tensors);
  Value* first = transposed(g, x, order.perm);
  const std::int64_t own = c.rank(places) - 1, total = own + rank - static_cast<std::int64_t>(indices.axes.size());
  // The values stand as index() would give them: their axes of indices come first for ScatterND.
  Value* sizes = g.op("Slice", {g.shape(places), g.ints({0}), g.ints({own})});
  Value* rest =
      g.op("Slice", {g.shape(first), g.ints({static_cast<std::int64_t>(indices.axes.size())}), g.ints({rank})});
  Value* shape = g.concat({sizes, rest}, 0);
  const Ints perm = moved_axes(own, order.at, total);
  Value* natural = is_in_order(perm) ? shape : g.op("Gather", {shape, g.ints(perm)});
  Value* values = g.op("Expand", {g.cast(c.tensor(2), x->type.elem), natural});
  values = transposed(g, values, inverse_order(perm));
  Value* made = g.op("ScatterND", {first, places, values}, {{"reduction", c.flag(3) ? "add" : "none"}});
  return transposed(g, made, inverse_order(order.perm));
}
Item index_select(const Call& c) {
  if (is_single(c)) return on_single(c, index_select);
  Value* x = c.tensor(0);
  return c.g().op("Gather", {x, as_int64_vector(c.g(), c.tensor(2))}, {{"axis", c.integer(1)}});
}
Item gather(const Call& c) {
  Value* x = c.tensor(0);
  Value* places = as_int64(c.g(), c.tensor(2));
  if (rank_of(x) == 0) return c.g().op("Expand", {x, c.g().shape(places)});
  return c.g().op("GatherElements", {x, places}, {{"axis", c.axis(1, x)}});
}
Item take_along_dim(const Call& c) {
  GraphBuilder& g = c.g();
  if (!c.has(2)) return c.t.call("take", {c.arg(0), Item(g.reshape(c.tensor(1), {-1}))});
  // Both broadcast, but for the axis.
  Value *x = c.tensor(0), *places = as_int64(g, c.tensor(1));
  const std::int64_t axis = c.axis(2, x), rank = c.rank(x);
  if (rank != c.rank(places)) refuse("indices of another rank");
  const auto others = [&](Value* v) {
    Values sizes;
    if (axis > 0) sizes.push_back(g.op("Slice", {g.shape(v), g.ints({0}), g.ints({axis})}));
    sizes.push_back(g.ints({1}));
    if (axis + 1 < rank) sizes.push_back(g.op("Slice", {g.shape(v), g.ints({axis + 1}), g.ints({rank})}));
    return sizes.size() == 1 ? sizes[0] : g.concat(sizes, 0);
  };
  if (x->type.shape != places->type.shape) {
    Value* of_x = others(x);
    x = g.op("Expand", {x, others(places)});
    places = g.op("Expand", {places, of_x});
  }
  return g.op("GatherElements", {x, places}, {{"axis", axis}});
}
Item take(const Call& c) {
  return c.g().op("Gather", {c.g().reshape(c.tensor(0), {-1}), as_int64(c.g(), c.tensor(1))});
}
Item scatter(const Call& c) {
  if (!c.has(4)) return scattered(c, "none");
  const std::string how = c.text(4);
  return scattered(c, how == "add" ? "add" : "mul");
}
Item scatter_add(const Call& c) { return scattered(c, "add"); }
Item scatter_reduce(const Call& c) {
  const std::string how = c.text(4);
  struct Way {
    std::string_view name;
    const char* reduction;
    double neutral;
    bool is_extreme;  // any of what arrives is neutral
  };
  constexpr Way kWays[] = {{"sum", "add", 0, false},
                           {"mean", "add", 0, false},
                           {"prod", "mul", 1, false},
                           {"amax", "max", 0, true},
                           {"amin", "min", 0, true}};
  const auto way = std::ranges::find(kWays, std::string_view(how), &Way::name);
  if (way == std::end(kWays)) refuse("scatter_reduce by '" + how + "'");
  GraphBuilder& g = c.g();
  Call done = c;
  const bool counts_itself = !c.has(5) || c.flag(5);
  if (!counts_itself) {  // where something arrives, what is there does not count
    Call emptied = c;
    if (!way->is_extreme) emptied.args[3] = Item(g.scalar(way->neutral, c.tensor(0)->type.elem));
    done.args[0] = scattered(emptied, "none");
  }
  const Item made = scattered(done, way->reduction);
  if (how != "mean") return made;
  Call counting = c;
  counting.args[0] = Item(filled_like(g, c.tensor(0), 1));
  counting.args[3] = Item(g.scalar(counts_itself ? 1 : 0, c.tensor(0)->type.elem));
  if (!counts_itself) counting.args[0] = scattered(counting, "none");
  counting.args[3] = Item(g.scalar(1, c.tensor(0)->type.elem));
  const Item counts = scattered(counting, "add");
  // Nothing arrives where nothing is counted.
  const Item divisor = c.t.call("clamp_min", {counts, 1});
  if (is_float(c.tensor(0)->type.elem)) return c.t.call("div", {made, divisor});
  return c.t.call("div", {made, divisor}, {{"rounding_mode", "floor"}});
}
Item index_reduce(const Call& c) {
  Value* from = c.g().cast(c.tensor(3), c.tensor(0)->type.elem);
  Value* places = along_axis(c, c.tensor(2), from, c.axis(1, c.tensor(0)));
  return c.t.call("scatter_reduce", {c.arg(0), c.arg(1), Item(places), Item(from), c.arg(4), c.arg(5)});
}
Item index_add(const Call& c) {
  if (is_single(c)) return on_single(c, index_add, {0, 3});
  GraphBuilder& g = c.g();
  Value* x = c.tensor(0);
  Value* from = g.cast(c.tensor(3), x->type.elem);
  if (c.has(4) && c.real(4) != 1) from = g.mul(from, c.real(4));
  const std::int64_t axis = c.axis(1, x);
  return g.op("ScatterElements", {x, along_axis(c, c.tensor(2), from, axis), from},
              {{"axis", axis}, {"reduction", "add"}});
}
Item index_copy(const Call& c) {
  if (is_single(c)) return on_single(c, index_copy, {0, 3});
  Value* x = c.tensor(0);
  Value* from = c.tensor(3);
  const std::int64_t axis = c.axis(1, x);
  return c.g().op("ScatterElements", {x, along_axis(c, c.tensor(2), from, axis), from}, {{"axis", axis}});
}
Item index_fill(const Call& c) {
  if (is_single(c)) return on_single(c, index_fill);
  GraphBuilder& g = c.g();
  Value* x = c.tensor(0);
  const std::int64_t axis = c.axis(1, x);
  Value* part = g.op("Gather", {x, as_int64_vector(g, c.tensor(2))}, {{"axis", axis}});
  Value* from = g.op("Expand", {g.cast(c.tensor(3), x->type.elem), g.shape(part)});
  return g.op("ScatterElements", {x, along_axis(c, c.tensor(2), from, axis), from}, {{"axis", axis}});
}
Item select_scatter(const Call& c) {
  GraphBuilder& g = c.g();
  Value* x = c.tensor(0);
  const std::int64_t axis = c.axis(2, x);
  Value* from = g.unsqueeze(c.tensor(1), {axis});
  Value* at = g.reshape(c.index(3), {1});
  return g.op("ScatterElements", {x, along_axis(c, at, from, axis), from}, {{"axis", axis}});
}
Item slice_scatter(const Call& c) {
  GraphBuilder& g = c.g();
  Value* x = c.tensor(0);
  const std::int64_t axis = c.axis(2, x);
  Value* numbers = counted(g, size_of(g, x, axis));
  Value* begin = c.has(3) ? c.index(3) : g.index(0);
  Value* end = c.has(4) ? c.index(4) : g.index(INT64_MAX);
  Value* places = g.op("Slice", {numbers, g.reshape(begin, {1}), g.reshape(end, {1}), g.ints({0}),
                                 g.ints({c.has(5) ? c.integer(5) : 1})});
  Value* from = c.tensor(1);
  return g.op("ScatterElements", {x, along_axis(c, places, from, axis), from}, {{"axis", axis}});
}
Item masked_select(const Call& c) {
  GraphBuilder& g = c.g();
  Value* mask = c.tensor(1);
  c.t.demand_dtype(mask, DType::boolean);
  Value* x = c.tensor(0);
  Value* spread_mask = g.op("Expand", {mask, g.shape(x)});
  Value* spread_x = g.op("Expand", {x, g.shape(spread_mask)});
  return g.op("Compress", {g.reshape(spread_x, {-1}), g.reshape(spread_mask, {-1})}, {{"axis", 0}});
}
Item masked_scatter(const Call& c) {
  GraphBuilder& g = c.g();
  Value* mask = g.op("Expand", {c.tensor(1), g.shape(c.tensor(0))});
  Value* x = g.op("Expand", {c.tensor(0), g.shape(mask)});
  Value* places = g.transpose(g.op("NonZero", {mask}), {1, 0});
  Value* count = g.op("Slice", {g.shape(places), g.ints({0}), g.ints({1})});
  Value* from = g.op("Slice", {g.reshape(c.tensor(2), {-1}), g.ints({0}), count});
  return g.op("ScatterND", {x, places, from});
}
Item nonzero(const Call& c) { return c.g().transpose(c.g().op("NonZero", {c.tensor(0)}), {1, 0}); }
Item nonzero_numpy(const Call& c) {
  Value* places = c.g().op("NonZero", {c.tensor(0)});
  std::vector<Item> made;
  for (std::int64_t i = 0; i < c.rank(c.tensor(0)); ++i)
    made.emplace_back(c.g().op("Gather", {places, c.g().index(i)}));
  return Item::list(std::move(made));
}
Item embedding(const Call& c) {
  Value* places = c.tensor(1);
  c.t.demand_dtype(places, DType::i64);
  if (!rank_of(places)) c.t.demand_shape(places, Shape(2));
  return c.g().op("Gather", {c.tensor(0), as_int64(c.g(), places)});
}
/// Rows that are asked for and are longer than `max_norm` become as long.
Item embedding_renorm(const Call& c) {
  GraphBuilder& g = c.g();
  Value* table = c.tensor(0);
  Value* places = g.reshape(as_int64(g, c.tensor(1)), {-1});
  Value* rows = g.op("Gather", {table, places});
  const Item norm = c.t.call("norm", {Item(rows), c.arg(3), Item::integers({1}), true});
  Value* length = c.t.read(*norm.get<TensorRef>());
  Value* most = g.scalar(c.real(2), table->type.elem);
  Value* shorter = g.mul(rows, g.div(most, g.add(length, 1e-7)));
  return g.op("ScatterND",
              {table, g.unsqueeze(places, {1}), g.where(g.op("Greater", {length, most}), shorter, rows)});
}
Item one_hot(const Call& c) {
  GraphBuilder& g = c.g();
  Value* x = as_int64(g, c.tensor(0));
  const auto known = c.known_integer(1);
  Value* count = known && *known < 0 ? g.add(g.op("ReduceMax", {x}, {{"keepdims", 0}}), g.index(1)) : c.index(1);
  return g.op("OneHot", {x, count, g.ints({0, 1})});
}

}  // namespace ingot::frontends::torch
