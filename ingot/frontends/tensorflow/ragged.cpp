// Ragged tensors: values and where each row begins and ends.
#include <limits>

#include "ingot/frontends/tensorflow/repeat.h"

namespace ingot::frontends::tensorflow {
namespace {

constexpr std::int64_t kEnd = std::numeric_limits<std::int64_t>::max();

/// Where rows begin and how long they are.
struct Rows {
  Value *begins, *lengths;
};

Rows rows_of(GraphBuilder& g, Value* splits) {
  Value* at = as_int64(g, splits);
  Value* begins = g.op("Slice", {at, g.ints({0}), g.ints({-1})});
  Value* ends = g.op("Slice", {at, g.ints({1}), g.ints({kEnd})});
  return {begins, g.sub(ends, begins)};
}

/// The row of each element, and its number in the row: [n] both.
struct Places {
  Value *row, *number;
};

Places places_of(GraphBuilder& g, const Rows& rows) {
  // A mask [rows, longest] has its elements in the order of the values.
  Value* longest = g.op("ReduceMax", {g.concat({rows.lengths, g.ints({0})}, 0)}, {{"keepdims", 0}});
  Value* column = g.unsqueeze(counted(g, longest), {0});
  Value* mask = g.op("Less", {column, g.unsqueeze(rows.lengths, {1})});
  Value* both = g.op("NonZero", {mask});
  Value* row = g.op("Gather", {both, g.index(0)});
  return {row, g.op("Gather", {both, g.index(1)})};
}

}  // namespace

Values ragged_range(const TfNode& n, GraphBuilder& g) {
  // starts, limits, deltas: numbers or one per row.
  const DType t = n.elem(0);
  Value* sum = g.reshape(g.add(g.add(n.input(0), n.input(1)), n.input(2)), {-1});
  const auto per_row = [&](std::size_t i) { return g.op("Expand", {n.input(i), g.shape(sum)}); };
  Value* starts = per_row(0);
  Value* deltas = per_row(2);
  Value* range = g.sub(per_row(1), starts);
  // How many steps: the quotient rounded up, not below zero.
  Value* count = g.op("Ceil", {g.div(g.cast(range, DType::f64), g.cast(deltas, DType::f64))});
  Value* lengths = g.cast(g.op("Max", {count, g.scalar(0, DType::f64)}), DType::i64);
  Value* splits = g.concat({g.ints({0}), g.op("CumSum", {lengths, g.index(0)})}, 0);
  const Places at = places_of(g, {nullptr, lengths});
  Value* steps = g.mul(g.cast(at.number, t), g.op("Gather", {deltas, at.row}));
  Value* values = g.add(g.op("Gather", {starts, at.row}), steps);
  return {g.cast(splits, n.dtype("Tsplits", DType::i64)), values};
}

Values ragged_gather(const TfNode& n, GraphBuilder& g) {
  // nested splits, values, indices [m]; one level of rows.
  if (n.integer("PARAMS_RAGGED_RANK", 1) != 1 || n.integer("OUTPUT_RAGGED_RANK", 1) != 1 || n.rank(2) != 1)
    n.unsupported("several levels of rows");
  const Rows rows = rows_of(g, n.input(0));
  Value* which = as_int64(g, n.input(2));
  Value* lengths = g.op("Gather", {rows.lengths, which});
  Value* begins = g.op("Gather", {rows.begins, which});
  Value* splits = g.concat({g.ints({0}), g.op("CumSum", {lengths, g.index(0)})}, 0);
  const Places at = places_of(g, {nullptr, lengths});
  Value* from = g.add(g.op("Gather", {begins, at.row}), at.number);
  return {g.cast(splits, n.elem(0)), g.op("Gather", {n.input(1), from}, {{"axis", 0}})};
}

Values ragged_to_sparse(const TfNode& n, GraphBuilder& g) {
  // nested splits (one level), values.
  if (n.input_count() != 2 || n.rank(1) != 1) n.unsupported("several levels of rows");
  const Rows rows = rows_of(g, n.input(0));
  const Places at = places_of(g, rows);
  Value* row = g.unsqueeze(at.row, {1});
  Value* indices = g.concat({row, g.unsqueeze(at.number, {1})}, 1);
  Value* longest = g.op("ReduceMax", {g.concat({rows.lengths, g.ints({0})}, 0)}, {{"keepdims", 1}});
  return {indices, n.input(1), g.concat({g.shape(rows.lengths), longest}, 0)};
}

Values ragged_to_tensor(const TfNode& n, GraphBuilder& g) {
  // shape, values, default, partitions: how rows are told is a list of texts.
  const std::vector<std::string> kinds = n.texts("row_partition_types");
  Value* values = n.input(1);
  const std::int64_t inner = n.rank(1) - 1;
  Rows rows{};
  if (kinds.size() == 1 && kinds[0] == "ROW_SPLITS") {
    rows = rows_of(g, n.input(3));
  } else if (kinds.size() == 2 && kinds[0] == "FIRST_DIM_SIZE" && kinds[1] == "VALUE_ROWIDS") {
    Value* count = as_int64_vector(g, n.input(3));
    Value* zeros = g.op("Expand", {g.index(0), count});
    Value* ids = as_int64(g, n.input(4));
    Value* ones = g.op("Expand", {g.index(1), g.shape(ids)});
    rows.lengths = g.op("ScatterElements", {zeros, ids, ones}, {{"axis", 0}, {"reduction", "add"}});
  } else {
    n.unsupported("several levels of rows");
  }
  const Places at = places_of(g, rows);
  Value* longest = g.op("ReduceMax", {g.concat({rows.lengths, g.ints({0})}, 0)}, {{"keepdims", 1}});
  Value* rest = g.op("Slice", {g.shape(values), g.ints({1}), g.ints({kEnd})});
  Value* full = g.concat({g.shape(rows.lengths), longest}, 0);
  // The shape may be stated in part: -1 where it follows from the rows.
  Value* dims = full;
  const auto stated_rank = dim_of(n.input(0), 0);
  if (rank_of(n.input(0)) == 1 && stated_rank && *stated_rank >= 2) {
    Value* wanted = g.op("Slice", {as_int64(g, n.input(0)), g.ints({0}), g.ints({2})});
    Value* is_open = g.op("Less", {wanted, g.index(0)});
    dims = g.where(is_open, full, wanted);
  }
  // Entries beyond a stated size are left out.
  Value* row = g.unsqueeze(at.row, {1});
  Value* places = g.concat({row, g.unsqueeze(at.number, {1})}, 1);
  Value* outs = g.reduce_sum(g.cast(g.op("GreaterOrEqual", {places, dims}), DType::i32), {1}, false);
  Value* stays = g.op("Equal", {outs, g.scalar(0, DType::i32)});
  Value* kept = g.op("Compress", {places, stays}, {{"axis", 0}});
  Value* kept_values = g.op("Compress", {values, stays}, {{"axis", 0}});
  Value* base = g.op("Expand", {g.cast(n.input(2), values->type.elem), inner ? g.concat({dims, rest}, 0) : dims});
  return {g.op("ScatterND", {base, kept, kept_values})};
}

}  // namespace ingot::frontends::tensorflow
