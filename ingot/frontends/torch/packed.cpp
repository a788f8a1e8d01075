// Packed sequences. Their data stays padded, [steps, batch, ...]; the sizes of their batches are PyTorch's own, so that
// code may read them, and tell each sequence's length.
#include "ingot/frontends/torch/packed.h"

#include "ingot/frontends/values.h"

namespace ingot::frontends::torch {
namespace {

/// [steps, batch]: whether step t lies before the end of sequence b.
Value* is_inside(GraphBuilder& g, Value* steps, Value* lengths) {
  return g.op("Less", {g.unsqueeze(counted(g, steps), {1}), g.unsqueeze(lengths, {0})});
}

}  // namespace

Value* packed_lengths(GraphBuilder& g, Value* batch_sizes) {
  Value* batch = g.op("ReduceMax", {batch_sizes}, {{"keepdims", 0}});
  Value* is_longer = g.op("Greater", {g.unsqueeze(batch_sizes, {1}), g.unsqueeze(counted(g, batch), {0})});
  return g.op("ReduceSum", {g.cast(is_longer, DType::i64), g.ints({0})}, {{"keepdims", 0}});
}

Item pack_padded_sequence(const Call& c) {
  GraphBuilder& g = c.g();
  Value* x = c.tensor(0);
  if (c.flag(2)) x = c.t.read(*c.t.call("transpose", {Item(x), 0, 1}).get<TensorRef>());
  Value* lengths = as_int64(g, c.tensor(1));
  Value* steps = g.op("ReduceMax", {lengths}, {{"keepdims", 0}});
  Value* sizes = g.op("ReduceSum", {g.cast(is_inside(g, steps, lengths), DType::i64), g.ints({1})}, {{"keepdims", 0}});
  Value* data = g.op("Slice", {x, g.ints({0}), g.reshape(steps, {1}), g.ints({0})});
  c.t.notes.add("a packed sequence stays padded: code that counts its rows finds others than in PyTorch");
  const Item kept(data);
  (*kept.get<TensorRef>())->is_packed = true;
  return Item::tuple({kept, Item(sizes)});
}

Item pad_packed_sequence(const Call& c) {
  GraphBuilder& g = c.g();
  Value* data = c.tensor(0);
  Value* lengths = packed_lengths(g, c.tensor(1));
  const std::int64_t rank = c.rank(data);
  Value* mask = is_inside(g, size_of(g, data, 0), lengths);
  if (rank > 2) {
    Ints axes;
    for (std::int64_t i = 2; i < rank; ++i) axes.push_back(i);
    mask = g.unsqueeze(mask, axes);
  }
  Value* filler = g.scalar(c.real(3), data->type.elem);
  Value* padded = g.where(mask, data, filler);
  if (c.has(4) && !(c.known_integer(4) && *c.known_integer(4) <= 0)) {
    Value* missing = g.reshape(g.sub(c.index(4), size_of(g, data, 0)), {1});
    Ints zeros(static_cast<std::size_t>(rank), 0);
    Value* rest = g.ints(Ints(static_cast<std::size_t>(rank - 1), 0));
    padded = g.op("Pad", {padded, g.concat({g.ints(zeros), missing, rest}, 0), filler});
  }
  Item result(padded);
  if (c.flag(2)) result = c.t.call("transpose", {result, 0, 1});
  return Item::tuple({result, Item(lengths)});
}

}  // namespace ingot::frontends::torch
