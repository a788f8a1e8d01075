// Sums, means, extremes and what is made of them.
#include <algorithm>
#include <cmath>
#include <limits>

#include "ingot/frontends/torch/call.h"
#include "ingot/frontends/values.h"

namespace ingot::frontends::torch {
namespace {

Value* axes_value(const Call& c, const Ints& axes) { return c.g().ints(axes); }

/// Reduces over the axes of argument `dims`, all where it is None; integers are summed as int64.
Value* reduced(const Call& c, ops::Name op, Value* x, std::size_t dims, bool keeps) {
  const auto* parts = c.has(dims) ? parts_of(c.arg(dims)) : nullptr;
  const bool is_all = !c.has(dims) || (parts && parts->empty());
  if (is_all) return c.g().op(op, {x}, {{"keepdims", keeps}});
  if (rank_of(x) == 0) return c.g().op(op, {x}, {{"keepdims", 0}});
  const auto is_scalar = [](const Item& item) { return item.is<Scalar>(); };
  if (is_scalar(c.arg(dims)) || (parts && std::ranges::any_of(*parts, is_scalar)))
    return c.g().op(op, {x, c.index_vector(dims)}, {{"keepdims", keeps}});
  return c.g().op(op, {x, axes_value(c, rank_of(x) ? c.axes(dims, x) : c.ints(dims))}, {{"keepdims", keeps}});
}

Value* summable(const Call& c, Value* x, std::size_t dtype) {
  const DType own = is_integer(x->type.elem) || x->type.elem == DType::boolean ? DType::i64 : x->type.elem;
  return c.g().cast(x, c.dtype(dtype, own));
}

/// How many elements are reduced, in the element type.
Value* count_of(const Call& c, Value* x, std::size_t dims) {
  GraphBuilder& g = c.g();
  const bool is_all = !c.has(dims) || c.ints(dims).empty();
  Value* sizes = is_all ? g.shape(x) : g.op("Gather", {g.shape(x), g.ints(c.axes(dims, x))});
  return g.cast(g.op("ReduceProd", {sizes}, {{"keepdims", 0}}), x->type.elem);
}

struct Moments {
  Value *mean, *variance;
};

/// `correction` is what is taken from the count.
Moments moments(const Call& c, Value* x, std::size_t dims, double correction, bool keeps) {
  GraphBuilder& g = c.g();
  Value* mean = reduced(c, "ReduceMean", x, dims, true);
  Value* off = g.sub(x, mean);
  Value* squares = reduced(c, "ReduceSum", g.mul(off, off), dims, keeps);
  Value* count = count_of(c, x, dims);
  if (correction != 0) count = g.op("Max", {g.sub(count, correction), g.scalar(0, x->type.elem)});
  return {keeps ? mean : reduced(c, "ReduceMean", x, dims, false), g.div(squares, count)};
}

/// var(x, unbiased), var(x, dim, unbiased, keepdim) and var(x, dim, correction=, keepdim=) in one.
Moments moments_of(const Call& c) {
  Value* x = c.real_tensor(0);
  if (c.arg(1).is<bool>()) {
    Call all = c;
    all.args[1] = Item();
    return moments(all, x, 1, c.flag(1) ? 1 : 0, false);
  }
  const double correction = !c.has(2) ? 1 : c.arg(2).is<bool>() ? static_cast<double>(c.flag(2)) : c.real(2);
  return moments(c, x, 1, correction, c.flag(3));
}

Value* extreme(const Call& c, Value* x, bool is_max, std::size_t dims, bool keeps) {
  GraphBuilder& g = c.g();
  const DType elem = x->type.elem;
  if (elem == DType::boolean) x = g.cast(x, DType::i32);
  Value* y = is_max ? reduced(c, "ReduceMax", x, dims, keeps) : reduced(c, "ReduceMin", x, dims, keeps);
  return g.cast(y, elem);
}

Item extreme_of(const Call& c, bool is_max) {
  if (c.is_tensor(1)) return c.t.call(is_max ? "maximum" : "minimum", {c.arg(0), c.arg(1)});
  Value* x = c.tensor(0);
  if (!c.has(1)) return extreme(c, x, is_max, 1, false);
  GraphBuilder& g = c.g();
  const bool keeps = c.flag(2);
  Value* wide = x->type.elem == DType::boolean ? g.cast(x, DType::i32) : x;
  if (rank_of(x) == 0) return Item::tuple({Item(x), Item(g.index(0))});
  const Attrs attrs{{"axis", c.axis(1, x)}, {"keepdims", keeps}};
  Value* places = is_max ? g.op("ArgMax", {wide}, attrs) : g.op("ArgMin", {wide}, attrs);
  return Item::tuple({Item(extreme(c, x, is_max, 1, keeps)), Item(places)});
}

Item place_of_extreme(const Call& c, bool is_max) {
  GraphBuilder& g = c.g();
  Value* x = c.tensor(0);
  const auto at = [&](Value* v, std::int64_t axis, bool keeps) {
    const Attrs attrs{{"axis", axis}, {"keepdims", keeps}};
    return is_max ? g.op("ArgMax", {v}, attrs) : g.op("ArgMin", {v}, attrs);
  };
  if (x->type.elem == DType::boolean) x = g.cast(x, DType::i32);
  if (c.has(1)) return at(x, c.axis(1, x), c.flag(2));
  Value* flat = at(g.reshape(x, {-1}), 0, false);
  if (!c.flag(2)) return flat;
  return g.reshape(flat, Ints(static_cast<std::size_t>(c.rank(x)), 1));
}

/// The p-norm over the axes of argument `dims`.
Value* p_norm(const Call& c, Value* x, double p, std::size_t dims, bool keeps) {
  GraphBuilder& g = c.g();
  if (p == 2) return reduced(c, "ReduceL2", x, dims, keeps);
  if (p == 1) return reduced(c, "ReduceL1", x, dims, keeps);
  Value* sizes = g.op("Abs", {x});
  if (std::isinf(p))
    return p > 0 ? reduced(c, "ReduceMax", sizes, dims, keeps) : reduced(c, "ReduceMin", sizes, dims, keeps);
  if (p == 0) {
    Value* counted = g.cast(g.op("Not", {g.op("Equal", {x, g.scalar(0, x->type.elem)})}), x->type.elem);
    return reduced(c, "ReduceSum", counted, dims, keeps);
  }
  Value* powers = reduced(c, "ReduceSum", g.op("Pow", {sizes, g.scalar(p, x->type.elem)}), dims, keeps);
  return g.op("Pow", {powers, g.scalar(1 / p, x->type.elem)});
}

double order_of(const Call& c, std::size_t i) {
  if (!c.has(i)) return 2;
  if (const auto* text = c.arg(i).get<std::string>()) {
    if (*text == "fro") return 2;
    refuse("the norm '" + *text + "'");
  }
  return c.real(i);
}

/// The largest or smallest sum of a matrix's columns (order 1) or rows (infinity).
Item by_lines(const Call& c, Value* x, double order) {
  if (std::abs(order) != 1 && !std::isinf(order)) refuse("norms of matrices by their singular values");
  GraphBuilder& g = c.g();
  const std::int64_t rank = c.rank(x);
  const Ints axes = c.has(2) ? c.ints(2) : Ints{-2, -1};
  const std::int64_t rows = normal_axis(axes.at(0), rank), columns = normal_axis(axes.at(1), rank);
  const bool is_one = std::abs(order) == 1;
  Value* sums = g.op("ReduceSum", {g.op("Abs", {x}), g.ints({is_one ? rows : columns})}, {{"keepdims", 1}});
  Value* other = g.ints({is_one ? columns : rows});
  Value* found = order > 0 ? g.op("ReduceMax", {sums, other}) : g.op("ReduceMin", {sums, other});
  return c.flag(3) ? found : g.op("Squeeze", {found, g.ints({rows, columns})});
}

}  // namespace

Item sum(const Call& c) {
  Value* x = summable(c, c.tensor(0), 3);
  return reduced(c, "ReduceSum", x, 1, c.flag(2));
}
Item nansum(const Call& c) {
  Value* x = summable(c, c.tensor(0), 3);
  if (is_float(x->type.elem)) x = c.g().where(c.g().op("IsNaN", {x}), c.g().scalar(0, x->type.elem), x);
  return reduced(c, "ReduceSum", x, 1, c.flag(2));
}
Item mean(const Call& c) {
  Value* x = c.tensor(0);
  x = c.g().cast(x, c.dtype(3, x->type.elem));
  return reduced(c, "ReduceMean", x, 1, c.flag(2));
}
Item prod(const Call& c) {
  Value* x = summable(c, c.tensor(0), 3);
  return reduced(c, "ReduceProd", x, 1, c.flag(2));
}
Item amax(const Call& c) { return extreme(c, c.tensor(0), true, 1, c.flag(2)); }
Item amin(const Call& c) { return extreme(c, c.tensor(0), false, 1, c.flag(2)); }
Item aminmax(const Call& c) {
  return Item::tuple(
      {Item(extreme(c, c.tensor(0), false, 1, c.flag(2))), Item(extreme(c, c.tensor(0), true, 1, c.flag(2)))});
}
Item max(const Call& c) { return extreme_of(c, true); }
Item min(const Call& c) { return extreme_of(c, false); }
Item argmax(const Call& c) { return is_single(c) ? on_single(c, argmax) : place_of_extreme(c, true); }
Item argmin(const Call& c) { return is_single(c) ? on_single(c, argmin) : place_of_extreme(c, false); }
Item any(const Call& c) {
  Value* x = c.g().cast(c.g().cast(c.tensor(0), DType::boolean), DType::i32);
  return c.g().cast(reduced(c, "ReduceMax", x, 1, c.flag(2)), DType::boolean);
}
Item all(const Call& c) {
  Value* x = c.g().cast(c.g().cast(c.tensor(0), DType::boolean), DType::i32);
  return c.g().cast(reduced(c, "ReduceMin", x, 1, c.flag(2)), DType::boolean);
}
Item count_nonzero(const Call& c) {
  Value* x = c.g().cast(c.g().cast(c.tensor(0), DType::boolean), DType::i64);
  return reduced(c, "ReduceSum", x, 1, false);
}
Item var(const Call& c) { return moments_of(c).variance; }
Item std_deviation(const Call& c) { return c.g().op("Sqrt", {moments_of(c).variance}); }
Item var_mean(const Call& c) {
  const Moments m = moments_of(c);
  return Item::tensors({m.variance, m.mean});
}
Item std_mean(const Call& c) {
  const Moments m = moments_of(c);
  return Item::tensors({c.g().op("Sqrt", {m.variance}), m.mean});
}
Item logsumexp(const Call& c) {
  Value* x = c.real_tensor(0);
  return reduced(c, "ReduceLogSumExp", x, 1, c.flag(2));
}
Item norm(const Call& c) { return p_norm(c, c.real_tensor(0), order_of(c, 1), 2, c.flag(3)); }
Item linalg_norm(const Call& c) {
  Value* x = c.real_tensor(0);
  if (!c.has(1) || (c.has(2) && c.ints(2).size() != 2)) return p_norm(c, x, order_of(c, 1), 2, c.flag(3));
  const bool is_matrix = c.has(2) || c.rank(x) == 2 || c.row.name == "linalg_matrix_norm";
  if (!is_matrix || c.arg(1).is<std::string>()) return p_norm(c, x, order_of(c, 1), 2, c.flag(3));
  return by_lines(c, x, c.real(1));
}
Item frobenius_norm(const Call& c) { return p_norm(c, c.real_tensor(0), 2, 1, c.flag(2)); }
Item dist(const Call& c) {
  const Values x = c.promoted({0, 1});
  return p_norm(Call{c.t, c.row, {}}, c.g().sub(x[0], x[1]), c.real(2), 0, false);
}
Item cumsum(const Call& c) {
  Value* x = summable(c, c.tensor(0), 2);
  if (rank_of(x) == 0) return x;
  return c.g().op("CumSum", {x, c.axis_value(1, x)});
}
Item cumprod(const Call& c) {
  Value* x = summable(c, c.tensor(0), 2);
  if (rank_of(x) == 0) return x;
  return c.g().op("CumProd", {x, c.axis_value(1, x)});
}
Item logcumsumexp(const Call& c) {
  if (is_single(c)) return on_single(c, logcumsumexp);
  Value* x = c.real_tensor(0);
  GraphBuilder& g = c.g();
  Value* high = reduced(c, "ReduceMax", x, 1, true);
  Value* sums = g.op("CumSum", {g.op("Exp", {g.sub(x, high)}), g.index(c.axis(1, x))});
  return g.add(g.op("Log", {sums}), high);
}
Item median(const Call& c) {
  GraphBuilder& g = c.g();
  Value* x = c.tensor(0);
  if (!c.has(1)) x = g.reshape(x, {-1});
  const std::int64_t axis = c.has(1) ? c.axis(1, x) : 0;
  Value* size = g.op("Gather", {g.shape(x), g.ints({axis})});
  Values sorted = g.op("TopK", {x, size}, {{"axis", axis}, {"largest", 0}}, 2);
  Value* middle = g.div(g.sub(size, g.index(1)), g.index(2));  // the lower one of two
  Values made;
  for (Value* v : sorted) {
    Value* at = g.op("Gather", {v, middle}, {{"axis", axis}});
    made.push_back(c.has(1) && c.flag(2) ? at : g.squeeze(at, {axis}));
  }
  return c.has(1) ? Item::tensors(made) : Item(made[0]);
}

}  // namespace ingot::frontends::torch
