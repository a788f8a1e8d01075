// What puts elements in order, and finds places in what is in order.
#include <algorithm>

#include "ingot/frontends/torch/call.h"
#include "ingot/frontends/values.h"

namespace ingot::frontends::torch {

Item bucketize(const Call& c) {
  // How many boundaries lie before each value.
  GraphBuilder& g = c.g();
  Value* x = g.unsqueeze(c.tensor(0), {-1});
  Value* limits = g.cast(c.tensor(1), x->type.elem);
  Value* before = c.flag(3) ? g.op("LessOrEqual", {limits, x}) : g.op("Less", {limits, x});
  return g.op("ReduceSum", {g.cast(before, c.flag(2) ? DType::i32 : DType::i64), g.ints({-1})}, {{"keepdims", 0}});
}
Item searchsorted(const Call& c) {
  const bool is_right = c.flag(3) || (c.has(4) && c.text(4) == "right");
  Value* limits = c.tensor(0);
  if (c.has(5)) limits = c.g().op("GatherElements", {limits, as_int64(c.g(), c.tensor(5))}, {{"axis", -1}});
  // Rows of their own: how many limits of a row lie before each value of the same row.
  if (c.rank(limits) > 1) limits = c.g().unsqueeze(limits, {-2});
  return c.t.call("bucketize", {c.arg(1), Item(limits), c.arg(2), is_right});
}
Item topk(const Call& c) {
  if (is_single(c)) return on_single(c, topk);
  GraphBuilder& g = c.g();
  Value* x = c.tensor(0);
  return Item::tensors(g.op("TopK", {x, g.reshape(c.index(1), {1})},
                            {{"axis", c.integer(2)}, {"largest", c.flag(3)}, {"sorted", c.flag(4)}}, 2));
}
Item sort(const Call& c) {
  GraphBuilder& g = c.g();
  Value* x = c.tensor(0);
  // sort(stable, dim, descending), of which dim may be left out, or sort(dim, descending)
  const bool is_stable_form = c.arg(1).is<bool>(), has_axis = !is_stable_form || !c.arg(2).is<bool>();
  const std::size_t dim = is_stable_form ? 2 : 1, descending = is_stable_form && has_axis ? 3 : 2;
  const std::int64_t axis = has_axis && c.has(dim) ? c.axis(dim, x) : std::max<std::int64_t>(c.rank(x) - 1, 0);
  if (rank_of(x) == 0) return Item::tuple({Item(x), Item(g.index(0))});
  const DType elem = x->type.elem;
  if (elem == DType::boolean) x = g.cast(x, DType::u8);
  Values made = g.op("TopK", {x, g.op("Gather", {g.shape(x), g.ints({axis})})},
                     {{"axis", axis}, {"largest", c.flag(descending)}}, 2);
  made[0] = g.cast(made[0], elem);
  return Item::tensors(made);
}
Item msort(const Call& c) {
  const Item both = c.t.call("sort", {c.arg(0), Item(0), Item(false)});
  const Tuple* tuple = both.get<Tuple>();
  return tuple ? tuple->items->at(0) : Item(Unknown{});
}
Item argsort(const Call& c) {
  const Item both = c.t.call("sort", c.args);
  const Tuple* tuple = both.get<Tuple>();
  return tuple ? tuple->items->at(1) : Item(Unknown{});
}
Item kthvalue(const Call& c) {
  if (is_single(c)) return on_single(c, kthvalue);
  GraphBuilder& g = c.g();
  Value* x = c.tensor(0);
  const std::int64_t axis = c.axis(2, x);
  Values made = g.op("TopK", {x, g.reshape(c.index(1), {1})}, {{"axis", axis}, {"largest", 0}}, 2);
  for (Value*& v : made) {
    v = g.op("Gather", {v, g.ints({-1})}, {{"axis", axis}});
    if (!c.flag(3)) v = g.squeeze(v, {axis});
  }
  return Item::tensors(made);
}
Item unique(const Call& c) {
  Values made = c.g().op("Unique", {c.tensor(0)}, {}, 4);
  const bool is_second = c.row.name == "_unique2";
  GraphBuilder& g = c.g();
  // What is not asked for is empty.
  Value* back = c.flag(2) ? g.op("Reshape", {made[2], g.shape(c.tensor(0))}) : g.ints({});
  if (is_second) return Item::tensors({made[0], back, c.flag(3) ? made[3] : g.ints({})});
  return Item::tensors({made[0], back});
}

}  // namespace ingot::frontends::torch
