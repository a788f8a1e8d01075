// How often values occur, which of them do, and running extremes.
#include <algorithm>

#include "ingot/frontends/repeat.h"
#include "ingot/frontends/torch/call.h"
#include "ingot/frontends/values.h"

namespace ingot::frontends::torch {
namespace {

Item running_extreme(const Call& c, bool is_max) {
  GraphBuilder& g = c.g();
  Value* x = c.tensor(0);
  const std::int64_t axis = c.axis(1, x), rank = c.rank(x);
  if (rank == 0) return Item::tuple({Item(x), Item(g.index(0))});
  Ints perm{axis};
  for (std::int64_t i = 0; i < rank; ++i)
    if (i != axis) perm.push_back(i);
  Ints back(perm.size());
  for (std::size_t i = 0; i < perm.size(); ++i) back[static_cast<std::size_t>(perm[i])] = static_cast<std::int64_t>(i);
  Value* rows = g.transpose(x, perm);
  Value* first = g.op("Gather", {rows, g.index(0)});
  Value* places = g.op("Expand", {g.index(0), g.shape(first)});
  const Values made =
      repeat(g, size_of(g, rows, 0), {first, places}, [&](GraphBuilder& in, Value* round, const Values& best) {
        Value* row = in.op("Gather", {rows, round});
        // Of equal values the last one counts.
        Value* is_new = is_max ? in.op("GreaterOrEqual", {row, best[0]}) : in.op("LessOrEqual", {row, best[0]});
        Value* value = in.where(is_new, row, best[0]);
        Value* at = in.where(is_new, round, best[1]);
        return Values{value, at, value, at};
      });
  return Item::tensors({g.transpose(made[2], back), g.transpose(made[3], back)});
}

Value* flat(const Call& c, std::size_t i) { return c.g().reshape(c.tensor(i), {-1}); }

}  // namespace

Item cummax(const Call& c) { return running_extreme(c, true); }
Item cummin(const Call& c) { return running_extreme(c, false); }
Item bincount(const Call& c) {
  GraphBuilder& g = c.g();
  Value* x = as_int64(g, c.tensor(0));
  Value* most = g.op("ReduceMax", {g.concat({x, g.ints({-1})}, 0)}, {{"keepdims", 0}});
  Value* size = g.reshape(g.op("Max", {g.add(most, g.index(1)), c.index(2)}), {1});
  Value* each = c.has(1) ? c.tensor(1) : nullptr;
  if (each && each->type.elem != DType::f32) each = g.cast(each, DType::f64);
  if (!each) each = g.op("Expand", {g.index(1), g.shape(x)});
  Value* none = g.op("Expand", {g.scalar(0, each->type.elem), size});
  return g.op("ScatterElements", {none, x, each}, {{"reduction", "add"}});
}
Item histc(const Call& c) {
  GraphBuilder& g = c.g();
  const std::int64_t bins = c.integer(1);
  const double low = c.real(2), high = c.real(3);
  if (low >= high || bins <= 0) refuse("a histogram over the range of the values that come");
  Value* x = flat(c, 0);
  Value* at = g.op("Floor", {g.mul(g.sub(x, low), static_cast<double>(bins) / (high - low))});
  at = g.op("Min",
            {at, g.scalar(static_cast<double>(bins - 1), x->type.elem)});  // the upper end belongs to the last one
  Value* is_in = g.op("And", {g.op("GreaterOrEqual", {x, g.scalar(low, x->type.elem)}),
                              g.op("LessOrEqual", {x, g.scalar(high, x->type.elem)})});
  Value* none = g.op("Expand", {g.scalar(0, x->type.elem), g.ints({bins})});
  Value* place = g.where(is_in, g.cast(at, DType::i64), g.index(0));
  return g.op("ScatterElements", {none, place, g.cast(is_in, x->type.elem)}, {{"reduction", "add"}});
}
Item isin(const Call& c) {
  GraphBuilder& g = c.g();
  const Values x = c.promoted({0, 1});
  Value* same = g.op("Equal", {g.unsqueeze(x[0], {-1}), g.reshape(x[1], {-1})});
  Value* any = g.cast(g.op("ReduceMax", {g.cast(same, DType::i32), g.ints({-1})}, {{"keepdims", 0}}), DType::boolean);
  return c.flag(3) ? g.op("Not", {any}) : any;
}
Item equal_tensors(const Call& c) {
  const Values x = c.promoted({0, 1});
  GraphBuilder& g = c.g();
  if (x[0]->type.shape && x[1]->type.shape && rank_of(x[0]) != rank_of(x[1])) return false;
  Value* all = g.op("ReduceMin", {g.cast(g.op("Equal", x), DType::i32)}, {{"keepdims", 0}});
  return c.t.number_of(g.cast(all, DType::boolean));
}
Item allclose(const Call& c) {
  const Item close = c.t.call("isclose", c.args);
  const TensorRef* tensor = close.get<TensorRef>();
  if (!tensor) return close;
  GraphBuilder& g = c.g();
  Value* all = g.op("ReduceMin", {g.cast(c.t.read(*tensor), DType::i32)}, {{"keepdims", 0}});
  return c.t.number_of(g.cast(all, DType::boolean));
}
/// Runs of equal values: where one begins, which run each value belongs to, and how long they are.
Item unique_consecutive(const Call& c) {
  GraphBuilder& g = c.g();
  if (c.has(3) && c.rank(c.tensor(0)) != 1) refuse("runs of equal rows");
  Value* x = flat(c, 0);
  Value* before = g.op("Slice", {x, g.ints({0}), g.ints({-1})});
  Value* after = g.op("Slice", {x, g.ints({1}), g.ints({INT64_MAX})});
  Value* is_first = g.op("Expand", {g.constant(Tensor::scalar(true)), g.op("Min", {g.shape(x), g.ints({1})})});
  Value* begins = g.concat({is_first, g.op("Not", {g.op("Equal", {before, after})})}, 0);
  Value* run = g.sub(g.op("CumSum", {g.cast(begins, DType::i64), g.index(0)}), g.index(1));
  Value* values = g.op("Compress", {x, begins}, {{"axis", 0}});
  Value* none = g.op("Expand", {g.index(0), g.shape(values)});
  Value* counts =
      g.op("ScatterElements", {none, run, g.op("Expand", {g.index(1), g.shape(run)})}, {{"reduction", "add"}});
  return Item::tensors({values, g.op("Reshape", {run, g.shape(c.tensor(0))}), counts});
}
Item unique_dim(const Call& c) {
  const Values made = c.g().op("Unique", {c.tensor(0)}, {{"axis", c.axis(1, c.tensor(0))}}, 4);
  return Item::tensors({made[0], made[2], made[3]});
}
Item quantile(const Call& c) {
  GraphBuilder& g = c.g();
  Value* x = c.tensor(0);
  const std::string between = c.has(4) ? c.text(4) : "linear";
  const std::int64_t own_rank = c.rank(x);
  if (!c.has(2)) x = g.reshape(x, {-1});
  const std::int64_t axis = c.has(2) ? c.axis(2, x) : 0;
  const Item both = c.t.call("sort", {Item(x), axis, false});
  const Tuple* sorted = both.get<Tuple>();
  if (!sorted) return both;
  Value* rows = c.t.read(*sorted->items->at(0).get<TensorRef>());
  Value* q = c.is_tensor(1) ? c.tensor(1) : g.scalar(c.real(1), x->type.elem);
  Value* last = g.cast(g.sub(size_of(g, x, axis), g.index(1)), x->type.elem);
  Value* place = g.mul(g.reshape(g.cast(q, x->type.elem), {-1}), last);
  Value* below = g.op("Floor", {place});
  const auto at = [&](Value* where) { return g.op("Gather", {rows, g.cast(where, DType::i64)}, {{"axis", axis}}); };
  Ints shape(static_cast<std::size_t>(c.rank(x)), 1);
  shape[static_cast<std::size_t>(axis)] = -1;
  Value *low = at(below), *high = at(g.op("Ceil", {place}));
  Value* share = g.reshape(g.sub(place, below), shape);
  if (between == "midpoint") share = g.scalar(0.5, x->type.elem);
  Value* made = between == "lower"     ? low
                : between == "higher"  ? high
                : between == "nearest" ? at(g.op("Round", {place}))
                                       : g.add(low, g.mul(g.sub(high, low), share));
  if (rank_of(q) == 0) {
    if (!c.flag(3)) return g.squeeze(made, {axis});
    return c.has(2) ? Item(made) : Item(g.reshape(made, Ints(static_cast<std::size_t>(own_rank), 1)));
  }
  // Several: they stand along a new first axis.
  Ints perm{axis};
  for (std::int64_t i = 0; i < c.rank(x); ++i)
    if (i != axis) perm.push_back(i);
  made = g.transpose(made, perm);
  if (!c.flag(3)) return made;
  if (c.has(2)) return g.unsqueeze(made, {axis + 1});
  Ints ones(static_cast<std::size_t>(own_rank + 1), 1);
  ones[0] = -1;
  return g.reshape(made, ones);
}

}  // namespace ingot::frontends::torch
