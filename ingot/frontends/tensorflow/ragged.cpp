// Ragged tensors: values and where each row begins and ends.
#include <limits>

#include "ingot/frontends/repeat.h"
#include "ingot/frontends/tensorflow/node.h"

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
  // nested splits of the parameters, their values, indices of any rank.
  const std::int64_t levels = n.integer("PARAMS_RAGGED_RANK", 1);
  if (levels < 1 || n.input_count() != static_cast<std::size_t>(levels) + 2)
    n.unsupported("nested splits of another number than the rank says");
  const std::size_t count = static_cast<std::size_t>(levels);
  const std::int64_t rank = n.rank(count + 1);
  const DType splits_type = n.elem(0);
  Values results;
  Value* indices = as_int64(g, n.input(count + 1));
  // Indices of higher rank are rows of equal length around the gathered ones.
  for (std::int64_t axis = 0; axis + 1 < rank; ++axis) {
    Value* dims = g.op("Slice", {g.shape(indices), g.ints({0}), g.ints({axis + 1})});
    Value* rows = g.op("ReduceProd", {dims}, {{"keepdims", 0}});
    Value* numbers = counted(g, g.add(rows, g.index(1)));
    results.push_back(g.cast(g.mul(numbers, size_of(g, indices, axis + 1)), splits_type));
  }
  Value* which = g.reshape(indices, {-1});
  for (std::size_t level = 0; level < count; ++level) {
    const Rows rows = rows_of(g, n.input(level));
    Value* lengths = g.op("Gather", {rows.lengths, which});
    Value* begins = g.op("Gather", {rows.begins, which});
    Value* splits = g.concat({g.ints({0}), g.op("CumSum", {lengths, g.index(0)})}, 0);
    if (level > 0 || rank > 0) results.push_back(g.cast(splits, splits_type));  // one index: its row alone
    const Places at = places_of(g, {nullptr, lengths});
    which = g.add(g.op("Gather", {begins, at.row}), at.number);
  }
  results.push_back(g.op("Gather", {n.input(count), which}, {{"axis", 0}}));
  return results;
}

namespace {

/// Levels of rows, outermost first.
struct Levels {
  Values lengths;  // of the rows of each level
};

/// Where each value stands, [n, levels + 1], and the least sizes that hold all.
struct Grid {
  Value *places, *sizes;
};

Grid grid_of(GraphBuilder& g, const Levels& levels) {
  Values columns, sizes{g.shape(levels.lengths.front())};
  Value* row = nullptr;  // at the level: the row of each value
  for (std::size_t i = levels.lengths.size(); i-- > 0;) {
    const Places at = places_of(g, {nullptr, levels.lengths[i]});
    columns.insert(columns.begin(), row ? g.op("Gather", {at.number, row}) : at.number);
    row = row ? g.op("Gather", {at.row, row}) : at.row;
  }
  columns.insert(columns.begin(), row);
  for (Value*& column : columns) column = g.unsqueeze(column, {1});
  for (Value* lengths : levels.lengths)
    sizes.push_back(g.op("ReduceMax", {g.concat({lengths, g.ints({0})}, 0)}, {{"keepdims", 1}}));
  Value* places = g.concat(columns, 1);
  return {places, g.concat(sizes, 0)};
}

}  // namespace

Values ragged_to_sparse(const TfNode& n, GraphBuilder& g) {
  // nested splits, values, perhaps with further dimensions.
  if (n.input_count() < 2) n.unsupported("no splits");
  const std::size_t count = n.input_count() - 1;
  Levels levels;
  for (std::size_t i = 0; i < count; ++i) levels.lengths.push_back(rows_of(g, n.input(i)).lengths);
  const Grid grid = grid_of(g, levels);
  Value* values = n.input(count);
  if (n.rank(count) == 1) return {grid.places, values, grid.sizes};
  // Every element of a value has its place in the value behind that of the value.
  Value* ones = g.op("Expand", {g.index(1), g.shape(values)});
  Value* elements = g.transpose(g.op("NonZero", {ones}), {1, 0});
  Value* which = g.op("Gather", {elements, g.index(0)}, {{"axis", 1}});
  Value* inner = g.op("Slice", {elements, g.ints({1}), g.ints({kEnd}), g.ints({1})});
  Value* places = g.concat({g.op("Gather", {grid.places, which}), inner}, 1);
  Value* rest = g.op("Slice", {g.shape(values), g.ints({1}), g.ints({kEnd})});
  return {places, g.reshape(values, {-1}), g.concat({grid.sizes, rest}, 0)};
}

namespace {

/// How many times each of 0 .. count - 1 stands in `ids`.
Value* occurrences(GraphBuilder& g, Value* ids, Value* count) {
  Value* zeros = g.op("Expand", {g.index(0), count});
  Value* ones = g.op("Expand", {g.index(1), g.shape(ids)});
  return g.op("ScatterElements", {zeros, ids, ones}, {{"axis", 0}, {"reduction", "add"}});
}

/// How rows are told is a list of texts: splits, or the row of each value, whose number follows from outside.
Levels partitions_of(const TfNode& n, GraphBuilder& g, std::size_t first) {
  Levels levels;
  Value* rows = nullptr;  // of the next level: a list of one number
  std::size_t input = first;
  for (const std::string& kind : n.texts("row_partition_types")) {
    Value* partition = n.input(input++);
    if (kind == "FIRST_DIM_SIZE") {
      rows = as_int64_vector(g, partition);
    } else if (kind == "ROW_SPLITS") {
      levels.lengths.push_back(rows_of(g, partition).lengths);
      rows = g.reduce_sum(levels.lengths.back(), {0});
    } else if (kind == "VALUE_ROWIDS" && rows) {
      Value* ids = as_int64(g, partition);
      levels.lengths.push_back(occurrences(g, ids, rows));
      rows = g.shape(ids);
    } else {
      n.unsupported("rows told by '" + kind + "'");
    }
  }
  if (levels.lengths.empty()) n.unsupported("no levels of rows");
  return levels;
}

}  // namespace

Values ragged_to_tensor(const TfNode& n, GraphBuilder& g) {
  // shape, values, default, partitions.
  Value* values = n.input(1);
  const std::int64_t inner = n.rank(1) - 1;
  const Levels levels = partitions_of(n, g, 3);
  const Grid grid = grid_of(g, levels);
  const std::int64_t outer = static_cast<std::int64_t>(levels.lengths.size()) + 1;
  Value* rest = g.op("Slice", {g.shape(values), g.ints({1}), g.ints({kEnd})});
  // The shape may be stated in part: -1 where it follows from the rows.
  Value* dims = grid.sizes;
  const auto stated_rank = dim_of(n.input(0), 0);
  if (rank_of(n.input(0)) == 1 && stated_rank && *stated_rank >= outer) {
    Value* wanted = g.op("Slice", {as_int64(g, n.input(0)), g.ints({0}), g.ints({outer})});
    Value* is_open = g.op("Less", {wanted, g.index(0)});
    dims = g.where(is_open, grid.sizes, wanted);
  }
  // Entries beyond a stated size are left out.
  Value* outs = g.reduce_sum(g.cast(g.op("GreaterOrEqual", {grid.places, dims}), DType::i32), {1}, false);
  Value* stays = g.op("Equal", {outs, g.scalar(0, DType::i32)});
  Value* kept = g.op("Compress", {grid.places, stays}, {{"axis", 0}});
  Value* kept_values = g.op("Compress", {values, stays}, {{"axis", 0}});
  Value* base = g.op("Expand", {g.cast(n.input(2), values->type.elem), inner ? g.concat({dims, rest}, 0) : dims});
  return {g.op("ScatterND", {base, kept, kept_values})};
}

}  // namespace ingot::frontends::tensorflow
