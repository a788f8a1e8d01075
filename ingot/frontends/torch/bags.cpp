// Embeddings of bags: rows of a table, gathered and reduced bag by bag.
#include <limits>

#include "ingot/frontends/torch/call.h"
#include "ingot/frontends/values.h"

namespace ingot::frontends::torch {
namespace {

enum Mode : std::int64_t { kSum = 0, kMean = 1, kMax = 2 };

}  // namespace

/// f(weight, indices, offsets, scale_grad_by_freq, mode, sparse, per_sample_weights, include_last_offset, padding_idx)
Item embedding_bag(const Call& c) {
  GraphBuilder& g = c.g();
  Value* table = c.tensor(0);
  c.t.demand_dtype(c.tensor(1), DType::i64);
  c.t.demand_dtype(c.tensor(2), DType::i64);
  Value* places = as_int64(g, c.tensor(1));
  Value* offsets = as_int64(g, c.tensor(2));
  const std::int64_t mode = c.integer(4);
  if (c.flag(7)) offsets = g.op("Slice", {offsets, g.ints({0}), g.ints({-1})});
  Value* bags = size_of(g, offsets, 0);
  // The bag of an index is the last one that begins at or before it.
  Value* numbers = counted(g, size_of(g, places, 0));
  Value* has_begun = g.op("LessOrEqual", {g.unsqueeze(offsets, {0}), g.unsqueeze(numbers, {1})});
  Value* bag = g.sub(g.op("ReduceSum", {g.cast(has_begun, DType::i64), g.ints({1})}, {{"keepdims", 0}}), g.index(1));
  Value* at = g.unsqueeze(bag, {1});
  Value* rows = g.op("Gather", {table, places});
  if (c.has(6)) rows = g.mul(rows, g.unsqueeze(c.tensor(6), {1}));
  Value* count_each = g.op("Expand", {g.scalar(1, table->type.elem), g.shape(places)});
  if (const auto skipped = c.known_integer(8); skipped && *skipped >= 0) {
    Value* counts = g.op("Not", {g.op("Equal", {places, g.index(*skipped)})});
    count_each = g.cast(counts, table->type.elem);
    if (mode != kMax) rows = g.where(g.unsqueeze(counts, {1}), rows, g.scalar(0, table->type.elem));
    if (mode == kMax) refuse("the largest row of a bag with an index that does not count");
  }
  const auto filled = [&](double value, Value* shape) {
    return g.op("Expand", {g.scalar(value, table->type.elem), shape});
  };
  Value* width = g.reshape(size_of(g, table, 1), {1});
  Value* shape = g.concat({g.reshape(bags, {1}), width}, 0);
  Value* count = g.op("ScatterND", {filled(0, g.reshape(bags, {1})), at, count_each}, {{"reduction", "add"}});
  Value* made = nullptr;
  if (mode == kMax) {
    const double low = -std::numeric_limits<double>::infinity();
    made = g.op("ScatterND", {filled(low, shape), at, rows}, {{"reduction", "max"}});
    made = g.where(g.op("IsInf", {made}), g.scalar(0, table->type.elem), made);  // empty bags
  } else {
    made = g.op("ScatterND", {filled(0, shape), at, rows}, {{"reduction", "add"}});
  }
  if (mode == kMean) made = g.div(made, g.unsqueeze(g.op("Max", {count, g.scalar(1, table->type.elem)}), {1}));
  return Item::tuple({Item(made), Item(bag), Item(g.cast(count, DType::i64)), Item(Unknown{})});
}

}  // namespace ingot::frontends::torch
