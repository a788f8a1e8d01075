// Products of matrices.
#include <algorithm>

#include "ingot/lower/rows.h"

namespace ingot::lower {
namespace {

/// A matrix product by plain loops in a type of its own, for types without kernels. `start` matrices are dense.
DType sum_type(DType type) { return is_float(type) && type != DType::f64 ? DType::f32 : type; }

Expr times(const Expr& a, const Expr& b) { return Expr::make(Op::mul, a.type(), {a, b}); }

Exprs with(Exprs batch, const Expr& i, const Expr& j) {
  batch.push_back(i);
  batch.push_back(j);
  return batch;
}

/// Elements before the matrix of a batch.
Expr start_of(const Exprs& batch, const Exprs& out, const View& x) {
  const Exprs outer(x.dims.begin(), x.dims.end() - 2);
  const Exprs place = broadcast_place(batch, out, outer);
  Expr start = 0;
  for (std::size_t i = 0; i < outer.size(); ++i) start = start * outer[i] + place[i];
  return start * (x.dims[x.rank() - 2] * x.dims[x.rank() - 1]);
}

/// [batch, m, k] times [batch, k, n], broadcast.
View multiplied(Lowering& l, const View& a, const View& b, bool a_transposed = false, bool b_transposed = false) {
  const Exprs a_outer(a.dims.begin(), a.dims.end() - 2), b_outer(b.dims.begin(), b.dims.end() - 2);
  const Exprs outer = l.broadcast(a_outer, b_outer);
  const Expr m = a.dims[a.rank() - (a_transposed ? 1 : 2)], k = a.dims[a.rank() - (a_transposed ? 2 : 1)];
  const Expr n = b.dims[b.rank() - (b_transposed ? 2 : 1)];
  l.require_same(k, b.dims[b.rank() - (b_transposed ? 1 : 2)]);
  const View y = l.fresh(a.type, with(outer, m, n));
  if (a.type == DType::f32 || a.type == DType::f64) {
    Product p;
    p.out = y.tensor;
    p.a = l.stored(a).tensor;
    p.b = l.stored(b).tensor;
    p.m = m;
    p.n = n;
    p.k = k;
    p.a_transposed = a_transposed;
    p.b_transposed = b_transposed;
    Exprs at;
    const Exprs y_outer(y.dims.begin(), y.dims.end() - 2);
    for (const Expr& d : y_outer) {
      p.batch.push_back(l.axis_of(d));
      at.push_back(l.var(p.batch.back()));
    }
    p.a_start = start_of(at, y_outer, a);
    p.b_start = start_of(at, y_outer, b);
    p.out_start = start_of(at, y_outer, y);
    l.emit({p});
    return y;
  }
  const DType type = sum_type(a.type);
  const View sums = type == a.type ? y : l.fresh(type, y.dims);
  const View left = l.stored(a), right = l.stored(b);
  l.reduce_into(sums, {k}, Combine::sum, [&](const Exprs& at, const Exprs& inner) {
    const Exprs batch(at.begin(), at.end() - 2);
    const Expr &i = at[at.size() - 2], &j = at.back(), &t = inner[0];
    const Exprs pa = broadcast_place(batch, outer, a_outer), pb = broadcast_place(batch, outer, b_outer);
    return times(cast(left.at(a_transposed ? with(pa, t, i) : with(pa, i, t)), type),
                 cast(right.at(b_transposed ? with(pb, j, t) : with(pb, t, j)), type));
  });
  if (type == a.type) return y;
  return l.stored(l.computed(
      a.type, y.dims, [=](const Exprs& at) { return cast(sums.at(at), a.type); }, 1));
}

}  // namespace

void lower_mat_mul(Lowering& l) {
  View a = l.in(0), b = l.in(1);
  const bool is_row = a.rank() == 1, is_column = b.rank() == 1;
  if (is_row) a = l.reshaped(a, {1, a.dims[0]});
  if (is_column) b = l.reshaped(b, {b.dims[0], 1});
  const View y = multiplied(l, a, b);
  Exprs dims = y.dims;
  if (is_column) dims.pop_back();
  if (is_row) dims.erase(dims.end() - (is_column ? 1 : 2));
  l.out(0, is_row || is_column ? l.reshaped(y, dims) : y);
}

void lower_gemm(Lowering& l) {
  const View a = l.in(0), b = l.in(1);
  const View y = multiplied(l, a, b, l.attr("transA", 0) != 0, l.attr("transB", 0) != 0);
  const double alpha = l.node().attributes.float_or("alpha", 1), beta = l.node().attributes.float_or("beta", 1);
  const bool has_c = l.has(2) && beta != 0;
  if (alpha == 1 && !has_c) return l.out(0, y);
  const View c = has_c ? l.in(2) : View{};
  const Exprs dims = y.dims;
  l.require_spread(c.dims, dims);
  const auto read = [=](const Exprs& at) {
    Expr v = y.at(at);
    if (alpha != 1) v = times(v, Expr::constant(alpha, v.type()));
    if (!has_c) return v;
    Expr w = c.at(broadcast_place(at, dims, c.dims));
    if (beta != 1) w = times(w, Expr::constant(beta, w.type()));
    return Expr::make(Op::add, v.type(), {v, w});
  };
  l.out(0, l.computed(y.type, dims, read, 1 + c.cost));
}

namespace {

/// Numbers without their zero point, which is one or one per row or column. `turned`: they lie the other way round.
View centred(Lowering& l, const View& x, std::size_t zero_point, bool is_row, bool turned = false) {
  const bool has_zero = l.has(zero_point);
  const View zero = has_zero ? l.in(zero_point) : View{};
  const auto read = [=](const Exprs& at) {
    const Expr v = cast(x.at(turned ? Exprs{at[1], at[0]} : at), DType::i32);
    if (!has_zero) return v;
    Exprs place(zero.rank(), 0);
    if (zero.rank() == 1 && zero.dims[0].as_int() != 1) place[0] = is_row ? at[at.size() - 2] : at.back();
    if (zero.rank() > 1) {
      for (std::size_t i = 0; i < place.size(); ++i)
        if (zero.dims[i].as_int() != 1) place[i] = at[at.size() - zero.rank() + i];
    }
    return Expr::make(Op::sub, DType::i32, {v, cast(zero.at(place), DType::i32)});
  };
  return l.computed(DType::i32, turned ? Exprs{x.dims[1], x.dims[0]} : x.dims, read, 1);
}

/// A constant matrix the other way round, so that sums run along its neighbours.
std::optional<Tensor> transposed(const Value* v) {
  if (!v->initializer || v->initializer->rank() != 2) return std::nullopt;
  const Tensor& t = *v->initializer;
  const auto turn = [&]<class T>(T) {
    const std::int64_t rows = t.dims()[0], columns = t.dims()[1];
    const std::vector<T> from = t.to_vector<T>();
    std::vector<T> to(from.size());
    for (std::int64_t i = 0; i < rows; ++i)
      for (std::int64_t j = 0; j < columns; ++j)
        to[static_cast<std::size_t>(j * rows + i)] = from[static_cast<std::size_t>(i * columns + j)];
    return Tensor::of<T>({columns, rows}, to);
  };
  if (t.dtype() == DType::i8) return turn(std::int8_t{});
  if (t.dtype() == DType::u8) return turn(std::uint8_t{});
  return std::nullopt;
}

}  // namespace

void lower_mat_mul_integer(Lowering& l) {
  if (l.in(0).rank() < 2 || l.in(1).rank() < 2) l.refuse("an operand of rank 1");
  const auto turned = transposed(l.node().input(1));
  const View right = turned ? l.stored(l.weight(*turned)) : l.stored(l.in(1));
  const View a = centred(l, l.stored(l.in(0)), 2, true), b = centred(l, right, 3, false, turned.has_value());
  const Exprs a_outer(a.dims.begin(), a.dims.end() - 2), b_outer(b.dims.begin(), b.dims.end() - 2);
  const Exprs outer = l.broadcast(a_outer, b_outer);
  const Expr m = a.dims[a.rank() - 2], k = a.dims.back(), n = b.dims.back();
  l.require_same(k, b.dims[b.rank() - 2]);
  const auto value = [&](const Exprs& at, const Exprs& inner) {
    const Exprs batch(at.begin(), at.end() - 2);
    const Expr &i = at[at.size() - 2], &j = at.back(), &t = inner[0];
    return times(a.at(with(broadcast_place(batch, outer, a_outer), i, t)),
                 b.at(with(broadcast_place(batch, outer, b_outer), t, j)));
  };
  l.out(0, l.reduced(DType::i32, with(outer, m, n), {k}, Combine::sum, value));
}

void lower_det(Lowering& l) {
  const View x = l.in(0);
  const DType type = DType::f64;
  const Expr n = x.dims.back();
  l.require_same(n, x.dims[x.rank() - 2]);
  const View a = l.copied(l.computed(type, x.dims, [x](const Exprs& at) { return cast(x.at(at), DType::f64); }));
  const Exprs outer(x.dims.begin(), x.dims.end() - 2);
  const View y = l.fresh(x.type, outer);
  const auto abs = [](const Expr& v) { return Expr::make(Op::abs, DType::f64, {v}); };
  l.loops(outer, [&](const Exprs& batch) {
    const Expr det = l.let(Expr::constant(1, type), true);
    l.loop(n, [&](Expr k) {
      const Expr pivot = l.let(k, true);
      l.loop(n - k, [&](Expr i) {
        const Expr is_larger = less(abs(a.at(with(batch, pivot, k))), abs(a.at(with(batch, k + i, k))));
        l.branch(is_larger, [&] { l.set(pivot, k + i); });
      });
      l.branch(negate(equal(pivot, k)), [&] {
        l.set(det, Expr::make(Op::neg, type, {det}));
        l.loop(n, [&](Expr j) {
          const Expr held = l.let(a.at(with(batch, k, j)));
          l.store(a, with(batch, k, j), a.at(with(batch, pivot, j)));
          l.store(a, with(batch, pivot, j), held);
        });
      });
      const Expr head = l.let(a.at(with(batch, k, k)));
      l.set(det, times(det, head));
      l.branch(negate(Expr::make(Op::equal, DType::boolean, {head, Expr::constant(0, type)})), [&] {
        l.loop(n - k - 1, [&](Expr i) {
          const Expr row = l.let(k + 1 + i);
          const Expr factor = l.let(Expr::make(Op::div, type, {a.at(with(batch, row, k)), head}));
          l.loop(n, [&](Expr j) {
            const Expr less_that = times(factor, a.at(with(batch, k, j)));
            l.store(a, with(batch, row, j), Expr::make(Op::sub, type, {a.at(with(batch, row, j)), less_that}));
          });
        });
      });
    });
    l.store(y, batch, cast(det, x.type));
  });
  l.out(0, y);
}

}  // namespace ingot::lower
