// Reductions, arguments of extrema, running sums.
#include "ingot/frontends/tensorflow/node.h"

namespace ingot::frontends::tensorflow {
namespace {

/// ONNX reduces 32 and 64 bits only.
DType reducible(DType t) { return is_integer(t) && bits_of(t) < 32 ? DType::i32 : t; }

Value* reduced(const TfNode& n, GraphBuilder& g, ops::Name op, Value* x) {
  const bool keep = n.flag("keep_dims", false);
  Value* axes = as_int64_vector(g, n.input(1));
  return g.op(op, {x, axes}, {{"keepdims", keep}, {"noop_with_empty_axes", 1}});
}

Value* reduced(const TfNode& n, GraphBuilder& g, ops::Name op) {
  const DType t = n.elem(0);
  return g.cast(reduced(n, g, op, g.cast(n.input(0), reducible(t))), t);
}

}  // namespace

Values sum(const TfNode& n, GraphBuilder& g) { return {reduced(n, g, "ReduceSum")}; }
Values prod(const TfNode& n, GraphBuilder& g) { return {reduced(n, g, "ReduceProd")}; }
Values mean(const TfNode& n, GraphBuilder& g) { return {reduced(n, g, "ReduceMean")}; }
Values reduce_max(const TfNode& n, GraphBuilder& g) { return {reduced(n, g, "ReduceMax")}; }
Values reduce_min(const TfNode& n, GraphBuilder& g) { return {reduced(n, g, "ReduceMin")}; }
Values euclidean_norm(const TfNode& n, GraphBuilder& g) { return {reduced(n, g, "ReduceL2")}; }

// By counting, since the extremum of nothing is not defined.
Values any(const TfNode& n, GraphBuilder& g) {
  Value* count = reduced(n, g, "ReduceSum", g.cast(n.input(0), DType::i32));
  return {g.op("Greater", {count, g.scalar(0, DType::i32)})};
}
Values all(const TfNode& n, GraphBuilder& g) {
  Value* is_not = g.op("Not", {n.input(0)});
  Value* count = reduced(n, g, "ReduceSum", g.cast(is_not, DType::i32));
  return {g.op("Equal", {count, g.scalar(0, DType::i32)})};
}

namespace {

Values extremum(const TfNode& n, GraphBuilder& g, ops::Name op) {
  const std::int64_t axis = n.input_count() > 1 ? n.need_int(1) : 0;
  Value* x = n.elem(0) == DType::boolean ? g.cast(n.input(0), DType::i32) : n.input(0);
  Value* index = g.op(op, {x}, {{"axis", axis}, {"keepdims", 0}});
  return {g.cast(index, n.dtype("output_type", DType::i64))};
}

}  // namespace

Values arg_max(const TfNode& n, GraphBuilder& g) { return extremum(n, g, "ArgMax"); }
Values arg_min(const TfNode& n, GraphBuilder& g) { return extremum(n, g, "ArgMin"); }

namespace {

Value* running(const TfNode& n, GraphBuilder& g, ops::Name op, Value* x) {
  const DType t = x->type.elem;
  Value* axis = as_int64(g, n.input(1));
  if (rank_of(axis) != 0) axis = g.op("Squeeze", {axis});
  Value* y = g.op(op, {g.cast(x, reducible(t)), axis},
                  {{"exclusive", n.flag("exclusive", false)}, {"reverse", n.flag("reverse", false)}});
  return g.cast(y, t);
}

}  // namespace

Values cumsum(const TfNode& n, GraphBuilder& g) { return {running(n, g, "CumSum", n.input(0))}; }
Values cumprod(const TfNode& n, GraphBuilder& g) { return {running(n, g, "CumProd", n.input(0))}; }
Values cumulative_logsumexp(const TfNode& n, GraphBuilder& g) {
  const std::int64_t axis = n.need_int(1);
  Value* top = g.op("ReduceMax", {n.input(0), g.ints({axis})}, {{"keepdims", 1}});
  Value* e = g.op("Exp", {g.sub(n.input(0), top)});
  Value* log = g.op("Log", {running(n, g, "CumSum", e)});
  return {g.add(log, top)};
}

Values top_k(const TfNode& n, GraphBuilder& g) {
  Value* k = n.input_count() > 1 ? as_int64_vector(g, n.input(1)) : g.ints({n.integer("k", 1)});
  const Values y = g.op("TopK", {n.input(0), k}, {{"sorted", n.flag("sorted", true)}}, 2);
  return {y[0], g.cast(y[1], n.dtype("index_type", DType::i32))};
}

Values nth_element(const TfNode& n, GraphBuilder& g) {
  Value* at = as_int64_vector(g, n.input(1));
  const bool is_largest = n.flag("reverse", false);
  const Values y = g.op("TopK", {n.input(0), g.add(at, g.ints({1}))}, {{"largest", is_largest}, {"sorted", 1}}, 2);
  Value* picked = g.op("Gather", {y[0], at}, {{"axis", -1}});
  return {g.squeeze(picked, {-1})};
}

Values in_top_k(const TfNode& n, GraphBuilder& g) {
  // In the top k: fewer than k predictions are greater than that of the target.
  Value* targets = g.unsqueeze(as_int64(g, n.input(1)), {1});
  Value* own = g.op("GatherElements", {n.input(0), targets}, {{"axis", 1}});
  Value* greater = g.cast(g.op("Greater", {n.input(0), own}), DType::i64);
  Value* count = g.op("ReduceSum", {greater, g.ints({1})}, {{"keepdims", 0}});
  Value* k = n.input_count() > 2 ? as_int64(g, n.input(2)) : g.index(n.integer("k", 1));
  return {g.op("Less", {count, k})};
}

Values bincount(const TfNode& n, GraphBuilder& g) {
  // Values beyond the size are left out: they go to one more row, which is cut off.
  Value* values = as_int64_vector(g, n.input(0));
  Value* size = as_int64_vector(g, n.input(1));
  const DType t = n.dtype("T", DType::i32);
  Value* rows = g.op("Min", {values, size});
  Value* weights = g.reshape(n.input(2), {-1});
  if (dim_of(weights, 0) == 0)
    weights = g.op("Expand", {g.scalar(1, t), g.shape(values)});
  else if (!dim_of(weights, 0))
    n.unsupported("whether there are weights must be known");
  Value* zeros = g.op("Expand", {g.scalar(0, t), g.add(size, g.ints({1}))});
  Value* counts = g.op("ScatterElements", {zeros, rows, weights}, {{"axis", 0}, {"reduction", "add"}});
  return {g.op("Slice", {counts, g.ints({0}), size})};
}

Values histogram_fixed_width(const TfNode& n, GraphBuilder& g) {
  Value* x = g.reshape(n.input(0), {-1});
  Value* low = g.op("Gather", {n.input(1), g.index(0)});
  Value* high = g.op("Gather", {n.input(1), g.index(1)});
  Value* bins = as_int64(g, n.input(2));
  Value* count = g.cast(bins, n.elem(0));
  Value* step = g.div(g.sub(high, low), count);
  Value* place = g.op("Floor", {g.div(g.sub(x, low), step)});
  Value* last = g.sub(bins, g.index(1));
  Value* row = g.op("Max", {g.cast(place, DType::i64), g.index(0)});
  row = g.op("Min", {row, last});
  const DType t = n.dtype("dtype", DType::i32);
  Value* size = g.unsqueeze(bins, {0});
  Value* zeros = g.op("Expand", {g.scalar(0, t), size});
  Value* ones = g.op("Expand", {g.scalar(1, t), g.shape(row)});
  return {g.op("ScatterElements", {zeros, row, ones}, {{"axis", 0}, {"reduction", "add"}})};
}

}  // namespace ingot::frontends::tensorflow
