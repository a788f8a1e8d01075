// Eigenvalues and singular values, by Jacobi's rotations.
#include "ingot/frontends/numeric/rotations.h"

#include <limits>

#include "ingot/frontends/numeric/factors.h"
#include "ingot/frontends/numeric/matrices.h"
#include "ingot/frontends/repeat.h"

namespace ingot::frontends::numeric {
namespace {

constexpr std::int64_t kSweeps = 12;  // rotations converge quadratically: this is beyond double precision

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

}  // namespace

Value* ordered_columns(GraphBuilder& g, Value* x, Value* order) {
  Value* at = g.unsqueeze(order, {-2});
  Value* rows = g.op("Slice", {g.shape(x), g.ints({0}), g.ints({-1})});
  Value* count = g.op("Slice", {g.shape(order), g.ints({-1}), g.ints({std::numeric_limits<std::int64_t>::max()})});
  return g.op("GatherElements", {x, g.op("Expand", {at, g.concat({rows, count}, 0)})}, {{"axis", -1}});
}

Eigen eigen(GraphBuilder& g, Value* a) {
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
  return {sorted[0], done[1], sorted[1]};
}

SingularValues singular_values(GraphBuilder& g, Value* a) {
  // The columns are turned until all are orthogonal: then they are u * values, and the rotations are v.
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
  Value* values = g.op("Slice", {sorted[0], g.ints({0}), count, g.ints({-1})});
  return {values, sorted[0], sorted[1], done[0], done[1], count};
}

SingularVectors singular_vectors(GraphBuilder& g, const SingularValues& s, bool is_full) {
  Value* v = ordered_columns(g, s.rotations, s.order);
  Value* scaled = first_columns(g, ordered_columns(g, s.columns, s.order), s.count);
  Value* lengths = g.unsqueeze(g.op("Slice", {s.all, g.ints({0}), s.count, g.ints({-1})}), {-2});
  Value* is_zero = g.op("Equal", {lengths, g.scalar(0, DType::f64)});
  Value* u = g.div(scaled, g.where(is_zero, g.scalar(1, DType::f64), lengths));
  if (!is_full) return {u, first_columns(g, v, s.count)};
  const QrFactors f = qr_factors(g, u);  // its further columns are orthogonal to u's
  Value* rest = g.op("Slice", {f.q, s.count, g.ints({std::numeric_limits<std::int64_t>::max()}), g.ints({-1})});
  return {g.concat({u, rest}, -1), v};
}

}  // namespace ingot::frontends::numeric
