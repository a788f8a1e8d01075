// Products of matrices, and what is made of them.
#include "ingot/frontends/numeric/matrices.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "ingot/frontends/numeric/elimination.h"
#include "ingot/frontends/numeric/factors.h"
#include "ingot/frontends/torch/call.h"
#include "ingot/frontends/values.h"

namespace ingot::frontends::torch {
namespace {

bool is_one(const Call& c, std::size_t i) { return !c.has(i) || (c.arg(i).is_number() && c.real(i) == 1); }

/// beta * argument 0 + alpha * product.
Item added(const Call& c, Value* product, std::size_t beta, std::size_t alpha) {
  GraphBuilder& g = c.g();
  if (!is_one(c, alpha)) product = g.mul(product, c.real(alpha));
  if (c.has(beta) && c.real(beta) == 0) return product;
  Value* x = g.cast(c.tensor(0), product->type.elem);
  if (!is_one(c, beta)) x = g.mul(x, c.real(beta));
  return g.add(x, product);
}

Values pair(const Call& c, std::size_t a = 0, std::size_t b = 1) {
  const DType elem = promoted_types(c.tensor(a)->type.elem, c.tensor(b)->type.elem);
  return {c.g().cast(c.tensor(a), elem), c.g().cast(c.tensor(b), elem)};
}

Value* last_exchanged(const Call& c, Value* x) {
  Ints perm(static_cast<std::size_t>(c.rank(x)));
  std::iota(perm.begin(), perm.end(), 0);
  std::swap(perm[perm.size() - 1], perm[perm.size() - 2]);
  return c.g().transpose(x, perm);
}

template <class Compute> Value* in_f64(const Call& c, Value* x, Compute&& compute) {
  return c.g().cast(compute(c.g().cast(x, DType::f64)), x->type.elem);
}

}  // namespace

Item matmul(const Call& c) { return c.g().op("MatMul", pair(c)); }
Item linear(const Call& c) {
  GraphBuilder& g = c.g();
  Value* x = c.tensor(0);
  Value* w = c.tensor(1);
  if (!rank_of(x)) {
    Shape shape(2);
    shape[1] = dim_of(w, 1) ? Dim(*dim_of(w, 1)) : Dim();
    c.t.demand_shape(x, shape, true);
  }
  if (rank_of(x) == 2 && rank_of(w) == 2) {
    Values inputs{x, w};
    if (c.has(2)) inputs.push_back(c.tensor(2));
    return g.op("Gemm", inputs, {{"transB", 1}});
  }
  Value* y = g.op("MatMul", {x, rank_of(w) == 1 ? w : g.transpose(w, {1, 0})});
  return c.has(2) ? Item(g.add(y, c.tensor(2))) : Item(y);
}
Item addmm(const Call& c) {
  GraphBuilder& g = c.g();
  if (!is_float(c.tensor(1)->type.elem)) return added(c, g.op("MatMul", pair(c, 1, 2)), 3, 4);
  return g.op("Gemm", {c.tensor(1), c.tensor(2), c.tensor(0)}, {{"alpha", c.real(4)}, {"beta", c.real(3)}});
}
Item addmv(const Call& c) { return added(c, c.g().op("MatMul", pair(c, 1, 2)), 3, 4); }
Item addbmm(const Call& c) { return added(c, c.g().reduce_sum(c.g().op("MatMul", pair(c, 1, 2)), {0}, false), 3, 4); }
Item addr(const Call& c) {
  GraphBuilder& g = c.g();
  return added(c, g.mul(g.unsqueeze(c.tensor(1), {1}), g.unsqueeze(c.tensor(2), {0})), 3, 4);
}
Item outer(const Call& c) {
  const Values x = c.promoted({0, 1});
  return c.t.call("mul", {Item(c.g().unsqueeze(x[0], {1})), Item(c.g().unsqueeze(x[1], {0}))});
}
Item einsum(const Call& c) {
  std::string equation = c.text(0);
  std::erase(equation, ' ');
  return c.g().op("Einsum", c.tensors(1), {{"equation", equation}});
}
Item bilinear(const Call& c) {
  Value* y = c.g().op("Einsum", {c.tensor(0), c.tensor(2), c.tensor(1)}, {{"equation", "...i,kij,...j->...k"}});
  return c.has(3) ? Item(c.g().add(y, c.tensor(3))) : Item(y);
}
Item tensordot(const Call& c) {
  Value* a = c.tensor(0);
  Value* b = c.tensor(1);
  const Ints of_a = c.axes(2, a), of_b = c.axes(3, b);
  std::string left, right, out;
  char next = 'a';
  for (std::int64_t i = 0; i < c.rank(a); ++i) left += next++;
  for (std::int64_t i = 0; i < c.rank(b); ++i) {
    const auto at = std::ranges::find(of_b, i);
    right += at == of_b.end() ? next++
                              : left[static_cast<std::size_t>(of_a.at(static_cast<std::size_t>(at - of_b.begin())))];
  }
  for (const char l : left)
    if (right.find(l) == std::string::npos) out += l;
  for (const char r : right)
    if (left.find(r) == std::string::npos) out += r;
  return c.g().op("Einsum", {a, b}, {{"equation", left + "," + right + "->" + out}});
}
Item inner(const Call& c) {
  if (c.rank(c.tensor(0)) == 0 || c.rank(c.tensor(1)) == 0) return c.t.call("mul", {c.arg(0), c.arg(1)});
  return c.t.call("tensordot", {c.arg(0), c.arg(1), Item::integers({-1}), Item::integers({-1})});
}
Item cross(const Call& c) {
  GraphBuilder& g = c.g();
  const Values x = c.promoted({0, 1});
  std::int64_t axis = c.has(2) ? c.axis(2, x[0]) : -1;
  for (std::int64_t i = 0; axis < 0 && i < c.rank(x[0]); ++i)
    if (dim_of(x[0], i) == 3) axis = i;
  if (axis < 0) refuse("no axis has size 3");
  const auto turned = [&](Value* v, Ints order) { return g.op("Gather", {v, g.ints(order)}, {{"axis", axis}}); };
  return g.sub(g.mul(turned(x[0], {1, 2, 0}), turned(x[1], {2, 0, 1})),
               g.mul(turned(x[0], {2, 0, 1}), turned(x[1], {1, 2, 0})));
}
Item trace(const Call& c) { return c.t.call("sum", {c.t.call("diagonal", {c.arg(0)})}); }
Item kron(const Call& c) {
  GraphBuilder& g = c.g();
  const Values x = c.promoted({0, 1});
  const std::int64_t rank = c.rank(x[0]);
  if (rank != c.rank(x[1])) refuse("a Kronecker product of tensors of different rank");
  Ints of_a, of_b;
  for (std::int64_t i = 0; i < rank; ++i) {
    of_a.push_back(2 * i + 1);
    of_b.push_back(2 * i);
  }
  const Item product = c.t.call("mul", {Item(g.unsqueeze(x[0], of_a)), Item(g.unsqueeze(x[1], of_b))});
  return g.op("Reshape", {c.t.read(*product.get<TensorRef>()), g.mul(g.shape(x[0]), g.shape(x[1]))});
}
Item det(const Call& c) { return c.g().op("Det", {c.tensor(0)}); }
Item inverse(const Call& c) {
  return in_f64(c, c.tensor(0), [&](Value* x) { return numeric::solve(c.g(), x, numeric::unit_like(c.g(), x)); });
}
Item linalg_solve(const Call& c) {
  if (c.has(2) && !c.flag(2)) {  // x A = b: the same of both turned
    const Item made = c.t.call("linalg_solve", {Item(last_exchanged(c, c.tensor(0))), Item(last_exchanged(c, c.tensor(1)))});
    return last_exchanged(c, c.t.read(*made.get<TensorRef>()));
  }
  Value* right = c.tensor(1);
  const bool is_vector = c.rank(right) == c.rank(c.tensor(0)) - 1;
  GraphBuilder& g = c.g();
  Value* columns = is_vector ? g.unsqueeze(right, {-1}) : right;
  Value* x = in_f64(c, c.tensor(0), [&](Value* m) { return numeric::solve(g, m, g.cast(columns, DType::f64)); });
  return is_vector ? g.squeeze(x, {-1}) : x;
}
Item slogdet(const Call& c) {
  GraphBuilder& g = c.g();
  Value* x = c.tensor(0);
  const numeric::LogDeterminant made = numeric::log_determinant(g, g.cast(x, DType::f64));
  return Item::tensors(
      {g.cast(g.squeeze(made.sign, {-2, -1}), x->type.elem), g.cast(g.squeeze(made.log, {-2, -1}), x->type.elem)});
}
Item logdet(const Call& c) {
  GraphBuilder& g = c.g();
  return g.op("Log", {g.op("Det", {c.tensor(0)})});
}
Item cholesky(const Call& c) {
  Value* low = in_f64(c, c.tensor(0), [&](Value* x) { return numeric::cholesky(c.g(), x); });
  return c.flag(1) ? last_exchanged(c, low) : low;
}
Item matrix_power(const Call& c) {
  std::int64_t n = c.integer(1);
  GraphBuilder& g = c.g();
  Value* x = c.tensor(0);
  if (n < 0) {
    const Item inverted = inverse(c);
    x = c.t.read(*inverted.get<TensorRef>());
    n = -n;
  }
  Value* made = nullptr;
  for (; n > 0; n >>= 1) {
    if (n & 1) made = made ? g.op("MatMul", {made, x}) : x;
    if (n > 1) x = g.op("MatMul", {x, x});
  }
  return made ? made : numeric::unit_like(g, c.tensor(0));
}
Item multi_dot(const Call& c) {
  Value* made = nullptr;
  for (Value* x : c.tensors(0)) made = made ? c.g().op("MatMul", {made, x}) : x;
  return made;
}
Item cosine_similarity(const Call& c) {
  if (is_single(c)) return on_single(c, cosine_similarity, {0, 1});
  GraphBuilder& g = c.g();
  Values x = c.promoted({0, 1});
  for (Value*& v : x)
    if (!is_float(v->type.elem)) v = g.cast(v, DType::f32);
  const Ints axes{c.integer(2)};
  if (x[0]->type.shape != x[1]->type.shape) {  // the axis is one of their common shape
    Value* of_first = g.shape(x[0]);
    x[0] = g.op("Expand", {x[0], g.shape(x[1])});
    x[1] = g.op("Expand", {x[1], of_first});
  }
  const auto length = [&](Value* v) {
    Value* l = g.op("ReduceL2", {v, g.ints(axes)}, {{"keepdims", 1}});
    return g.op("Max", {l, g.scalar(c.real(3), v->type.elem)});
  };
  return g.reduce_sum(g.mul(g.div(x[0], length(x[0])), g.div(x[1], length(x[1]))), axes, false);
}
Item pairwise_distance(const Call& c) {
  const Values x = c.promoted({0, 1});
  Value* off = c.g().add(c.g().sub(x[0], x[1]), c.real(3));
  return c.t.call("norm", {Item(off), c.arg(2), Item::integers({-1}), c.arg(4)});
}
Item cdist(const Call& c) {
  GraphBuilder& g = c.g();
  Value* off = g.sub(g.unsqueeze(c.tensor(0), {-2}), g.unsqueeze(c.tensor(1), {-3}));
  return c.t.call("norm", {Item(off), c.arg(2), Item::integers({-1}), false});
}
Item attention(const Call& c) {
  GraphBuilder& g = c.g();
  Value* q = c.tensor(0);
  Value* k = c.tensor(1);
  Value* v = c.tensor(2);
  if (c.has(4) && c.real(4) != 0) refuse("attention with dropout");
  if (c.flag(7)) {  // fewer heads of keys and values: each serves several queries
    const auto heads = dim_of(q, -3), shared = dim_of(k, -3);
    if (!heads || !shared || *shared == 0) refuse("the numbers of an attention's heads are not known");
    const auto spread = [&](std::size_t i) {
      const Item made = c.t.call("repeat_interleave", {c.arg(i), *heads / *shared, -3});
      return Call{c.t, c.row, {made}}.tensor(0);
    };
    k = spread(1);
    v = spread(2);
  }
  Value* scores = g.op("MatMul", {q, last_exchanged(c, k)});
  if (c.has(6)) {
    scores = g.mul(scores, c.real(6));
  } else if (const auto width = dim_of(q, -1)) {
    scores = g.div(scores, std::sqrt(static_cast<double>(*width)));
  } else {
    Value* size = size_of(g, q, c.rank(q) - 1);
    scores = g.div(scores, g.op("Sqrt", {g.cast(size, q->type.elem)}));
  }
  Value* low = g.scalar(-INFINITY, q->type.elem);
  if (c.flag(5)) {
    Value* ones = g.op("Expand", {g.constant(Tensor::scalar(std::int64_t{1})), g.shape(scores)});
    scores = g.where(g.cast(g.op("Trilu", {ones}, {{"upper", 0}}), DType::boolean), scores, low);
  }
  if (Value* mask = c.optional_tensor(3))
    scores = mask->type.elem == DType::boolean ? g.where(mask, scores, low) : g.add(scores, mask);
  return g.op("MatMul", {g.op("Softmax", {scores}, {{"axis", -1}}), v});
}

}  // namespace ingot::frontends::torch
