// Linear systems.
#include <limits>

#include "ingot/frontends/numeric/elimination.h"
#include "ingot/frontends/numeric/matrices.h"
#include "ingot/frontends/tensorflow/node.h"

namespace ingot::frontends::tensorflow {
namespace {

constexpr std::int64_t kEnd = std::numeric_limits<std::int64_t>::max();

/// Elimination is done in 32 bits at least.
DType inner_type(DType t) { return t == DType::f64 ? t : DType::f32; }

Value* matrix_of(const TfNode& n, GraphBuilder& g, std::size_t i, bool turn) {
  if (!is_float(n.elem(i))) n.unsupported("complex matrices");
  Value* x = g.cast(n.input(i), inner_type(n.elem(i)));
  return turn ? numeric::transposed_matrix(g, x) : x;
}

}  // namespace

Values matrix_solve(const TfNode& n, GraphBuilder& g) {
  Value* matrix = matrix_of(n, g, 0, n.flag("adjoint", false));
  return {g.cast(numeric::solve(g, matrix, matrix_of(n, g, 1, false)), n.elem(0))};
}

Values matrix_inverse(const TfNode& n, GraphBuilder& g) {
  Value* matrix = matrix_of(n, g, 0, n.flag("adjoint", false));
  return {g.cast(numeric::solve(g, matrix, numeric::unit_like(g, matrix)), n.elem(0))};
}

Values matrix_triangular_solve(const TfNode& n, GraphBuilder& g) {
  const bool lower = n.flag("lower", true);
  Value* matrix = g.op("Trilu", {matrix_of(n, g, 0, false)}, {{"upper", !lower}});
  if (n.flag("adjoint", false)) matrix = numeric::transposed_matrix(g, matrix);
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
  return {g.cast(numeric::solve(g, matrix, right), n.elem(0))};
}

Values matrix_solve_ls(const TfNode& n, GraphBuilder& g) {
  // The normal equations: (A'A + l I) x = A'b, or x = A' (AA' + l I)^-1 b where there are more unknowns than rows.
  const auto rows = dim_of(n.input(0), -2), columns = dim_of(n.input(0), -1);
  if (!rows || !columns) n.unsupported("the size of the matrix must be known");
  Value* a = matrix_of(n, g, 0, false);
  Value* b = matrix_of(n, g, 1, false);
  Value* turned = numeric::transposed_matrix(g, a);
  const bool is_tall = *rows >= *columns;
  Value* square = is_tall ? g.op("MatMul", {turned, a}) : g.op("MatMul", {a, turned});
  Value* extra = g.mul(numeric::unit_like(g, square), g.cast(n.input(2), square->type.elem));
  Value* sum = g.add(square, extra);
  if (!is_tall) return {g.cast(g.op("MatMul", {turned, numeric::solve(g, sum, b)}), n.elem(0))};
  return {g.cast(numeric::solve(g, sum, g.op("MatMul", {turned, b})), n.elem(0))};
}

Values log_matrix_determinant(const TfNode& n, GraphBuilder& g) {
  const numeric::LogDeterminant made = numeric::log_determinant(g, matrix_of(n, g, 0, false));
  Value* sign = g.cast(g.squeeze(made.sign, {-2, -1}), n.elem(0));
  return {sign, g.cast(g.squeeze(made.log, {-2, -1}), n.elem(0))};
}

Values lu(const TfNode& n, GraphBuilder& g) {
  const numeric::LuFactors made = numeric::lu(g, matrix_of(n, g, 0, false));
  Value* order = g.cast(g.squeeze(made.order, {-1}), n.dtype("output_idx_type", DType::i32));
  return {g.cast(made.lu, n.elem(0)), order};
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
  Value* upper = g.mul(above, numeric::transposed_matrix(g, n.input(0)));
  Value* middle = g.mul(x, numeric::transposed_matrix(g, n.input(1)));
  Value* below = moved(false);
  Value* lower = g.mul(below, numeric::transposed_matrix(g, n.input(2)));
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
    Value* entries = numeric::transposed_matrix(g, numeric::row_at(g, diagonals, g.index(k)));  // [..., m, 1]
    Value* is_there = g.op("Equal", {g.sub(j, i), g.index(1 - k)});
    Value* part = g.where(is_there, entries, numeric::zero_of(g, entries));
    sum = sum ? g.add(sum, part) : part;
  }
  return {g.cast(numeric::solve(g, sum, matrix_of(n, g, 1, false)), n.elem(1))};
}

}  // namespace ingot::frontends::tensorflow
