// Factors of matrices: Cholesky's, and by reflections.
#include "ingot/frontends/numeric/factors.h"

#include "ingot/frontends/numeric/matrices.h"
#include "ingot/frontends/repeat.h"

namespace ingot::frontends::numeric {
namespace {

/// [..., n, 1] -> [..., 1, n].
Value* laid_down(GraphBuilder& g, Value* column) { return g.unsqueeze(g.squeeze(column, {-1}), {-2}); }

}  // namespace

Value* cholesky(GraphBuilder& g, Value* a) {
  Value* rows = row_numbers(g, a);
  Value* columns = column_numbers(g, a);
  Value* start = filled_like(g, a, 0);
  const Values done =
      repeat(g, size_of(g, a, -1), {a, start}, [&](GraphBuilder& b, Value* k, const Values& state) -> Values {
        Value* column = column_at(b, state[0], k);
        Value* root = b.op("Sqrt", {row_at(b, column, k)});
        Value* is_below = b.op("GreaterOrEqual", {rows, k});
        Value* l = b.where(is_below, b.div(column, root), zero_of(b, column));
        Value* is_column = b.op("Equal", {columns, k});
        Value* rest = b.sub(state[0], b.mul(l, laid_down(b, l)));
        return {rest, b.where(is_column, l, state[1])};
      });
  return done[1];
}

QrFactors qr_factors(GraphBuilder& g, Value* matrix) {
  Value* rows = row_numbers(g, matrix);
  Value* height = size_of(g, matrix, -2);
  Value* count = g.op("Min", {height, size_of(g, matrix, -1)});
  Value* numbers = counted(g, height);
  Value* unit = g.cast(g.op("Equal", {rows, g.unsqueeze(numbers, {0})}), matrix->type.elem);
  Value* outer = g.op("Slice", {g.shape(matrix), g.ints({0}), g.ints({-1})});
  Value* start = g.op("Expand", {unit, g.concat({outer, g.unsqueeze(height, {0})}, 0)});
  const Values done = repeat(g, count, {start, matrix}, [&](GraphBuilder& b, Value* k, const Values& state) -> Values {
    Value* column = column_at(b, state[1], k);
    Value* zero = zero_of(b, column);
    Value* head = row_at(b, column, k);
    Value* is_below = b.op("Greater", {rows, k});
    Value* tail = b.where(is_below, column, zero);
    Value* rest = sum_of_rows(b, b.mul(tail, tail));
    Value* norm = b.op("Sqrt", {b.add(rest, b.mul(head, head))});
    // Away from the head, so that nothing cancels.
    Value* is_positive = b.op("GreaterOrEqual", {head, zero});
    Value* beta = b.where(is_positive, b.neg(norm), norm);
    Value* is_head = b.op("Equal", {rows, k});
    Value* v = b.where(is_head, b.sub(head, beta), tail);
    Value* is_done = b.op("Equal", {rest, zero});
    Value* squares = sum_of_rows(b, b.mul(v, v));
    Value* tau = b.where(is_done, zero, b.div(2, b.where(is_done, b.scalar(1, squares->type.elem), squares)));
    Value* along = sum_of_rows(b, b.mul(v, state[1]));
    Value* r = b.sub(state[1], b.mul(b.mul(v, tau), along));
    Value* qv = b.mul(b.op("MatMul", {state[0], v}), tau);
    Value* q = b.sub(state[0], b.mul(qv, laid_down(b, v)));
    return {q, r};
  });
  return {done[0], g.op("Trilu", {done[1]}, {{"upper", 1}})};
}

}  // namespace ingot::frontends::numeric
