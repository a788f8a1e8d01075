// Det: determinants of square matrices.
#include <algorithm>
#include <cmath>

#include "ingot/base/budget.h"
#include "ingot/ops/catalog.h"
#include "ingot/ops/compute.h"
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

// By elimination, each time with the largest of a column; destroys the matrix.
double determinant(double* a, std::int64_t n) {
  double det = 1;
  for (std::int64_t k = 0; k < n; ++k) {
    std::int64_t pivot = k;
    for (std::int64_t i = k + 1; i < n; ++i)
      if (std::abs(a[i * n + k]) > std::abs(a[pivot * n + k])) pivot = i;
    if (pivot != k) {
      std::swap_ranges(a + k * n, a + (k + 1) * n, a + pivot * n);
      det = -det;
    }
    const double diagonal = a[k * n + k];
    det *= diagonal;
    if (diagonal == 0) return det;
    for (std::int64_t i = k + 1; i < n; ++i) {
      const double factor = a[i * n + k] / diagonal;
      for (std::int64_t j = k + 1; j < n; ++j) a[i * n + j] -= factor * a[k * n + j];
    }
  }
  return det;
}

void run(KernelContext& c) {
  const Array& x = c.in(0);
  if (x.rank() < 2 || x.dims().back() != x.dims()[x.dims().size() - 2])
    c.fail("the input does not hold square matrices");
  const std::int64_t n = x.dims().back();
  Array work = scratch(c, DType::f64, x.dims());
  const Array exact = converted(x, DType::f64, c.host());
  std::ranges::copy(exact.data<double>(), work.mutable_data<double>().begin());
  Array y = scratch(c, DType::f64, {x.dims().begin(), x.dims().end() - 2});
  double* next = work.mutable_data<double>().data();
  for (double& det : y.mutable_data<double>()) {
    c.host().budget().poll();
    det = determinant(next, n);
    next += n * n;
  }
  put(c, 0, y, x.dtype());
}

}  // namespace

constinit const OpDef defs::Det = {
    .name = "Det",
    .infer = infer,
    .kernel = run,
    .gradient = gradient_det,
};

}  // namespace ingot::ops
