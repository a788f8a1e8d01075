// Linear systems, by elimination: one Loop over the columns.
#include <limits>

#include "ingot/frontends/tensorflow/factors.h"

namespace ingot::frontends::tensorflow {

Value* row_numbers(GraphBuilder& g, Value* matrix) { return g.unsqueeze(counted(g, size_of(g, matrix, -2)), {1}); }
Value* column_numbers(GraphBuilder& g, Value* matrix) { return g.unsqueeze(counted(g, size_of(g, matrix, -1)), {0}); }
Value* row_at(GraphBuilder& g, Value* matrix, Value* k) {
  return g.op("Gather", {matrix, g.unsqueeze(k, {0})}, {{"axis", -2}});
}
Value* column_at(GraphBuilder& g, Value* matrix, Value* k) {
  return g.op("Gather", {matrix, g.unsqueeze(k, {0})}, {{"axis", -1}});
}
Value* sum_of_rows(GraphBuilder& g, Value* matrix) { return g.reduce_sum(matrix, {-2}); }
Value* sum_of_columns(GraphBuilder& g, Value* matrix) { return g.reduce_sum(matrix, {-1}); }

Value* transposed_matrix(const TfNode& n, GraphBuilder& g, Value* matrix) {
  const auto rank = rank_of(matrix);
  if (!rank || *rank < 2) n.unsupported("the rank of a matrix must be known");
  std::vector<std::int64_t> perm;
  for (std::int64_t axis = 0; axis < *rank; ++axis) perm.push_back(axis);
  std::swap(perm[perm.size() - 1], perm[perm.size() - 2]);
  return g.transpose(matrix, perm);
}

Value* unit_like(GraphBuilder& g, Value* matrix) {
  Value* rows = row_numbers(g, matrix);
  Value* unit = g.cast(g.op("Equal", {rows, column_numbers(g, matrix)}), matrix->type.elem);
  return g.op("Expand", {unit, g.shape(matrix)});
}

namespace {

constexpr std::int64_t kEnd = std::numeric_limits<std::int64_t>::max();

Value* zero_of(GraphBuilder& g, Value* like) { return g.scalar(0, like->type.elem); }

/// The row below (or at) k whose element of column k is largest, brought to place k.
struct Pivot {
  Value *number, *is_k, *is_chosen;  // [..., 1, 1] int64; [n, 1] and [..., n, 1] bool
  Value* row;                        // [..., 1, m]
  Value* value;                      // [..., 1, 1]
};

Pivot pivot_of(GraphBuilder& g, Value* matrix, Value* rows, Value* k) {
  Pivot p{};
  Value* sizes = g.op("Abs", {column_at(g, matrix, k)});
  Value* is_below = g.op("GreaterOrEqual", {rows, k});
  Value* candidates = g.where(is_below, sizes, g.scalar(-1, sizes->type.elem));
  p.number = g.op("ArgMax", {candidates}, {{"axis", -2}, {"keepdims", 1}});
  p.is_k = g.op("Equal", {rows, k});
  p.is_chosen = g.op("Equal", {rows, p.number});
  p.row = sum_of_rows(g, g.where(p.is_chosen, matrix, zero_of(g, matrix)));
  p.value = column_at(g, p.row, k);
  return p;
}

Value* exchanged(GraphBuilder& g, const Pivot& p, Value* matrix, Value* chosen, Value* k) {
  Value* others = g.where(p.is_chosen, row_at(g, matrix, k), matrix);
  return g.where(p.is_k, chosen, others);
}

/// Elimination is done in 32 bits at least.
DType inner_type(DType t) { return t == DType::f64 ? t : DType::f32; }

Value* matrix_of(const TfNode& n, GraphBuilder& g, std::size_t i, bool turn) {
  if (!is_float(n.elem(i))) n.unsupported("complex matrices");
  Value* x = g.cast(n.input(i), inner_type(n.elem(i)));
  return turn ? transposed_matrix(n, g, x) : x;
}

}  // namespace

Value* solved(GraphBuilder& g, Value* matrix, Value* right) {
  Value* count = size_of(g, matrix, -1);
  Value* rows = row_numbers(g, matrix);
  const Values done =
      repeat(g, count, {g.concat({matrix, right}, -1)}, [&](GraphBuilder& b, Value* k, const Values& state) -> Values {
        const Pivot p = pivot_of(b, state[0], rows, k);
        Value* turned = exchanged(b, p, state[0], p.row, k);
        Value* scaled = b.div(p.row, p.value);
        Value* rest = b.sub(turned, b.mul(column_at(b, turned, k), scaled));
        return {b.where(p.is_k, scaled, rest)};
      });
  Value* from = g.unsqueeze(count, {0});
  Value* width = g.op("Slice", {g.shape(done[0]), g.ints({-1}), g.ints({kEnd})});
  return g.op("Slice", {done[0], from, width, g.ints({-1})});
}

Values matrix_solve(const TfNode& n, GraphBuilder& g) {
  Value* matrix = matrix_of(n, g, 0, n.flag("adjoint", false));
  return {g.cast(solved(g, matrix, matrix_of(n, g, 1, false)), n.elem(0))};
}

Values matrix_inverse(const TfNode& n, GraphBuilder& g) {
  Value* matrix = matrix_of(n, g, 0, n.flag("adjoint", false));
  return {g.cast(solved(g, matrix, unit_like(g, matrix)), n.elem(0))};
}

Values matrix_triangular_solve(const TfNode& n, GraphBuilder& g) {
  const bool lower = n.flag("lower", true);
  Value* matrix = g.op("Trilu", {matrix_of(n, g, 0, false)}, {{"upper", !lower}});
  if (n.flag("adjoint", false)) matrix = transposed_matrix(n, g, matrix);
  Value* right = matrix_of(n, g, 1, false);
  if (n.rank(0) != 2 || n.rank(1) != 2) {
    // Whatever stands before the matrices is broadcast.
    const auto outer = [&](Value* x) {
      return g.op("Expand", {g.scalar(0, DType::f32), g.op("Slice", {g.shape(x), g.ints({0}), g.ints({-2})})});
    };
    Value* first = outer(matrix);
    Value* dims = g.shape(g.add(first, outer(right)));
    const auto widened = [&](Value* x) {
      Value* own = g.op("Slice", {g.shape(x), g.ints({-2}), g.ints({kEnd})});
      return g.op("Expand", {x, g.concat({dims, own}, 0)});
    };
    matrix = widened(matrix);
    right = widened(right);
  }
  return {g.cast(solved(g, matrix, right), n.elem(0))};
}

Values matrix_solve_ls(const TfNode& n, GraphBuilder& g) {
  // The normal equations: (A'A + l I) x = A'b, or x = A' (AA' + l I)^-1 b where there are more unknowns than rows.
  const auto rows = dim_of(n.input(0), -2), columns = dim_of(n.input(0), -1);
  if (!rows || !columns) n.unsupported("the size of the matrix must be known");
  Value* a = matrix_of(n, g, 0, false);
  Value* b = matrix_of(n, g, 1, false);
  Value* turned = transposed_matrix(n, g, a);
  const bool is_tall = *rows >= *columns;
  Value* square = is_tall ? g.op("MatMul", {turned, a}) : g.op("MatMul", {a, turned});
  Value* extra = g.mul(unit_like(g, square), g.cast(n.input(2), square->type.elem));
  Value* sum = g.add(square, extra);
  if (!is_tall) return {g.cast(g.op("MatMul", {turned, solved(g, sum, b)}), n.elem(0))};
  return {g.cast(solved(g, sum, g.op("MatMul", {turned, b})), n.elem(0))};
}

Values log_matrix_determinant(const TfNode& n, GraphBuilder& g) {
  // The pivots' product, its sign and the logarithm of its size.
  Value* matrix = matrix_of(n, g, 0, false);
  Value* count = size_of(g, matrix, -1);
  Value* rows = row_numbers(g, matrix);
  Value* outer = g.op("Slice", {g.shape(matrix), g.ints({0}), g.ints({-2})});
  Value* dims = g.concat({outer, g.ints({1, 1})}, 0);
  Value* sign = g.op("Expand", {g.scalar(1, matrix->type.elem), dims});
  Value* log = g.op("Expand", {g.scalar(0, matrix->type.elem), dims});
  const Values done =
      repeat(g, count, {matrix, sign, log}, [&](GraphBuilder& b, Value* k, const Values& state) -> Values {
        const Pivot p = pivot_of(b, state[0], rows, k);
        Value* turned = exchanged(b, p, state[0], p.row, k);
        Value* factors = b.div(column_at(b, turned, k), p.value);
        Value* is_below = b.op("Greater", {rows, k});
        Value* next = b.where(is_below, b.sub(turned, b.mul(factors, p.row)), turned);
        Value* one = b.scalar(1, p.value->type.elem);
        Value* is_same = b.op("Equal", {p.number, k});
        Value* turn = b.where(is_same, one, b.neg(one));
        Value* turned_sign = b.mul(state[1], turn);
        Value* signs = b.mul(turned_sign, b.op("Sign", {p.value}));
        Value* logs = b.add(state[2], b.op("Log", {b.op("Abs", {p.value})}));
        return {next, signs, logs};
      });
  Value* s = g.cast(g.squeeze(done[1], {-2, -1}), n.elem(0));
  return {s, g.cast(g.squeeze(done[2], {-2, -1}), n.elem(0))};
}

Values lu(const TfNode& n, GraphBuilder& g) {
  Value* matrix = matrix_of(n, g, 0, false);
  Value* count = size_of(g, matrix, -1);
  Value* rows = row_numbers(g, matrix);
  Value* columns = column_numbers(g, matrix);
  Value* outer = g.op("Slice", {g.shape(matrix), g.ints({0}), g.ints({-2})});
  Value* start = g.op("Expand", {rows, g.concat({outer, g.unsqueeze(count, {0}), g.ints({1})}, 0)});
  const Values done = repeat(g, count, {matrix, start}, [&](GraphBuilder& b, Value* k, const Values& state) -> Values {
    const Pivot p = pivot_of(b, state[0], rows, k);
    Value* turned = exchanged(b, p, state[0], p.row, k);
    Value* chosen = sum_of_rows(b, b.where(p.is_chosen, state[1], b.index(0)));
    Value* order = exchanged(b, p, state[1], chosen, k);
    Value* factors = b.div(column_at(b, turned, k), p.value);
    Value* is_right = b.op("Greater", {columns, k});
    Value* is_column = b.op("Equal", {columns, k});
    Value* rest = b.where(is_right, b.sub(turned, b.mul(factors, p.row)), turned);
    rest = b.where(is_column, factors, rest);
    Value* is_below = b.op("Greater", {rows, k});
    return {b.where(is_below, rest, turned), order};
  });
  Value* order = g.cast(g.squeeze(done[1], {-1}), n.dtype("output_idx_type", DType::i32));
  return {g.cast(done[0], n.elem(0)), order};
}

Values tridiagonal_matmul(const TfNode& n, GraphBuilder& g) {
  // superdiag, maindiag, subdiag, each [..., 1, m]; rhs [..., m, n]. Row i: super_i x_i+1 + main_i x_i + sub_i x_i-1.
  Value* x = n.input(3);
  const std::int64_t rank = n.rank(3);
  const auto moved = [&](bool is_up) {
    std::vector<std::int64_t> pads(static_cast<std::size_t>(2 * rank), 0);
    pads[static_cast<std::size_t>((is_up ? 2 * rank : rank) - 2)] = 1;
    Value* from = g.ints({is_up ? 1 : 0});
    Value* part = g.op("Slice", {x, from, g.ints({is_up ? kEnd : -1}), g.ints({-2})});
    return g.op("Pad", {part, g.ints(pads)});
  };
  Value* above = moved(true);
  Value* upper = g.mul(above, transposed_matrix(n, g, n.input(0)));
  Value* middle = g.mul(x, transposed_matrix(n, g, n.input(1)));
  Value* below = moved(false);
  Value* lower = g.mul(below, transposed_matrix(n, g, n.input(2)));
  return {g.add(g.add(upper, middle), lower)};
}

Values tridiagonal_solve(const TfNode& n, GraphBuilder& g) {
  // diagonals [..., 3, m]: above (its last is not used), on, below (its first is not used); right [..., m, k].
  Value* diagonals = matrix_of(n, g, 0, false);
  Value* count = size_of(g, diagonals, -1);
  Value* i = g.unsqueeze(counted(g, count), {1});
  Value* j = g.unsqueeze(counted(g, count), {0});
  Value* sum = nullptr;
  for (std::int64_t k = 0; k < 3; ++k) {
    Value* entries = transposed_matrix(n, g, row_at(g, diagonals, g.index(k)));  // [..., m, 1]
    Value* is_there = g.op("Equal", {g.sub(j, i), g.index(1 - k)});
    Value* part = g.where(is_there, entries, zero_of(g, entries));
    sum = sum ? g.add(sum, part) : part;
  }
  return {g.cast(solved(g, sum, matrix_of(n, g, 1, false)), n.elem(1))};
}

}  // namespace ingot::frontends::tensorflow
