// Factors of matrices: Cholesky's, by reflections, by rotations.
#include "ingot/frontends/tensorflow/factors.h"

#include <limits>

namespace ingot::frontends::tensorflow {
namespace {

constexpr std::int64_t kSweeps = 12;  // rotations converge quadratically: this is beyond double precision

Value* zero_of(GraphBuilder& g, Value* like) { return g.scalar(0, like->type.elem); }

/// [..., n, 1] -> [..., 1, n].
Value* laid_down(GraphBuilder& g, Value* column) { return g.unsqueeze(g.squeeze(column, {-1}), {-2}); }

void require_real(const TfNode& n) {
  if (!is_float(n.elem(0))) n.unsupported("complex matrices");
}

/// The first `count` (rank 1) columns.
Value* first_columns(GraphBuilder& g, Value* x, Value* count) {
  return g.op("Slice", {x, g.ints({0}), count, g.ints({-1})});
}

struct Rotation {
  Value *c, *s;  // [..., 1, 1]
};

/// What makes the element between two columns vanish: `gap` is the difference of the two on the diagonal.
Rotation rotation_of(GraphBuilder& g, Value* gap, Value* between) {
  Value* zero = zero_of(g, gap);
  Value* one = g.scalar(1, gap->type.elem);
  Value* is_done = g.op("Equal", {between, zero});
  Value* tau = g.div(gap, g.mul(g.where(is_done, one, between), 2));
  Value* is_negative = g.op("Less", {tau, zero});
  Value* root = g.op("Sqrt", {g.add(g.mul(tau, tau), 1)});
  Value* size = g.div(1, g.add(g.op("Abs", {tau}), root));
  Value* t = g.where(is_negative, g.neg(size), size);
  t = g.where(is_done, zero, t);
  Value* c = g.div(1, g.op("Sqrt", {g.add(g.mul(t, t), 1)}));
  return {c, g.mul(t, c)};
}

/// Columns p and q of x turned by the rotation.
Value* rotated(GraphBuilder& g, const Rotation& r, Value* x, Value* columns, Value* p, Value* q) {
  Value* a = column_at(g, x, p);
  Value* b = column_at(g, x, q);
  Value* ca = g.mul(r.c, a);
  Value* new_a = g.sub(ca, g.mul(r.s, b));
  Value* sa = g.mul(r.s, a);
  Value* new_b = g.add(sa, g.mul(r.c, b));
  Value* is_p = g.op("Equal", {columns, p});
  Value* is_q = g.op("Equal", {columns, q});
  return g.where(is_p, new_a, g.where(is_q, new_b, x));
}

/// All pairs p < q of columns, [2, pairs].
Value* pairs_of(GraphBuilder& g, Value* count) {
  Value* i = g.unsqueeze(counted(g, count), {1});
  return g.op("NonZero", {g.op("Less", {i, g.unsqueeze(counted(g, count), {0})})});
}

/// The pair of a round, all pairs kSweeps times.
struct Pair {
  Value *p, *q;
};
Pair pair_of(GraphBuilder& g, Value* pairs, Value* round) {
  Value* number = g.op("Mod", {round, size_of(g, pairs, 1)});
  Value* both = g.op("Gather", {pairs, number}, {{"axis", 1}});
  Value* p = g.op("Gather", {both, g.index(0)});
  return {p, g.op("Gather", {both, g.index(1)})};
}

/// The columns of x in the order [..., n] of its last axis.
Value* ordered(GraphBuilder& g, Value* x, Value* order) {
  Value* at = g.unsqueeze(order, {-2});
  Value* rows = g.op("Slice", {g.shape(x), g.ints({0}), g.ints({-1})});
  Value* count = g.op("Slice", {g.shape(order), g.ints({-1}), g.ints({std::numeric_limits<std::int64_t>::max()})});
  return g.op("GatherElements", {x, g.op("Expand", {at, g.concat({rows, count}, 0)})}, {{"axis", -1}});
}

}  // namespace

Values cholesky(const TfNode& n, GraphBuilder& g) {
  require_real(n);
  Value* a = g.cast(n.input(0), n.elem(0) == DType::f64 ? DType::f64 : DType::f32);
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
  return {g.cast(done[1], n.elem(0))};
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

Values qr(const TfNode& n, GraphBuilder& g) {
  require_real(n);
  const DType inner = n.elem(0) == DType::f64 ? DType::f64 : DType::f32;
  QrFactors f = qr_factors(g, g.cast(n.input(0), inner));
  if (!n.flag("full_matrices", false)) {
    Value* height = size_of(g, n.input(0), -2);
    Value* count = g.unsqueeze(g.op("Min", {height, size_of(g, n.input(0), -1)}), {0});
    f.q = first_columns(g, f.q, count);
    f.r = g.op("Slice", {f.r, g.ints({0}), count, g.ints({-2})});
  }
  Value* q = g.cast(f.q, n.elem(0));
  return {q, g.cast(f.r, n.elem(0))};
}

Values self_adjoint_eig(const TfNode& n, GraphBuilder& g) {
  require_real(n);
  // The lower triangle counts.
  Value* full = g.cast(n.input(0), DType::f64);
  Value* lower = g.op("Trilu", {full}, {{"upper", 0}});
  Value* strict = g.op("Trilu", {full, g.index(-1)}, {{"upper", 0}});
  Value* a = g.add(lower, transposed_matrix(n, g, strict));
  Value* columns = column_numbers(g, a);
  Value* rows = row_numbers(g, a);
  Value* count = size_of(g, a, -1);
  Value* pairs = pairs_of(g, count);
  Value* rounds = g.mul(size_of(g, pairs, 1), g.index(kSweeps));
  const Values done =
      repeat(g, rounds, {a, unit_like(g, a)}, [&](GraphBuilder& b, Value* round, const Values& state) -> Values {
        const Pair pair = pair_of(b, pairs, round);
        Value* column_p = column_at(b, state[0], pair.p);
        Value* column_q = column_at(b, state[0], pair.q);
        Value* at_q = row_at(b, column_q, pair.q);
        Value* gap = b.sub(at_q, row_at(b, column_p, pair.p));
        const Rotation r = rotation_of(b, gap, row_at(b, column_q, pair.p));
        Value* half = rotated(b, r, state[0], columns, pair.p, pair.q);
        // The rows in the same way.
        Value* row_p = row_at(b, half, pair.p);
        Value* row_q = row_at(b, half, pair.q);
        Value* cp = b.mul(r.c, row_p);
        Value* new_p = b.sub(cp, b.mul(r.s, row_q));
        Value* sp = b.mul(r.s, row_p);
        Value* new_q = b.add(sp, b.mul(r.c, row_q));
        Value* is_p = b.op("Equal", {rows, pair.p});
        Value* is_q = b.op("Equal", {rows, pair.q});
        Value* turned = b.where(is_p, new_p, b.where(is_q, new_q, half));
        return {turned, rotated(b, r, state[1], columns, pair.p, pair.q)};
      });
  Value* is_diagonal = g.op("Equal", {rows, columns});
  Value* values = g.reduce_sum(g.where(is_diagonal, done[0], zero_of(g, done[0])), {-1}, false);
  const Values sorted = g.op("TopK", {values, g.unsqueeze(count, {0})}, {{"axis", -1}, {"largest", 0}}, 2);
  Value* e = g.cast(sorted[0], n.elem(0));
  if (!n.flag("compute_v", true)) return {e, g.constant(Tensor::of<float>({0}, std::vector<float>()))};
  return {e, g.cast(ordered(g, done[1], sorted[1]), n.elem(0))};
}

Values svd(const TfNode& n, GraphBuilder& g) {
  require_real(n);
  // The columns are turned until all are orthogonal: then they are u * s, and the rotations are v.
  Value* a = g.cast(n.input(0), DType::f64);
  Value* columns = column_numbers(g, a);
  Value* width = size_of(g, a, -1);
  Value* height = size_of(g, a, -2);
  Value* outer = g.op("Slice", {g.shape(a), g.ints({0}), g.ints({-2})});
  Value* unit = g.cast(g.op("Equal", {g.unsqueeze(counted(g, width), {1}), columns}), DType::f64);
  Value* wide = g.unsqueeze(width, {0});
  Value* start = g.op("Expand", {unit, g.concat({outer, wide, wide}, 0)});
  Value* pairs = pairs_of(g, width);
  Value* rounds = g.mul(size_of(g, pairs, 1), g.index(kSweeps));
  const Values done = repeat(g, rounds, {a, start}, [&](GraphBuilder& b, Value* round, const Values& state) -> Values {
    const Pair pair = pair_of(b, pairs, round);
    Value* x = column_at(b, state[0], pair.p);
    Value* y = column_at(b, state[0], pair.q);
    Value* xx = sum_of_rows(b, b.mul(x, x));
    Value* gap = b.sub(sum_of_rows(b, b.mul(y, y)), xx);
    const Rotation r = rotation_of(b, gap, sum_of_rows(b, b.mul(x, y)));
    Value* next = rotated(b, r, state[0], columns, pair.p, pair.q);
    return {next, rotated(b, r, state[1], columns, pair.p, pair.q)};
  });
  Value* sizes = g.op("Sqrt", {g.reduce_sum(g.mul(done[0], done[0]), {-2}, false)});
  Value* count = g.unsqueeze(g.op("Min", {height, width}), {0});
  const Values sorted = g.op("TopK", {sizes, wide}, {{"axis", -1}}, 2);
  Value* s = g.cast(g.op("Slice", {sorted[0], g.ints({0}), count, g.ints({-1})}), n.elem(0));
  if (!n.flag("compute_uv", true)) {
    Value* nothing = g.cast(g.constant(Tensor::of<float>({0}, std::vector<float>())), n.elem(0));
    return {s, nothing, nothing};
  }
  Value* v = ordered(g, done[1], sorted[1]);
  Value* scaled = first_columns(g, ordered(g, done[0], sorted[1]), count);
  Value* lengths = g.unsqueeze(g.op("Slice", {sorted[0], g.ints({0}), count, g.ints({-1})}), {-2});
  Value* is_zero = g.op("Equal", {lengths, g.scalar(0, DType::f64)});
  Value* u = g.div(scaled, g.where(is_zero, g.scalar(1, DType::f64), lengths));
  if (n.flag("full_matrices", false)) {
    const QrFactors f = qr_factors(g, u);  // its further columns are orthogonal to u's
    Value* rest = g.op("Slice", {f.q, count, g.ints({std::numeric_limits<std::int64_t>::max()}), g.ints({-1})});
    u = g.concat({u, rest}, -1);
  } else {
    v = first_columns(g, v, count);
  }
  Value* left = g.cast(u, n.elem(0));
  return {s, left, g.cast(v, n.elem(0))};
}

}  // namespace ingot::frontends::tensorflow
