// Sums and other combinations of rows by the number of their group.
#include <limits>
#include <numeric>

#include "ingot/frontends/tensorflow/node.h"

namespace ingot::frontends::tensorflow {
namespace {

constexpr std::int64_t kEnd = std::numeric_limits<std::int64_t>::max();

double lowest(DType t) {
  switch (t) {
    case DType::f64:
      return std::numeric_limits<double>::lowest();
    case DType::f16:
      return -65504;
    case DType::f32:
    case DType::bf16:
      return std::numeric_limits<float>::lowest();
    case DType::i64:
      return static_cast<double>(std::numeric_limits<std::int64_t>::min());
    case DType::i32:
      return std::numeric_limits<std::int32_t>::min();
    case DType::i16:
      return std::numeric_limits<std::int16_t>::min();
    case DType::i8:
      return std::numeric_limits<std::int8_t>::min();
    default:
      return 0;
  }
}
double highest(DType t) {
  switch (t) {
    case DType::f64:
      return std::numeric_limits<double>::max();
    case DType::f16:
      return 65504;
    case DType::f32:
    case DType::bf16:
      return std::numeric_limits<float>::max();
    case DType::i32:
      return std::numeric_limits<std::int32_t>::max();
    case DType::u8:
      return 255;
    case DType::i8:
      return 127;
    case DType::i16:
      return 32767;
    case DType::u16:
      return 65535;
    case DType::u32:
      return 4294967295.0;
    default:
      return 9223372036854774784.0;  // below 2^63
  }
}

/// The rows of `data` combined into `count` rows, beginning with `start` each. Numbers below zero are left out: they
/// go to one row more, which is cut off.
Value* combined(GraphBuilder& g, Value* data, Value* ids, Value* count, std::int64_t id_rank, double start,
                const char* how) {
  Value* at = as_int64(g, ids);
  if (rank_of(ids) == 0) {  // one row
    at = g.unsqueeze(at, {0});
    data = g.unsqueeze(data, {0});
    id_rank = 1;
  }
  Value* is_out = g.op("Less", {at, g.index(0)});
  at = g.where(is_out, count, at);
  Value* rest = g.op("Slice", {g.shape(data), g.ints({id_rank}), g.ints({kEnd})});
  Value* rows = g.concat({g.add(count, g.ints({1})), rest}, 0);
  Value* base = g.op("Expand", {g.scalar(start, data->type.elem), rows});
  Value* y = g.op("ScatterND", {base, g.unsqueeze(at, {-1}), data}, {{"reduction", how}});
  return g.op("Slice", {y, g.ints({0}), count, g.ints({0})});
}

Values unsorted(const TfNode& n, GraphBuilder& g, double start, const char* how) {
  Value* count = as_int64_vector(g, n.input(2));
  return {combined(g, n.input(0), n.input(1), count, n.rank(1), start, how)};
}

/// One more than the last number.
Value* row_count(GraphBuilder& g, Value* ids) {
  Value* last = g.op("ReduceMax", {as_int64(g, ids), g.ints({0})}, {{"keepdims", 1}});
  return g.add(last, g.ints({1}));
}

/// How many rows go to each group, shaped to divide the combined rows.
Value* row_counts(const TfNode& n, GraphBuilder& g, Value* data, Value* ids, Value* count) {
  Value* ones = g.op("Expand", {g.scalar(1, data->type.elem), g.shape(ids)});
  Value* sums = combined(g, ones, ids, count, 1, 0, "add");
  const auto rank = rank_of(data);
  if (!rank) n.unsupported("the rank of the data must be known");
  std::vector<std::int64_t> axes(static_cast<std::size_t>(*rank - 1));
  std::iota(axes.begin(), axes.end(), 1);
  return axes.empty() ? sums : g.unsqueeze(sums, axes);
}

/// Groups without a row have zeros.
Value* zero_where_empty(const TfNode& n, GraphBuilder& g, Value* y, Value* data, Value* ids, Value* count) {
  Value* zero = g.scalar(0, data->type.elem);
  Value* is_empty = g.op("Equal", {row_counts(n, g, data, ids, count), zero});
  return g.where(is_empty, zero, y);
}

Value* mean_of(const TfNode& n, GraphBuilder& g, Value* data, Value* ids, Value* count, bool of_root) {
  Value* sum = combined(g, data, ids, count, 1, 0, "add");
  Value* counts = row_counts(n, g, data, ids, count);
  Value* safe = g.op("Max", {counts, g.scalar(1, data->type.elem)});
  return g.div(sum, of_root ? g.op("Sqrt", {safe}) : safe);
}

}  // namespace

Values unsorted_segment_sum(const TfNode& n, GraphBuilder& g) { return unsorted(n, g, 0, "add"); }
Values unsorted_segment_prod(const TfNode& n, GraphBuilder& g) { return unsorted(n, g, 1, "mul"); }
Values unsorted_segment_max(const TfNode& n, GraphBuilder& g) { return unsorted(n, g, lowest(n.elem(0)), "max"); }
Values unsorted_segment_min(const TfNode& n, GraphBuilder& g) { return unsorted(n, g, highest(n.elem(0)), "min"); }

Values segment_sum(const TfNode& n, GraphBuilder& g) {
  return {combined(g, n.input(0), n.input(1), row_count(g, n.input(1)), 1, 0, "add")};
}
Values segment_prod(const TfNode& n, GraphBuilder& g) {
  return {combined(g, n.input(0), n.input(1), row_count(g, n.input(1)), 1, 1, "mul")};
}
Values segment_max(const TfNode& n, GraphBuilder& g) {
  Value* count = row_count(g, n.input(1));
  Value* y = combined(g, n.input(0), n.input(1), count, 1, lowest(n.elem(0)), "max");
  return {zero_where_empty(n, g, y, n.input(0), n.input(1), count)};
}
Values segment_min(const TfNode& n, GraphBuilder& g) {
  Value* count = row_count(g, n.input(1));
  Value* y = combined(g, n.input(0), n.input(1), count, 1, highest(n.elem(0)), "min");
  return {zero_where_empty(n, g, y, n.input(0), n.input(1), count)};
}
Values segment_mean(const TfNode& n, GraphBuilder& g) {
  return {mean_of(n, g, n.input(0), n.input(1), row_count(g, n.input(1)), false)};
}

// Sparse ones first pick rows: data, indices, segment_ids, maybe the number of segments.
namespace {

Value* picked(const TfNode& n, GraphBuilder& g) { return g.op("Gather", {n.input(0), n.input(1)}, {{"axis", 0}}); }
Value* sparse_count(const TfNode& n, GraphBuilder& g) {
  return n.input_count() > 3 ? as_int64_vector(g, n.input(3)) : row_count(g, n.input(2));
}

}  // namespace

Values sparse_segment_sum(const TfNode& n, GraphBuilder& g) {
  Value* count = sparse_count(n, g);
  return {combined(g, picked(n, g), n.input(2), count, 1, 0, "add")};
}
Values sparse_segment_mean(const TfNode& n, GraphBuilder& g) {
  Value* count = sparse_count(n, g);
  return {mean_of(n, g, picked(n, g), n.input(2), count, false)};
}
Values sparse_segment_sqrt_n(const TfNode& n, GraphBuilder& g) {
  Value* count = sparse_count(n, g);
  return {mean_of(n, g, picked(n, g), n.input(2), count, true)};
}

}  // namespace ingot::frontends::tensorflow
