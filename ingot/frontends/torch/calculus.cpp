// Differences, integrals, statistics of rows, and random draws.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "ingot/frontends/torch/call.h"
#include "ingot/frontends/values.h"

namespace ingot::frontends::torch {
namespace {

Value* between(const Call& c, Value* x, std::int64_t axis, std::int64_t begin, std::int64_t end) {
  GraphBuilder& g = c.g();
  return g.op("Slice", {x, g.ints({begin}), g.ints({end}), g.ints({axis})});
}

Value* read(const Call& c, const Item& item) {
  const TensorRef* tensor = item.get<TensorRef>();
  if (!tensor) refuse("an operator inside could not be translated");
  return c.t.read(*tensor);
}

/// A result with a number for each matrix of the first argument that tells of errors: 0.
Item with_success(const Call& c, const Item& made) {
  GraphBuilder& g = c.g();
  Value* shape = g.op("Slice", {g.shape(c.tensor(0)), g.ints({0}), g.ints({-2})});
  return Item::tuple({made, Item(g.op("Expand", {g.constant(Tensor::scalar(std::int32_t{0})), shape}))});
}

Value* zero_like(GraphBuilder& g, const Value* x) { return g.scalar(0, x->type.elem); }

Item sampled_indices(const Call& c, Value* weights, Value* count) {
  // The largest of weight ^ (1 / u) are drawn without putting them back: log(u) / weight, from the top.
  GraphBuilder& g = c.g();
  Value* noise = g.op("RandomUniformLike", {weights}, {{"low", 1e-30}, {"high", 1.0}});
  Value* keys = g.div(g.op("Log", {noise}), weights);
  return g.op("TopK", {keys, g.reshape(count, {1})}, {{"axis", -1}}, 2)[1];
}

}  // namespace

Item diff(const Call& c) {
  GraphBuilder& g = c.g();
  Value* x = c.tensor(0);
  const std::int64_t axis = c.axis(2, x);
  if (c.integer(1) == 0) return x;
  if (c.has(3)) x = g.concat({g.cast(c.tensor(3), x->type.elem), x}, axis);
  if (c.has(4)) x = g.concat({x, g.cast(c.tensor(4), x->type.elem)}, axis);
  for (std::int64_t i = 0; i < std::min<std::int64_t>(c.integer(1), 64); ++i) {
    Value *after = between(c, x, axis, 1, INT64_MAX), *before = between(c, x, axis, 0, -1);
    x = x->type.elem == DType::boolean ? g.op("Xor", {after, before}) : g.sub(after, before);
  }
  return x;
}
/// The areas between neighbours along an axis, which is told too.
std::pair<Value*, std::int64_t> areas_of(const Call& c) {
  GraphBuilder& g = c.g();
  Value* y = c.real_tensor(0);
  const bool has_places = c.is_tensor(1);
  const std::int64_t axis =
      has_places ? c.axis(2, y)
                 : normal_axis(c.row.name == "trapz" && c.arg(1).is_number() ? -1 : c.integer(2), c.rank(y));
  Value* sums = g.add(between(c, y, axis, 1, INT64_MAX), between(c, y, axis, 0, -1));
  if (has_places) {
    Value* x = g.cast(c.tensor(1), y->type.elem);
    const std::int64_t own = c.rank(x) == 1 ? 0 : axis;
    Value* steps = g.sub(between(c, x, own, 1, INT64_MAX), between(c, x, own, 0, -1));
    if (c.rank(x) == 1) {
      Ints shape(static_cast<std::size_t>(c.rank(y)), 1);
      shape[static_cast<std::size_t>(axis)] = -1;
      steps = g.reshape(steps, shape);
    }
    sums = g.mul(sums, steps);
  }
  const double width = has_places ? 1 : c.arg(1).is_number() ? c.real(1) : c.has(3) ? c.real(3) : 1;
  return {g.mul(sums, width / 2), axis};
}
Item trapezoid(const Call& c) {
  const auto [areas, axis] = areas_of(c);
  return c.g().reduce_sum(areas, {axis}, false);
}
Item cumulative_trapezoid(const Call& c) {
  const auto [areas, axis] = areas_of(c);
  return c.g().op("CumSum", {areas, c.g().index(axis)});
}
Item pdist(const Call& c) {
  GraphBuilder& g = c.g();
  Value* x = c.tensor(0);
  const auto rows = dim_of(x, 0);
  if (!rows) refuse("distances between rows whose number is not known");
  Value* all = read(c, c.t.call("cdist", {Item(x), Item(x), c.arg(1), Item()}));
  Ints places;
  for (std::int64_t i = 0; i < *rows; ++i)
    for (std::int64_t j = i + 1; j < *rows; ++j) places.push_back(i * *rows + j);
  return g.op("Gather", {g.reshape(all, {-1}), g.ints(places)});
}
Item cov(const Call& c) {
  GraphBuilder& g = c.g();
  Value* x = c.real_tensor(0);
  const bool is_vector = c.rank(x) < 2 || dim_of(x, 0) == 1;
  if (is_vector) x = g.reshape(x, {1, -1});
  const double correction = static_cast<double>(c.integer(1));
  const auto weights = [&](std::size_t i) { return c.has(i) ? g.cast(c.tensor(i), x->type.elem) : nullptr; };
  Value *often = weights(2), *much = weights(3);
  if (!often && !much) {
    Value* off = g.sub(x, g.op("ReduceMean", {x, g.ints({1})}));
    Value* count = g.sub(g.cast(size_of(g, x, 1), x->type.elem), correction);
    Value* made = g.div(g.op("MatMul", {off, g.transpose(off, {1, 0})}), g.op("Max", {count, zero_like(g, x)}));
    return is_vector ? g.reshape(made, {}) : made;
  }
  Value* weight = often && much ? g.mul(often, much) : often ? often : much;
  Value* total = g.reduce_sum(weight, {0}, false);
  Value* mean = g.div(g.reduce_sum(g.mul(x, weight), {1}, true), total);
  Value* off = g.sub(x, mean);
  Value* taken = much ? g.div(g.reduce_sum(g.mul(weight, much), {0}, false), total) : g.scalar(1, x->type.elem);
  Value* count = g.op("Max", {g.sub(total, g.mul(taken, correction)), zero_like(g, x)});
  Value* made = g.div(g.op("MatMul", {g.mul(off, weight), g.transpose(off, {1, 0})}), count);
  return is_vector ? g.reshape(made, {}) : made;
}
Item corrcoef(const Call& c) {
  GraphBuilder& g = c.g();
  Value* all = read(c, c.t.call("cov", {c.arg(0)}));
  if (rank_of(all) == 0) return g.div(all, all);
  Value* spread = g.op("Sqrt", {read(c, c.t.call("diagonal", {Item(all)}))});
  return g.div(g.div(all, g.unsqueeze(spread, {1})), g.unsqueeze(spread, {0}));
}
Item nanmean(const Call& c) {
  GraphBuilder& g = c.g();
  Value* x = c.tensor(0);
  Value* counts = g.cast(g.op("Not", {g.op("IsNaN", {x})}), x->type.elem);
  const auto summed = [&](Value* v) { return read(c, c.t.call("sum", {Item(v), c.arg(1), c.arg(2)})); };
  return g.div(read(c, c.t.call("nansum", {Item(x), c.arg(1), c.arg(2)})), summed(counts));
}
Item sum_to_size(const Call& c) {
  GraphBuilder& g = c.g();
  Value* x = c.tensor(0);
  const Ints sizes = c.ints(1);
  const std::int64_t lead = c.rank(x) - static_cast<std::int64_t>(sizes.size());
  Ints axes;
  for (std::int64_t i = 0; i < lead; ++i) axes.push_back(i);
  for (std::size_t i = 0; i < sizes.size(); ++i)
    if (sizes[i] == 1) axes.push_back(lead + static_cast<std::int64_t>(i));
  if (sizes.empty()) return c.t.call("sum", {c.arg(0)});
  if (axes.empty()) return x;
  if (!is_float(x->type.elem)) x = g.cast(x, DType::i64);
  return g.reshape(g.reduce_sum(x, axes), sizes);
}
Item ldexp(const Call& c) {
  Value* x = c.real_tensor(0);
  return c.g().mul(x, c.g().op("Pow", {c.g().scalar(2, x->type.elem), c.g().cast(c.tensor(1), x->type.elem)}));
}
Item logaddexp2(const Call& c) {
  const Values x = c.promoted({0, 1});
  GraphBuilder& g = c.g();
  Value* gap = g.neg(g.op("Abs", {g.sub(x[0], x[1])}));
  Value* power = g.op("Exp", {g.mul(gap, std::numbers::ln2)});
  Value* made = g.add(g.op("Max", x), g.mul(g.op("Log", {g.add(power, 1)}), 1 / std::numbers::ln2));
  return g.where(g.op("And", {g.op("IsInf", {x[0]}), g.op("Equal", x)}), x[0], made);
}
Item entr(const Call& c) {
  Value* x = c.real_tensor(0);
  GraphBuilder& g = c.g();
  Value* zero = g.scalar(0, x->type.elem);
  Value* made = g.neg(g.mul(x, g.op("Log", {x})));
  made = g.where(g.op("Equal", {x, zero}), zero, made);
  return g.where(g.op("Less", {x, zero}), g.scalar(-INFINITY, x->type.elem), made);
}
Item xlog1py(const Call& c) { return c.t.call("xlogy", {c.arg(0), c.t.call("add", {c.arg(1), 1})}); }
Item mvlgamma(const Call& c) {
  GraphBuilder& g = c.g();
  Value* x = c.real_tensor(0);
  const std::int64_t p = c.integer(1);
  if (p < 1 || p > 1000) refuse("a gamma function of so many variables");
  Value* made = nullptr;
  for (std::int64_t i = 0; i < p; ++i) {
    Value* one = read(c, c.t.call("lgamma", {Item(g.sub(x, static_cast<double>(i) / 2))}));
    made = made ? g.add(made, one) : one;
  }
  return g.add(made, static_cast<double>(p * (p - 1)) / 4 * std::log(std::numbers::pi));
}
Item vecdot(const Call& c) {
  const Values x = c.promoted({0, 1});
  return c.g().reduce_sum(c.g().mul(x[0], x[1]), {c.integer(2)}, false);
}
Item inverse_ex(const Call& c) { return with_success(c, c.t.call("inverse", {c.arg(0)})); }
Item cholesky_ex(const Call& c) { return with_success(c, c.t.call("cholesky", {c.arg(0), c.arg(1)})); }
Item solve_ex(const Call& c) {
  return with_success(c, c.t.call("linalg_solve", {c.arg(0), c.arg(1), c.arg(2)}));
}
Item multinomial(const Call& c) {
  GraphBuilder& g = c.g();
  Value* x = c.tensor(0);
  if (!c.flag(2)) return sampled_indices(c, x, c.index(1));
  const bool is_single = c.rank(x) == 1;
  if (is_single) x = g.unsqueeze(x, {0});
  Value* made = g.op("Multinomial", {g.op("Log", {x})}, {{"sample_size", c.integer(1)}, {"dtype", DType::i64}});
  return is_single ? g.squeeze(made, {0}) : made;
}
Item randperm(const Call& c) {
  GraphBuilder& g = c.g();
  Value* even = g.op("Expand", {g.scalar(1, DType::f32), g.reshape(c.index(0), {1})});
  return sampled_indices(c, even, c.index(0));
}
Item randint_like(const Call& c) {
  const bool has_low = c.arg(2).is_number();
  const Item low = has_low ? c.arg(1) : Item(0), high = has_low ? c.arg(2) : c.arg(1);
  const Item made = c.t.call("randint", {low, high, c.t.call("size", {c.arg(0)})});
  return c.g().cast(read(c, made), c.dtype(3, c.tensor(0)->type.elem));
}
Item exponential(const Call& c) {
  GraphBuilder& g = c.g();
  Value* noise = g.op("RandomUniformLike", {c.tensor(0)}, {{"low", 1e-30}, {"high", 1.0}});
  return g.div(g.neg(g.op("Log", {noise})), c.real(1));
}
/// Like arange, with its end.
Item range(const Call& c) {
  return c.t.call("arange", {c.arg(0), c.t.call("add", {c.arg(1), c.arg(2)}), c.arg(2)},
                  {{"dtype", c.has(3) ? c.arg(3) : Item(6)}});
}

}  // namespace ingot::frontends::torch
