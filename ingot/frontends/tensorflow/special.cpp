// Functions that ONNX lacks, computed in double precision.
#include <numbers>

#include "ingot/frontends/numeric/bessel.h"
#include "ingot/frontends/numeric/gamma.h"
#include "ingot/frontends/numeric/incomplete_gamma.h"
#include "ingot/frontends/numeric/inverse_erf.h"
#include "ingot/frontends/numeric/zeta.h"
#include "ingot/frontends/tensorflow/node.h"

namespace ingot::frontends::tensorflow {
namespace {

Value* wide(const TfNode& n, GraphBuilder& g, std::size_t i = 0) { return g.cast(n.input(i), DType::f64); }

/// Both arguments in double and in the shape that they have together.
struct Two {
  Value *a, *b;
};
Two together(const TfNode& n, GraphBuilder& g) {
  Value* a = wide(n, g, 0);
  Value* b = wide(n, g, 1);
  Value* dims = g.shape(g.add(a, b));
  Value* expanded = g.op("Expand", {a, dims});
  return {expanded, g.op("Expand", {b, dims})};
}

Values incomplete_gamma(const TfNode& n, GraphBuilder& g, bool is_upper) {
  const Two in = together(n, g);
  return {g.cast(numeric::incomplete_gamma(g, in.a, in.b, is_upper), n.elem(0))};
}

Values bessel(const TfNode& n, GraphBuilder& g, int order, bool is_scaled) {
  return {g.cast(numeric::bessel(g, wide(n, g), order, is_scaled), n.elem(0))};
}

}  // namespace

Values lgamma(const TfNode& n, GraphBuilder& g) { return {g.cast(numeric::log_gamma(g, wide(n, g)), n.elem(0))}; }
Values digamma(const TfNode& n, GraphBuilder& g) { return {g.cast(numeric::digamma(g, wide(n, g)), n.elem(0))}; }
Values igamma(const TfNode& n, GraphBuilder& g) { return incomplete_gamma(n, g, false); }
Values igammac(const TfNode& n, GraphBuilder& g) { return incomplete_gamma(n, g, true); }

Values betainc(const TfNode& n, GraphBuilder& g) {
  Value* a = wide(n, g, 0);
  Value* b = wide(n, g, 1);
  Value* x = wide(n, g, 2);
  Value* dims = g.shape(g.add(g.add(a, b), x));
  a = g.op("Expand", {a, dims});
  b = g.op("Expand", {b, dims});
  x = g.op("Expand", {x, dims});
  return {g.cast(numeric::incomplete_beta(g, a, b, x), n.elem(0))};
}

Values zeta(const TfNode& n, GraphBuilder& g) {
  const Two in = together(n, g);
  return {g.cast(numeric::hurwitz_zeta(g, in.a, in.b), n.elem(0))};
}

Values polygamma(const TfNode& n, GraphBuilder& g) {
  const Two in = together(n, g);
  return {g.cast(numeric::polygamma(g, in.a, in.b), n.elem(0))};
}

Values erfinv(const TfNode& n, GraphBuilder& g) { return {g.cast(numeric::inverse_erf(g, wide(n, g)), n.elem(0))}; }

Values ndtri(const TfNode& n, GraphBuilder& g) {
  Value* y = g.sub(g.mul(wide(n, g), 2), 1);
  return {g.cast(g.mul(numeric::inverse_erf(g, y), std::numbers::sqrt2), n.elem(0))};
}

Values bessel_i0(const TfNode& n, GraphBuilder& g) { return bessel(n, g, 0, false); }
Values bessel_i0e(const TfNode& n, GraphBuilder& g) { return bessel(n, g, 0, true); }
Values bessel_i1(const TfNode& n, GraphBuilder& g) { return bessel(n, g, 1, false); }
Values bessel_i1e(const TfNode& n, GraphBuilder& g) { return bessel(n, g, 1, true); }

}  // namespace ingot::frontends::tensorflow
