// Inverse of com.microsoft and ai.onnx.contrib: of square matrices, by elimination with the largest pivot.
#include <algorithm>
#include <cmath>

#include "ingot/ops/compute.h"
#include "ingot/ops/infer.h"
#include "ingot/ops/kernel.h"
#include "ingot/ops/pace.h"
#include "ingot/ops/vendor/catalog.h"

namespace ingot::ops {
namespace {

void infer_inverse(InferContext& c) {
  const Shape* x = c.shape(0);
  if (!x) return;
  c.require(x->size() >= 2 && may_equal((*x)[x->size() - 1], (*x)[x->size() - 2]), "matrices must be square");
  c.out_shape(0, *x);
}

/// False: the matrix has no inverse.
bool invert(std::vector<double>& a, std::vector<double>& b, std::size_t n) {
  for (std::size_t column = 0; column < n; ++column) {
    std::size_t pivot = column;
    for (std::size_t row = column + 1; row < n; ++row)
      if (std::abs(a[row * n + column]) > std::abs(a[pivot * n + column])) pivot = row;
    const double top = a[pivot * n + column];
    if (top == 0) return false;
    for (std::size_t k = 0; k < n; ++k) {
      std::swap(a[pivot * n + k], a[column * n + k]);
      std::swap(b[pivot * n + k], b[column * n + k]);
    }
    for (std::size_t k = 0; k < n; ++k) {
      a[column * n + k] /= top;
      b[column * n + k] /= top;
    }
    for (std::size_t row = 0; row < n; ++row) {
      const double factor = row == column ? 0 : a[row * n + column];
      if (factor == 0) continue;
      for (std::size_t k = 0; k < n; ++k) {
        a[row * n + k] -= factor * a[column * n + k];
        b[row * n + k] -= factor * b[column * n + k];
      }
    }
  }
  return true;
}

void run_inverse(KernelContext& c) {
  const Array x = converted(c.in(0), DType::f64, c.host());
  if (x.rank() < 2 || x.dims().back() != x.dims()[x.dims().size() - 2]) c.fail("matrices must be square");
  const auto n = static_cast<std::size_t>(x.dims().back());
  Array y = c.host().allocate(DType::f64, x.dims());
  const auto in = x.data<double>();
  const auto out = y.mutable_data<double>();
  const std::size_t each = n * n;
  Pace pace(c.host().budget());
  for (std::size_t first = 0; each && first < in.size(); first += each) {
    std::vector<double> a(in.begin() + static_cast<std::ptrdiff_t>(first),
                          in.begin() + static_cast<std::ptrdiff_t>(first + each));
    std::vector<double> b(each, 0);
    for (std::size_t i = 0; i < n; ++i) b[i * n + i] = 1;
    if (!invert(a, b, n)) c.fail("a matrix has no inverse");
    std::ranges::copy(b, out.begin() + static_cast<std::ptrdiff_t>(first));
    pace.step(static_cast<std::int64_t>(each * n));
  }
  put(c, 0, y, c.in(0).dtype());
}

}  // namespace

constinit const OpDef defs::contrib::Inverse = {
    .name = "Inverse", .domain = kContrib, .infer = infer_inverse, .kernel = run_inverse};
constinit const OpDef defs::microsoft::Inverse = {
    .name = "Inverse", .domain = kMicrosoft, .infer = infer_inverse, .kernel = run_inverse};

}  // namespace ingot::ops
