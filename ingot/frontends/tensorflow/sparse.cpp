// Sparse tensors: indices [n, rank], values [n], the dense shape [rank].
#include <limits>

#include "ingot/frontends/repeat.h"
#include "ingot/frontends/tensorflow/node.h"

namespace ingot::frontends::tensorflow {
namespace {

struct Sparse {
  Value *indices, *values, *shape;
};

Sparse sparse_of(const TfNode& n, GraphBuilder& g, std::size_t i) {
  Value* indices = as_int64(g, n.input(i));
  return {indices, n.input(i + 1), as_int64_vector(g, n.input(i + 2))};
}

/// What an index of an axis counts in the flattened tensor.
Value* strides_of(GraphBuilder& g, Value* shape) {
  return g.op("CumProd", {shape, g.index(0)}, {{"exclusive", 1}, {"reverse", 1}});
}

/// The place of each entry in the flattened tensor.
Value* flat_places(GraphBuilder& g, Value* indices, Value* shape) {
  return g.reduce_sum(g.mul(indices, strides_of(g, shape)), {1}, false);
}

/// [n] -> [n, rank].
Value* unflattened(GraphBuilder& g, Value* places, Value* shape) {
  Value* column = g.unsqueeze(places, {1});
  return g.op("Mod", {g.div(column, strides_of(g, shape)), shape});
}

/// Which order sorts the places.
Value* order_of(GraphBuilder& g, Value* places) {
  return g.op("TopK", {places, g.shape(places)}, {{"axis", 0}, {"largest", 0}}, 2)[1];
}

Sparse reordered(GraphBuilder& g, const Sparse& s) {
  Value* order = order_of(g, flat_places(g, s.indices, s.shape));
  Value* indices = g.op("Gather", {s.indices, order}, {{"axis", 0}});
  return {indices, g.op("Gather", {s.values, order}, {{"axis", 0}}), s.shape};
}

Value* dense(GraphBuilder& g, const Sparse& s) {
  Value* zeros = g.op("Expand", {g.scalar(0, s.values->type.elem), s.shape});
  return g.op("ScatterND", {zeros, s.indices, s.values}, {{"reduction", "add"}});
}

/// Single elements: always a list, also where the rank of the tensor is not known.
Value* entries_of(GraphBuilder& g, Value* tensor, Value* indices) {
  return g.reshape(g.op("GatherND", {tensor, indices}), {-1});
}

/// The dense tensor, broadcast to the sparse one's shape, where the entries are.
Value* dense_entries(GraphBuilder& g, const Sparse& s, Value* other) {
  return entries_of(g, g.op("Expand", {other, s.shape}), s.indices);
}

}  // namespace

Values sparse_reorder(const TfNode& n, GraphBuilder& g) {
  const Sparse s = reordered(g, sparse_of(n, g, 0));
  return {s.indices, s.values};
}

Values sparse_reshape(const TfNode& n, GraphBuilder& g) {
  // indices, old shape, new shape with at most one -1
  Value* old_shape = as_int64_vector(g, n.input(1));
  Value* wanted = as_int64_vector(g, n.input(2));
  Value* is_open = g.op("Less", {wanted, g.index(0)});
  Value* known = g.op("ReduceProd", {g.where(is_open, g.index(1), wanted)}, {{"keepdims", 0}});
  Value* all = g.op("ReduceProd", {old_shape}, {{"keepdims", 0}});
  Value* shape = g.where(is_open, g.div(all, g.op("Max", {known, g.index(1)})), wanted);
  Value* places = flat_places(g, as_int64(g, n.input(0)), old_shape);
  return {unflattened(g, places, shape), shape};
}

Values sparse_concat(const TfNode& n, GraphBuilder& g) {
  // All indices, then all values, then all shapes; the result in the order of its places.
  const auto count = static_cast<std::size_t>(n.integer("N", static_cast<std::int64_t>(n.input_count() / 3)));
  if (count < 1 || 3 * count != n.input_count()) n.unsupported("the number of tensors");
  std::int64_t axis = n.integer("concat_dim", 0);
  const auto rank = dim_of(n.input(2 * count), 0);
  if (!rank) n.unsupported("the rank must be known");
  if (axis < 0) axis += *rank;
  if (axis < 0 || axis >= *rank) n.unsupported("the axis is out of range");
  std::vector<std::int64_t> mask(static_cast<std::size_t>(*rank), 0);
  mask[static_cast<std::size_t>(axis)] = 1;
  Value* along = g.ints(mask);
  Values indices, values;
  Value* offset = nullptr;  // the sizes so far along the axis, zeros elsewhere
  for (std::size_t i = 0; i < count; ++i) {
    Value* own = as_int64(g, n.input(i));
    indices.push_back(offset ? g.add(own, offset) : own);
    values.push_back(n.input(count + i));
    Value* size = g.mul(as_int64_vector(g, n.input(2 * count + i)), along);
    offset = offset ? g.add(offset, size) : size;
  }
  Value* first = as_int64_vector(g, n.input(2 * count));
  Value* others = g.mul(first, g.sub(g.ints(std::vector<std::int64_t>(mask.size(), 1)), along));
  Value* all = indices.size() == 1 ? indices[0] : g.concat(indices, 0);
  Value* all_values = values.size() == 1 ? values[0] : g.concat(values, 0);
  const Sparse s = reordered(g, {all, all_values, g.add(others, offset)});
  return {s.indices, s.values, s.shape};
}

Values sparse_slice(const TfNode& n, GraphBuilder& g) {
  // indices, values, shape, start, size
  const Sparse s = sparse_of(n, g, 0);
  Value* start = as_int64_vector(g, n.input(3));
  Value* size = as_int64_vector(g, n.input(4));
  Value* moved = g.sub(s.indices, start);
  Value* is_past = g.op("GreaterOrEqual", {moved, g.index(0)});
  Value* is_in = g.op("And", {is_past, g.op("Less", {moved, size})});
  Value* outs = g.reduce_sum(g.cast(g.op("Not", {is_in}), DType::i32), {1}, false);
  Value* stays = g.op("Equal", {outs, g.scalar(0, DType::i32)});
  Value* rest = g.op("Max", {g.op("Min", {size, g.sub(s.shape, start)}), g.index(0)});
  Value* indices = g.op("Compress", {moved, stays}, {{"axis", 0}});
  return {indices, g.op("Compress", {s.values, stays}, {{"axis", 0}}), rest};
}

Values sparse_fill_empty_rows(const TfNode& n, GraphBuilder& g) {
  // Rows of the first axis without an entry get one of the default at column 0.
  const Sparse s = sparse_of(n, g, 0);
  const auto rank = dim_of(n.input(2), 0);
  if (!rank || *rank < 1) n.unsupported("the rank must be known");
  Value* rows = g.op("Slice", {s.shape, g.ints({0}), g.ints({1})});
  Value* own = g.op("Gather", {s.indices, g.index(0)}, {{"axis", 1}});
  Value* zeros = g.op("Expand", {g.index(0), rows});
  Value* ones = g.op("Expand", {g.index(1), g.shape(own)});
  Value* counts = g.op("ScatterElements", {zeros, own, ones}, {{"axis", 0}, {"reduction", "add"}});
  Value* is_empty = g.op("Equal", {counts, g.index(0)});
  Value* added = g.transpose(g.op("NonZero", {is_empty}), {1, 0});  // [m, 1]
  Value* columns = g.op("Pad", {added, g.ints({0, 0, 0, *rank - 1})});
  Value* indices = g.concat({s.indices, columns}, 0);
  Value* size = g.op("Slice", {g.shape(added), g.ints({0}), g.ints({1})});
  Value* values = g.concat({s.values, g.op("Expand", {n.input(3), size})}, 0);
  // In the order of the rows, entries of a row as they were: keys row * count + number.
  Value* row = g.op("Gather", {indices, g.index(0)}, {{"axis", 1}});
  Value* count = size_of(g, row, 0);
  Value* keys = g.add(g.mul(row, count), counted(g, count));
  Value* order = order_of(g, keys);
  Value* sorted = g.op("Gather", {indices, order}, {{"axis", 0}});
  Value* sorted_values = g.op("Gather", {values, order}, {{"axis", 0}});
  Value* places = g.op("ScatterElements", {order, order, counted(g, count)}, {{"axis", 0}});
  Value* reverse = g.op("Slice", {places, g.ints({0}), g.shape(own)});
  return {sorted, sorted_values, is_empty, reverse};
}

namespace {

Values sparse_reduced(const TfNode& n, GraphBuilder& g, bool is_max) {
  // indices, values, shape, axes. Places without entries are zero.
  const Sparse s = sparse_of(n, g, 0);
  Value* axes = as_int64_vector(g, n.input(3));
  const bool keeps = n.flag("keep_dims", false);
  if (!is_max) return {g.op("ReduceSum", {dense(g, s), axes}, {{"keepdims", keeps}})};
  const DType t = n.elem(1);
  if (!is_float(t)) n.unsupported("the greatest of integers");
  const double lowest = t == DType::f16 ? -65504 : std::numeric_limits<float>::lowest();
  Value* low = g.op("Expand", {g.scalar(lowest, t), s.shape});
  Value* wide = g.op("ScatterND", {low, s.indices, s.values}, {{"reduction", "max"}});
  Value* y = g.op("ReduceMax", {wide, axes}, {{"keepdims", keeps}});
  Value* is_nothing = g.op("Equal", {y, g.scalar(lowest, t)});
  return {g.where(is_nothing, g.scalar(0, t), y)};
}

}  // namespace

Values sparse_reduce_sum(const TfNode& n, GraphBuilder& g) { return sparse_reduced(n, g, false); }
Values sparse_reduce_max(const TfNode& n, GraphBuilder& g) { return sparse_reduced(n, g, true); }

Values sparse_dense_cwise_add(const TfNode& n, GraphBuilder& g) {
  const Sparse s = sparse_of(n, g, 0);
  return {g.add(s.values, dense_entries(g, s, n.input(3)))};
}
Values sparse_dense_cwise_mul(const TfNode& n, GraphBuilder& g) {
  const Sparse s = sparse_of(n, g, 0);
  return {g.mul(s.values, dense_entries(g, s, n.input(3)))};
}
Values sparse_dense_cwise_div(const TfNode& n, GraphBuilder& g) {
  const Sparse s = sparse_of(n, g, 0);
  return {g.div(s.values, dense_entries(g, s, n.input(3)))};
}

Values sparse_softmax(const TfNode& n, GraphBuilder& g) {
  // Over the entries of each row of the last axis; those that are not there do not count.
  const Sparse s = sparse_of(n, g, 0);
  const DType t = n.elem(1);
  const double lowest = t == DType::f64 ? std::numeric_limits<double>::lowest() : std::numeric_limits<float>::lowest();
  Value* low = g.op("Expand", {g.scalar(lowest, t), s.shape});
  Value* wide = g.op("ScatterND", {low, s.indices, s.values});
  return {entries_of(g, g.op("Softmax", {wide}, {{"axis", -1}}), s.indices)};
}

Values sparse_add(const TfNode& n, GraphBuilder& g) {
  // a's three, b's three, thresh: entries whose sum is below it leave.
  const Sparse a = sparse_of(n, g, 0), b = sparse_of(n, g, 3);
  Value* all = g.concat({flat_places(g, a.indices, a.shape), flat_places(g, b.indices, b.shape)}, 0);
  Value* values = g.concat({a.values, b.values}, 0);
  const Values unique = g.op("Unique", {all}, {{"sorted", 1}}, 4);
  Value* zeros = g.op("Expand", {g.scalar(0, n.elem(1)), g.shape(unique[0])});
  Value* sums = g.op("ScatterElements", {zeros, unique[2], values}, {{"axis", 0}, {"reduction", "add"}});
  Value* size = g.op("Abs", {sums});
  Value* stays = g.op("GreaterOrEqual", {size, g.cast(n.input(6), n.elem(1))});
  Value* places = g.op("Compress", {unique[0], stays}, {{"axis", 0}});
  Value* indices = unflattened(g, places, a.shape);
  return {indices, g.op("Compress", {sums, stays}, {{"axis", 0}}), a.shape};
}

namespace {

/// Entry by entry, an absent one being zero.
Values sparse_extremum(const TfNode& n, GraphBuilder& g, ops::Name op) {
  const Sparse a = sparse_of(n, g, 0), b = sparse_of(n, g, 3);
  Value* all = g.concat({flat_places(g, a.indices, a.shape), flat_places(g, b.indices, b.shape)}, 0);
  Value* places = g.op("Unique", {all}, {{"sorted", 1}}, 1)[0];
  Value* indices = unflattened(g, places, a.shape);
  Value* first = entries_of(g, dense(g, a), indices);
  return {indices, g.op(op, {first, entries_of(g, dense(g, b), indices)})};
}

}  // namespace

Values sparse_sparse_maximum(const TfNode& n, GraphBuilder& g) { return sparse_extremum(n, g, "Max"); }
Values sparse_sparse_minimum(const TfNode& n, GraphBuilder& g) { return sparse_extremum(n, g, "Min"); }

Values dense_bincount(const TfNode& n, GraphBuilder& g) {
  // input [n] or [rows, n], size, weights (maybe none); values beyond the size are left out.
  const std::int64_t rank = n.rank(0);
  if (rank < 1 || rank > 2) n.unsupported("an input of rank " + std::to_string(rank));
  const DType t = n.dtype("T", DType::i32);
  Value* at = as_int64(g, n.input(0));
  Value* size = as_int64_vector(g, n.input(1));
  Value* place = g.op("Min", {at, size});
  const bool is_binary = n.flag("binary_output", false);
  Value* weights = n.input(2);
  if (is_binary || dim_of(weights, 0) == 0)
    weights = g.op("Expand", {g.scalar(1, t), g.shape(at)});
  else if (!dim_of(weights, 0))
    n.unsupported("whether there are weights must be known");
  Value* rows = g.op("Slice", {g.shape(at), g.ints({0}), g.ints({rank - 1})});
  Value* dims = g.concat({rows, g.add(size, g.ints({1}))}, 0);
  Value* zeros = g.op("Expand", {g.scalar(0, t), dims});
  const char* how = is_binary ? "max" : "add";
  Value* counts = g.op("ScatterElements", {zeros, place, weights}, {{"axis", rank - 1}, {"reduction", how}});
  return {g.op("Slice", {counts, g.ints({0}), size, g.ints({rank - 1})})};
}

}  // namespace ingot::frontends::tensorflow
