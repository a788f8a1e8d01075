// Linear systems, determinants and LU factors, by elimination.
#include "ingot/frontends/numeric/elimination.h"

#include <limits>

#include "ingot/frontends/numeric/matrices.h"
#include "ingot/frontends/repeat.h"

namespace ingot::frontends::numeric {
namespace {

constexpr std::int64_t kEnd = std::numeric_limits<std::int64_t>::max();

/// The row below (or at) k whose element of column k is largest, brought to place k.
struct Pivot {
  Value *number, *is_k, *is_chosen;  // [..., 1, 1] int64; [n, 1] and [..., n, 1] bool
  Value* row;                        // [..., 1, m]
  Value* value;                      // [..., 1, 1]
};

Pivot pivot_of(GraphBuilder& g, Value* matrix, Value* rows, Value* k) {
  Pivot p{};
  Value* sizes = g.op("Abs", {column_at(g, matrix, k)});
  Value* is_below = g.op("GreaterOrEqual", {rows, k});
  Value* candidates = g.where(is_below, sizes, g.scalar(-1, sizes->type.elem));
  p.number = g.op("ArgMax", {candidates}, {{"axis", -2}, {"keepdims", 1}});
  p.is_k = g.op("Equal", {rows, k});
  p.is_chosen = g.op("Equal", {rows, p.number});
  p.row = sum_of_rows(g, g.where(p.is_chosen, matrix, zero_of(g, matrix)));
  p.value = column_at(g, p.row, k);
  return p;
}

Value* exchanged(GraphBuilder& g, const Pivot& p, Value* matrix, Value* chosen, Value* k) {
  Value* others = g.where(p.is_chosen, row_at(g, matrix, k), matrix);
  return g.where(p.is_k, chosen, others);
}

}  // namespace

Value* solve(GraphBuilder& g, Value* matrix, Value* right) {
  Value* count = size_of(g, matrix, -1);
  Value* rows = row_numbers(g, matrix);
  const Values done =
      repeat(g, count, {g.concat({matrix, right}, -1)}, [&](GraphBuilder& b, Value* k, const Values& state) -> Values {
        const Pivot p = pivot_of(b, state[0], rows, k);
        Value* turned = exchanged(b, p, state[0], p.row, k);
        Value* scaled = b.div(p.row, p.value);
        Value* rest = b.sub(turned, b.mul(column_at(b, turned, k), scaled));
        return {b.where(p.is_k, scaled, rest)};
      });
  Value* from = g.unsqueeze(count, {0});
  Value* width = g.op("Slice", {g.shape(done[0]), g.ints({-1}), g.ints({kEnd})});
  return g.op("Slice", {done[0], from, width, g.ints({-1})});
}

LogDeterminant log_determinant(GraphBuilder& g, Value* matrix) {
  // The pivots' product, its sign and the logarithm of its size.
  Value* count = size_of(g, matrix, -1);
  Value* rows = row_numbers(g, matrix);
  Value* outer = g.op("Slice", {g.shape(matrix), g.ints({0}), g.ints({-2})});
  Value* dims = g.concat({outer, g.ints({1, 1})}, 0);
  Value* sign = g.op("Expand", {g.scalar(1, matrix->type.elem), dims});
  Value* log = g.op("Expand", {g.scalar(0, matrix->type.elem), dims});
  const Values done =
      repeat(g, count, {matrix, sign, log}, [&](GraphBuilder& b, Value* k, const Values& state) -> Values {
        const Pivot p = pivot_of(b, state[0], rows, k);
        Value* turned = exchanged(b, p, state[0], p.row, k);
        Value* factors = b.div(column_at(b, turned, k), p.value);
        Value* is_below = b.op("Greater", {rows, k});
        Value* next = b.where(is_below, b.sub(turned, b.mul(factors, p.row)), turned);
        Value* one = b.scalar(1, p.value->type.elem);
        Value* is_same = b.op("Equal", {p.number, k});
        Value* turn = b.where(is_same, one, b.neg(one));
        Value* turned_sign = b.mul(state[1], turn);
        Value* signs = b.mul(turned_sign, b.op("Sign", {p.value}));
        Value* logs = b.add(state[2], b.op("Log", {b.op("Abs", {p.value})}));
        return {next, signs, logs};
      });
  return {done[1], done[2]};
}

LuFactors lu(GraphBuilder& g, Value* matrix) {
  Value* count = size_of(g, matrix, -1);
  Value* rows = row_numbers(g, matrix);
  Value* columns = column_numbers(g, matrix);
  Value* outer = g.op("Slice", {g.shape(matrix), g.ints({0}), g.ints({-2})});
  Value* start = g.op("Expand", {rows, g.concat({outer, g.unsqueeze(count, {0}), g.ints({1})}, 0)});
  const Values done = repeat(g, count, {matrix, start}, [&](GraphBuilder& b, Value* k, const Values& state) -> Values {
    const Pivot p = pivot_of(b, state[0], rows, k);
    Value* turned = exchanged(b, p, state[0], p.row, k);
    Value* chosen = sum_of_rows(b, b.where(p.is_chosen, state[1], b.index(0)));
    Value* order = exchanged(b, p, state[1], chosen, k);
    Value* factors = b.div(column_at(b, turned, k), p.value);
    Value* is_right = b.op("Greater", {columns, k});
    Value* is_column = b.op("Equal", {columns, k});
    Value* rest = b.where(is_right, b.sub(turned, b.mul(factors, p.row)), turned);
    rest = b.where(is_column, factors, rest);
    Value* is_below = b.op("Greater", {rows, k});
    return {b.where(is_below, rest, turned), order};
  });
  return {done[0], done[1]};
}

}  // namespace ingot::frontends::numeric
