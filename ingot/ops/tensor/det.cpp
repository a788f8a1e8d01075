// Det: determinants of square matrices.
#include "ingot/ops/catalog.h"
#include "ingot/ops/gradient.h"
#include "ingot/ops/infer.h"

namespace ingot::ops {
namespace {

void infer(InferContext& c) {
  const Shape* x = c.shape(0);
  if (!x) return;
  c.require(x->size() >= 2, "the input is not a matrix");
  const Dim &rows = (*x)[x->size() - 2], &columns = x->back();
  if (!may_equal(rows, columns)) c.fail("the matrices are " + rows.str() + " by " + columns.str() + ", not square");
  c.out_shape(0, {x->begin(), x->end() - 2});
}

/// The determinant's derivative by an element is its cofactor: the determinant of the matrix without that row and
/// column, with the sign of a chessboard.
Values gradient_det(GradContext& c) {
  GraphBuilder& g = c.g;
  const std::int64_t rank = c.rank();
  const Dim& dim = c.x()->type.shape->back();
  if (!dim.is_known()) c.fail("the gradient needs to know the size of the matrices");
  const std::int64_t n = dim.value();
  Value* dy = g.unsqueeze(c.dy(), {-2, -1});
  if (n <= 1) return {c.stretched(dy, c.x())};
  std::vector<std::int64_t> others;
  std::vector<double> signs;
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j < n; ++j) {
      if (j != i) others.push_back(j);
      signs.push_back((i + j) % 2 ? -1 : 1);
    }
  Value* rest = g.constant(Tensor::of<std::int64_t>({n, n - 1}, others));
  // [..., row left out, rows, column left out, columns], then both left out ones first.
  Value* rows = g.op("Gather", {c.x(), rest}, {{"axis", rank - 2}});
  Value* minors = g.op("Gather", {rows, rest}, {{"axis", rank}});
  std::vector<std::int64_t> perm;
  for (std::int64_t i = 0; i < rank - 2; ++i) perm.push_back(i);
  for (const std::int64_t i : {rank - 2, rank, rank - 1, rank + 1}) perm.push_back(i);
  Value* cofactors = g.op("Det", {g.transpose(minors, perm)});
  Value* chessboard = g.cast(g.constant(Tensor::of<double>({n, n}, signs)), c.elem());
  return {g.mul(dy, g.mul(cofactors, chessboard))};
}

}  // namespace

constinit const OpDef defs::Det = {
    .name = "Det",
    .infer = infer,
    .gradient = gradient_det,
};

}  // namespace ingot::ops
