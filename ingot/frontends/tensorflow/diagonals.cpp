// Diagonals, bands, blocks of space.
#include <limits>
#include <numeric>

#include "ingot/frontends/tensorflow/node.h"

namespace ingot::frontends::tensorflow {
namespace {

constexpr std::int64_t kEnd = std::numeric_limits<std::int64_t>::max();

/// 0 .. size - 1 along an axis of that size.
Value* counted(GraphBuilder& g, Value* x, std::int64_t axis) {
  Value* size = g.op("Gather", {g.shape(x), g.index(axis)});
  return g.op("Range", {g.index(0), size, g.index(1)});
}

/// Where the column is the row plus k; over the last two axes of x.
Value* on_diagonal(GraphBuilder& g, Value* x, std::int64_t k) {
  Value* rows = g.unsqueeze(counted(g, x, -2), {1});
  Value* columns = g.unsqueeze(counted(g, x, -1), {0});
  Value* moved = k ? g.add(rows, g.index(k)) : rows;
  return g.op("Equal", {moved, columns});
}

/// The diagonal number k of the V2 and V3 operators, which may have bands of several.
std::int64_t single_diagonal(const TfNode& n, std::size_t i) {
  if (n.input_count() <= i) return 0;
  const std::vector<std::int64_t> k = n.need_ints(i);
  if (k.empty() || (k.size() == 2 && k[0] != k[1]) || k.size() > 2) n.unsupported("bands of several diagonals");
  return k[0];
}

Value* zero_like(GraphBuilder& g, Value* x) { return g.scalar(0, x->type.elem); }

}  // namespace

Values matrix_diag(const TfNode& n, GraphBuilder& g) {
  // V2 and V3: inputs k, num_rows, num_cols, padding_value.
  const std::int64_t k = single_diagonal(n, 1);
  Value* diagonal = n.input(0);
  Value* padding = n.input_count() > 4 ? n.input(4) : zero_like(g, diagonal);
  const auto given = [&](std::size_t i) {
    const auto size = n.input_count() > i ? n.known_ints(i) : std::nullopt;
    if (n.input_count() > i && !size) n.unsupported("the size of the matrix must be a constant");
    return size && !size->empty() ? (*size)[0] : -1;
  };
  const bool is_plain = k == 0 && given(2) < 0 && given(3) < 0;
  if (is_plain) {
    Value* wide = g.unsqueeze(diagonal, {-1});
    Value* rows = counted(g, diagonal, -1);
    Value* mask = g.op("Equal", {g.unsqueeze(rows, {1}), g.unsqueeze(rows, {0})});
    return {g.where(mask, wide, padding)};
  }
  // Element (i, j) on the diagonal is number min(i, j) of it, counted from where it begins.
  Value* length = g.op("Gather", {g.shape(diagonal), g.index(-1)});
  Value* rows = given(2) >= 0 ? g.index(given(2)) : g.add(length, g.index(std::max<std::int64_t>(0, -k)));
  Value* columns = given(3) >= 0 ? g.index(given(3)) : g.add(length, g.index(std::max<std::int64_t>(0, k)));
  Value* i = g.unsqueeze(g.op("Range", {g.index(0), rows, g.index(1)}), {1});
  Value* j = g.unsqueeze(g.op("Range", {g.index(0), columns, g.index(1)}), {0});
  Value* mask = g.op("Equal", {g.add(i, g.index(k)), j});
  Value* number = k >= 0 ? g.add(i, g.mul(j, g.index(0))) : g.add(j, g.mul(i, g.index(0)));
  Value* last = g.sub(length, g.index(1));
  Value* safe = g.op("Min", {number, last});
  Value* spread = g.op("Gather", {diagonal, safe}, {{"axis", -1}});
  return {g.where(mask, spread, padding)};
}

Values matrix_diag_part(const TfNode& n, GraphBuilder& g) {
  const std::int64_t k = single_diagonal(n, 1);
  Value* x = n.input(0);
  Value* dims = g.shape(x);
  Value* rows = g.op("Gather", {dims, g.index(-2)});
  Value* columns = g.op("Gather", {dims, g.index(-1)});
  // From row i on the elements (i, i + k): flattened, they are columns + 1 apart.
  Value* row_limit = g.sub(rows, g.index(std::max<std::int64_t>(0, -k)));
  Value* column_limit = g.sub(columns, g.index(std::max<std::int64_t>(0, k)));
  Value* count = g.op("Min", {row_limit, column_limit});
  Value* numbers = g.op("Range", {g.index(0), count, g.index(1)});
  Value* first = k >= 0 ? g.index(k) : g.mul(columns, g.index(-k));
  Value* step = g.add(columns, g.index(1));
  Value* places = g.add(first, g.mul(numbers, step));
  Value* outer = g.op("Slice", {dims, g.ints({0}), g.ints({-2})});
  Value* flat = g.op("Reshape", {x, g.concat({outer, g.ints({-1})}, 0)});
  return {g.op("Gather", {flat, places}, {{"axis", -1}})};
}

Values matrix_set_diag(const TfNode& n, GraphBuilder& g) {
  const std::int64_t k = single_diagonal(n, 2);
  Value *x = n.input(0), *diagonal = n.input(1);
  Value* mask = on_diagonal(g, x, k);
  // Rows or columns beyond the diagonal's end read its last element, which the mask drops.
  Value* length = g.op("Gather", {g.shape(diagonal), g.index(-1)});
  Value* last = g.sub(length, g.index(1));
  Value* rows = counted(g, x, -2);
  Value* columns = counted(g, x, -1);
  Value* number = g.op("Min", {k >= 0 ? rows : columns, last});
  Value* spread = g.op("Gather", {diagonal, number}, {{"axis", -1}});
  Value* wide = g.unsqueeze(spread, {k >= 0 ? -1 : -2});
  return {g.where(mask, wide, x)};
}

Values diag(const TfNode& n, GraphBuilder& g) {
  // Of a tensor of any rank: the matrix of the flattened tensor, in twice the dimensions.
  Value* flat = g.reshape(n.input(0), {-1});
  Value* rows = counted(g, flat, 0);
  Value* mask = g.op("Equal", {g.unsqueeze(rows, {1}), g.unsqueeze(rows, {0})});
  Value* matrix = g.where(mask, g.unsqueeze(flat, {1}), zero_like(g, flat));
  Value* dims = g.shape(n.input(0));
  return {g.op("Reshape", {matrix, g.concat({dims, dims}, 0)})};
}
Values diag_part(const TfNode& n, GraphBuilder& g) {
  const std::int64_t rank = n.rank(0);
  Value* dims = g.op("Slice", {g.shape(n.input(0)), g.ints({0}), g.ints({rank / 2})});
  Value* count = g.op("ReduceProd", {dims, g.ints({0})}, {{"keepdims", 1}});
  Value* step = g.squeeze(g.add(count, g.ints({1})), {0});
  Value* numbers = g.op("Range", {g.index(0), g.squeeze(count, {0}), g.index(1)});
  Value* flat = g.reshape(n.input(0), {-1});
  Value* picked = g.op("Gather", {flat, g.mul(numbers, step)});
  return {g.op("Reshape", {picked, dims})};
}

Values matrix_band_part(const TfNode& n, GraphBuilder& g) {
  Value* x = n.input(0);
  Value* rows = g.unsqueeze(counted(g, x, -2), {1});
  Value* columns = g.unsqueeze(counted(g, x, -1), {0});
  Value* below = g.sub(rows, columns);  // how far below the diagonal
  const auto within = [&](std::size_t i, Value* distance) {
    Value* limit = as_int64(g, n.input(i));
    Value* is_open = g.op("Less", {limit, g.index(0)});
    return g.op("Or", {is_open, g.op("LessOrEqual", {distance, limit})});
  };
  Value* low = within(1, below);
  Value* high = within(2, g.neg(below));
  return {g.where(g.op("And", {low, high}), x, zero_like(g, x))};
}

// Blocks of space.

namespace {

/// Constant block sizes, and what is added or cut before and after.
struct Blocks {
  std::vector<std::int64_t> sizes;
  Value *before, *after;
};

Blocks blocks_of(const TfNode& n, GraphBuilder& g, bool is_old) {
  Blocks b;
  if (is_old)
    b.sizes.assign(2, n.integer("block_size", 2));
  else
    b.sizes = n.need_ints(1);
  for (const std::int64_t s : b.sizes)
    if (s < 1) n.unsupported("a block size is not positive");
  Value* edges = g.reshape(as_int64(g, n.input(is_old ? 1 : 2)), {static_cast<std::int64_t>(b.sizes.size()), 2});
  b.before = g.op("Gather", {edges, g.index(0)}, {{"axis", 1}});
  b.after = g.op("Gather", {edges, g.index(1)}, {{"axis", 1}});
  return b;
}

Values space_to_batch(const TfNode& n, GraphBuilder& g, const Blocks& blocks) {
  const std::int64_t rank = n.rank(0);
  const auto m = static_cast<std::int64_t>(blocks.sizes.size());
  Value* none = g.ints({0});
  Value* tail = g.ints(std::vector<std::int64_t>(static_cast<std::size_t>(rank - 1 - m), 0));
  Value* pads = g.concat({none, blocks.before, tail, none, blocks.after, tail}, 0);
  Value* x = g.op("Pad", {n.input(0), pads});
  // [b, s1, s2, rest] -> [b, s1/k1, k1, s2/k2, k2, rest] -> [k1, k2, b, s1/k1, s2/k2, rest] -> [k1*k2*b, ...]
  Value* dims = g.shape(x);
  Value* block = g.ints(blocks.sizes);
  Value* inner = g.div(g.op("Slice", {dims, g.ints({1}), g.ints({1 + m})}), block);
  Value* batch = g.op("Slice", {dims, g.ints({0}), g.ints({1})});
  Value* rest = g.op("Slice", {dims, g.ints({1 + m}), g.ints({kEnd})});
  Value* both = g.concat({g.unsqueeze(inner, {0}), g.unsqueeze(block, {0})}, 0);
  Value* pairs = g.reshape(g.transpose(both, {1, 0}), {-1});
  Value* split = g.op("Reshape", {x, g.concat({batch, pairs, rest}, 0)});
  std::vector<std::int64_t> perm;
  for (std::int64_t i = 0; i < m; ++i) perm.push_back(2 + 2 * i);
  perm.push_back(0);
  for (std::int64_t i = 0; i < m; ++i) perm.push_back(1 + 2 * i);
  for (std::int64_t i = 1 + 2 * m; i < rank + m; ++i) perm.push_back(i);
  if (!rank_of(split)) split->type.shape = Shape(static_cast<std::size_t>(rank + m));
  Value* moved = g.transpose(split, perm);
  Value* count = g.op("ReduceProd", {block, g.ints({0})}, {{"keepdims", 1}});
  Value* target = g.concat({g.mul(batch, count), inner, rest}, 0);
  return {g.op("Reshape", {moved, target})};
}

Values batch_to_space(const TfNode& n, GraphBuilder& g, const Blocks& blocks) {
  const std::int64_t rank = n.rank(0);
  const auto m = static_cast<std::int64_t>(blocks.sizes.size());
  Value* x = n.input(0);
  Value* dims = g.shape(x);
  Value* block = g.ints(blocks.sizes);
  Value* count = g.op("ReduceProd", {block, g.ints({0})}, {{"keepdims", 1}});
  Value* batch = g.div(g.op("Slice", {dims, g.ints({0}), g.ints({1})}), count);
  Value* inner = g.op("Slice", {dims, g.ints({1}), g.ints({1 + m})});
  Value* rest = g.op("Slice", {dims, g.ints({1 + m}), g.ints({kEnd})});
  Value* split = g.op("Reshape", {x, g.concat({block, batch, inner, rest}, 0)});
  // [k1, k2, b, s1, s2, rest] -> [b, s1, k1, s2, k2, rest]
  std::vector<std::int64_t> perm{m}, axes;
  for (std::int64_t i = 0; i < m; ++i) {
    perm.push_back(m + 1 + i);
    perm.push_back(i);
    axes.push_back(1 + i);
  }
  for (std::int64_t i = 2 * m + 1; i < rank + m; ++i) perm.push_back(i);
  Value* moved = g.transpose(split, perm);
  Value* sizes = g.mul(inner, block);
  Value* whole = g.op("Reshape", {moved, g.concat({batch, sizes, rest}, 0)});
  Value* end = g.sub(sizes, blocks.after);
  return {g.op("Slice", {whole, blocks.before, end, g.ints(axes)})};
}

}  // namespace

Values space_to_batch_nd(const TfNode& n, GraphBuilder& g) { return space_to_batch(n, g, blocks_of(n, g, false)); }
Values space_to_batch_old(const TfNode& n, GraphBuilder& g) { return space_to_batch(n, g, blocks_of(n, g, true)); }
Values batch_to_space_nd(const TfNode& n, GraphBuilder& g) { return batch_to_space(n, g, blocks_of(n, g, false)); }
Values batch_to_space_old(const TfNode& n, GraphBuilder& g) { return batch_to_space(n, g, blocks_of(n, g, true)); }

}  // namespace ingot::frontends::tensorflow
