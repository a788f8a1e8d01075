// Reading and writing at indices.
#include <algorithm>
#include <limits>
#include <numeric>

#include "ingot/frontends/tensorflow/node.h"
#include "ingot/frontends/tensorflow/translation.h"

namespace ingot::frontends::tensorflow {
namespace {

/// Along one axis, the first `batch` axes being shared with the indices.
Value* gathered(const TfNode& n, GraphBuilder& g, Value* x, Value* at, std::int64_t axis, std::int64_t batch) {
  if (batch < 0) batch += n.rank(1);
  if (batch == 0) return g.op("Gather", {x, at}, {{"axis", axis}});
  const std::int64_t rank = n.rank(0), index_rank = n.rank(1);
  if (axis < 0) axis += rank;
  // The axis goes behind the shared ones; GatherND then picks single elements of it.
  std::vector<std::int64_t> perm;
  for (std::int64_t i = 0; i < batch; ++i) perm.push_back(i);
  perm.push_back(axis);
  for (std::int64_t i = batch; i < rank; ++i)
    if (i != axis) perm.push_back(i);
  Value* turned = axis == batch ? x : g.transpose(x, perm);
  Value* picks = g.unsqueeze(as_int64(g, at), {-1});
  Value* y = g.op("GatherND", {turned, picks}, {{"batch_dims", batch}});
  if (axis == batch) return y;
  // [shared, indices, before, after] -> [shared, before, indices, after]
  std::vector<std::int64_t> back;
  const std::int64_t picked = index_rank - batch, before = axis - batch;
  for (std::int64_t i = 0; i < batch; ++i) back.push_back(i);
  for (std::int64_t i = 0; i < before; ++i) back.push_back(batch + picked + i);
  for (std::int64_t i = 0; i < picked; ++i) back.push_back(batch + i);
  for (std::int64_t i = batch + picked + before; i < rank - 1 + picked; ++i) back.push_back(i);
  return g.transpose(y, back);
}

}  // namespace

Values gather(const TfNode& n, GraphBuilder& g) {
  const std::int64_t axis = n.input_count() > 2 ? n.need_int(2) : 0;
  return {gathered(n, g, n.input(0), n.input(1), axis, n.integer("batch_dims", 0))};
}
Values gather_nd(const TfNode& n, GraphBuilder& g) {
  return {g.op("GatherND", {n.input(0), as_int64(g, n.input(1))}, {{"batch_dims", n.integer("batch_dims", 0)}})};
}

namespace {

Value* scattered(GraphBuilder& g, Value* x, Value* at, Value* updates, const char* how) {
  Attrs attrs;
  if (how[0]) attrs.emplace_back("reduction", how);
  return g.op("ScatterND", {x, as_int64(g, at), updates}, attrs);
}

/// Whole rows: the index has one number each. A scalar update goes to all of them.
Value* scattered_rows(const TfNode& n, GraphBuilder& g, const char* how) {
  Value* at = g.unsqueeze(as_int64(g, n.input(1)), {-1});
  Value* updates = n.input(2);
  if (rank_of(updates) == 0 && n.rank(0) > 0) {
    Value* dims = g.shape(n.input(0));
    Value* row = g.op("Slice", {dims, g.ints({1}), g.ints({std::numeric_limits<std::int64_t>::max()})});
    Value* places = g.shape(as_int64(g, n.input(1)));
    updates = g.op("Expand", {updates, g.concat({places, row}, 0)});
  }
  return scattered(g, n.input(0), at, updates, how);
}

}  // namespace

Values scatter_nd(const TfNode& n, GraphBuilder& g) {
  Value* zeros = g.op("Expand", {g.scalar(0, n.elem(1)), as_int64_vector(g, n.input(2))});
  return {scattered(g, zeros, n.input(0), n.input(1), "add")};
}
Values scatter_nd_update(const TfNode& n, GraphBuilder& g) {
  return {scattered(g, n.input(0), n.input(1), n.input(2), "")};
}
Values scatter_nd_add(const TfNode& n, GraphBuilder& g) {
  return {scattered(g, n.input(0), n.input(1), n.input(2), "add")};
}
Values scatter_nd_sub(const TfNode& n, GraphBuilder& g) {
  return {scattered(g, n.input(0), n.input(1), g.neg(n.input(2)), "add")};
}
Values scatter_nd_max(const TfNode& n, GraphBuilder& g) {
  return {scattered(g, n.input(0), n.input(1), n.input(2), "max")};
}
Values scatter_nd_min(const TfNode& n, GraphBuilder& g) {
  return {scattered(g, n.input(0), n.input(1), n.input(2), "min")};
}
Values scatter_update(const TfNode& n, GraphBuilder& g) { return {scattered_rows(n, g, "")}; }
Values scatter_add(const TfNode& n, GraphBuilder& g) { return {scattered_rows(n, g, "add")}; }
Values scatter_mul(const TfNode& n, GraphBuilder& g) { return {scattered_rows(n, g, "mul")}; }
Values scatter_max(const TfNode& n, GraphBuilder& g) { return {scattered_rows(n, g, "max")}; }
Values scatter_min(const TfNode& n, GraphBuilder& g) { return {scattered_rows(n, g, "min")}; }
/// All updates of each place taken together, beginning with `start`.
Value* gathered_updates(const TfNode& n, GraphBuilder& g, double start, const char* reduction) {
  Value* at = g.unsqueeze(as_int64(g, n.input(1)), {-1});
  Value* base = filled_like(g, n.input(0), start);
  Value* updates = n.input(2);
  if (rank_of(updates) == 0 && n.rank(0) > 0) {
    Value* rows = g.op("Gather", {base, as_int64(g, n.input(1))});
    updates = g.op("Expand", {updates, g.shape(rows)});
  }
  return scattered(g, base, at, updates, reduction);
}
Values scatter_sub(const TfNode& n, GraphBuilder& g) { return {g.sub(n.input(0), gathered_updates(n, g, 0, "add"))}; }
Values scatter_div(const TfNode& n, GraphBuilder& g) { return {g.div(n.input(0), gathered_updates(n, g, 1, "mul"))}; }

Values sparse_to_dense(const TfNode& n, GraphBuilder& g) {
  Value* base = g.op("Expand", {n.input(3), as_int64_vector(g, n.input(1))});
  Value* at = as_int64(g, n.input(0));
  const std::int64_t index_rank = n.rank(0);
  if (index_rank == 0) at = g.reshape(at, {1, 1});
  if (index_rank == 1) at = g.unsqueeze(at, {1});
  Value* count = g.op("Slice", {g.shape(at), g.ints({0}), g.ints({1})});
  Value* values = g.op("Expand", {n.input(2), count});
  return {scattered(g, base, at, values, "")};
}
Values sparse_tensor_dense_add(const TfNode& n, GraphBuilder& g) {
  return {scattered(g, n.input(3), n.input(0), n.input(1), "add")};
}
Values sparse_tensor_dense_matmul(const TfNode& n, GraphBuilder& g) {
  Value* zeros = g.op("Expand", {g.scalar(0, n.elem(1)), as_int64_vector(g, n.input(2))});
  Value* a = scattered(g, zeros, n.input(0), n.input(1), "add");
  if (n.flag("adjoint_a", false)) a = g.transpose(a, {1, 0});
  Value* b = n.flag("adjoint_b", false) ? g.transpose(n.input(3), {1, 0}) : n.input(3);
  return {g.op("MatMul", {a, b})};
}

Values unique(const TfNode& n, GraphBuilder& g) {
  Attrs attrs{{"sorted", 0}};
  Value* x = n.input(0);
  if (n.input_count() > 1) {
    const std::vector<std::int64_t> axis = n.need_ints(1);
    if (!axis.empty() && !(axis[0] == 0 && rank_of(x) == 1)) attrs.emplace_back("axis", axis[0]);
  }
  const DType t = n.dtype("out_idx", DType::i32);
  const Values y = g.op("Unique", {x}, attrs, 4);
  Value* places = g.cast(y[2], t);
  Value* counts = g.cast(y[3], t);
  return {y[0], places, counts};
}

namespace {

Value* integer_list(GraphBuilder& g, const std::vector<std::int64_t>& values, DType elem) {
  if (elem == DType::i64) return g.ints(values);
  const auto size = static_cast<std::int64_t>(values.size());
  if (elem == DType::i32)
    return g.constant(Tensor::of<std::int32_t>({size}, std::vector<std::int32_t>(values.begin(), values.end())));
  return g.cast(g.ints(values), elem);
}

}  // namespace

Values list_diff(const TfNode& n, GraphBuilder& g) {
  // Orders of axes are made of it (tf.tensordot), and have to be known.
  if (const auto all = n.known_ints(0), others = n.known_ints(1); all && others) {
    std::vector<std::int64_t> kept, at;
    for (std::size_t i = 0; i < all->size(); ++i) {
      if (std::ranges::find(*others, (*all)[i]) != others->end()) continue;
      kept.push_back((*all)[i]);
      at.push_back(static_cast<std::int64_t>(i));
    }
    return {integer_list(g, kept, n.elem(0)), integer_list(g, at, n.dtype("out_idx", DType::i32))};
  }
  // An element stays if it equals none of the others.
  Value* column = g.unsqueeze(n.input(0), {1});
  Value* same = g.cast(g.op("Equal", {column, g.unsqueeze(n.input(1), {0})}), DType::i32);
  Value* hits = g.op("ReduceSum", {same, g.ints({1})}, {{"keepdims", 0}});
  Value* stays = g.op("Equal", {hits, g.scalar(0, DType::i32)});
  Value* places = g.reshape(g.op("NonZero", {stays}), {-1});
  return {g.op("Gather", {n.input(0), places}), g.cast(places, n.dtype("out_idx", DType::i32))};
}

Values dynamic_partition(const TfNode& n, GraphBuilder& g) {
  const std::int64_t count = n.integer("num_partitions", 1);
  if (count < 1 || count > 100'000) n.unsupported("the number of parts is not sensible");
  Value* data = n.input(0);
  Value* parts = n.input(1);
  // Several axes of parts: the data's first ones become one.
  const std::int64_t shared = n.rank(1);
  if (shared != 1) {
    Value* dims = g.shape(data);
    Value* rest = g.op("Slice", {dims, g.ints({shared}), g.ints({std::numeric_limits<std::int64_t>::max()})});
    data = g.op("Reshape", {data, g.concat({g.ints({-1}), rest}, 0)});
    parts = g.reshape(parts, {-1});
  }
  Values results;
  for (std::int64_t i = 0; i < count; ++i) {
    Value* is_in = g.op("Equal", {parts, g.scalar(static_cast<double>(i), n.elem(1))});
    results.push_back(g.op("Compress", {data, is_in}, {{"axis", 0}}));
  }
  return results;
}

Values dynamic_stitch(const TfNode& n, GraphBuilder& g) {
  const std::size_t half = n.input_count() / 2;
  Values places, rows;
  for (std::size_t i = 0; i < half; ++i) {
    Value* at = as_int64(g, n.input(i));
    Value* data = n.input(half + i);
    const std::int64_t index_rank = n.rank(i);
    if (index_rank == 0) {
      at = g.unsqueeze(at, {0});
      data = g.unsqueeze(data, {0});
    } else if (index_rank > 1) {
      Value* dims = g.shape(data);
      Value* rest = g.op("Slice", {dims, g.ints({index_rank}), g.ints({std::numeric_limits<std::int64_t>::max()})});
      data = g.op("Reshape", {data, g.concat({g.ints({-1}), rest}, 0)});
      at = g.reshape(at, {-1});
    }
    places.push_back(at);
    rows.push_back(data);
  }
  Value* at = places.size() == 1 ? places[0] : g.concat(places, 0);
  Value* data = rows.size() == 1 ? rows[0] : g.concat(rows, 0);
  Value* count = g.add(g.op("ReduceMax", {at, g.ints({0})}, {{"keepdims", 1}}), g.ints({1}));
  Value* rest = g.op("Slice", {g.shape(data), g.ints({1}), g.ints({std::numeric_limits<std::int64_t>::max()})});
  Value* zeros = g.op("Expand", {g.scalar(0, data->type.elem), g.concat({count, rest}, 0)});
  return {scattered(g, zeros, g.unsqueeze(at, {-1}), data, "")};
}

}  // namespace ingot::frontends::tensorflow
