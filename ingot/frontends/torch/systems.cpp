// Systems whose matrix is a triangle or has a known factor, and factors by reflections.
#include "ingot/frontends/numeric/elimination.h"
#include "ingot/frontends/numeric/factors.h"
#include "ingot/frontends/numeric/matrices.h"
#include "ingot/frontends/torch/call.h"

namespace ingot::frontends::torch {
namespace {

Value* in_f64(const Call& c, std::size_t i) { return c.g().cast(c.tensor(i), DType::f64); }

struct Triangle {
  bool is_upper = false, has_ones = false;  // on its diagonal, whatever stands there
};

/// The triangle of a matrix, whatever stands in the other one.
Value* triangle_of(GraphBuilder& g, Value* matrix, Triangle kind) {
  Value* made = g.op("Trilu", {matrix}, {{"upper", kind.is_upper}});
  if (!kind.has_ones) return made;
  Value* unit = numeric::unit_like(g, matrix);
  return g.where(g.cast(unit, DType::boolean), unit, made);
}

/// What `low` times its transpose is, where `low` may be its transpose.
Value* squared(const Call& c, Value* factor, bool is_upper) {
  GraphBuilder& g = c.g();
  Value* turned = numeric::transposed_matrix(g, factor);
  return is_upper ? g.op("MatMul", {turned, factor}) : g.op("MatMul", {factor, turned});
}

}  // namespace

/// triangular_solve(b, A, upper, transpose, unitriangular) gives the matrix back too.
Item triangular_solve(const Call& c) {
  GraphBuilder& g = c.g();
  Value* matrix = triangle_of(g, in_f64(c, 1), {c.flag(2), c.flag(4)});
  if (c.flag(3)) matrix = numeric::transposed_matrix(g, matrix);
  Value* made = g.cast(numeric::solve(g, matrix, in_f64(c, 0)), c.tensor(0)->type.elem);
  return Item::tuple({Item(made), c.arg(1)});
}
/// f(A, B, upper, left, unitriangular)
Item linalg_solve_triangular(const Call& c) {
  GraphBuilder& g = c.g();
  Value* matrix = triangle_of(g, in_f64(c, 0), {c.flag(2), c.flag(4)});
  const auto turned = [&](Value* v) { return numeric::transposed_matrix(g, v); };
  Value* made = c.flag(3) ? numeric::solve(g, matrix, in_f64(c, 1))
                          : turned(numeric::solve(g, turned(matrix), turned(in_f64(c, 1))));
  return g.cast(made, c.tensor(1)->type.elem);
}
Item cholesky_solve(const Call& c) {
  Value* matrix = squared(c, triangle_of(c.g(), in_f64(c, 1), {c.flag(2)}), c.flag(2));
  return c.g().cast(numeric::solve(c.g(), matrix, in_f64(c, 0)), c.tensor(0)->type.elem);
}
Item cholesky_inverse(const Call& c) {
  GraphBuilder& g = c.g();
  Value* matrix = squared(c, triangle_of(g, in_f64(c, 0), {c.flag(1)}), c.flag(1));
  return g.cast(numeric::solve(g, matrix, numeric::unit_like(g, matrix)), c.tensor(0)->type.elem);
}
/// linalg_qr(A, mode) and qr(A, some)
Item linalg_qr(const Call& c) {
  GraphBuilder& g = c.g();
  const DType elem = c.tensor(0)->type.elem;
  const std::string mode = c.arg(1).is<bool>() ? c.flag(1) ? "reduced" : "complete" : c.text(1);
  numeric::QrFactors f = numeric::qr_factors(g, in_f64(c, 0));
  if (mode != "complete") {
    Value* sizes = g.op("Slice", {g.shape(c.tensor(0)), g.ints({-2}), g.ints({INT64_MAX})});
    Value* least = g.op("ReduceMin", {sizes}, {{"keepdims", 1}});
    const auto first = [&](Value* v, std::int64_t axis) {
      return g.op("Slice", {v, g.ints({0}), least, g.ints({axis})});
    };
    f = {first(f.q, -1), first(f.r, -2)};
  }
  Value* q = mode == "r" ? g.constant(Tensor(elem, {0}, {})) : g.cast(f.q, elem);
  return Item::tuple({Item(q), Item(g.cast(f.r, elem))});
}

}  // namespace ingot::frontends::torch
