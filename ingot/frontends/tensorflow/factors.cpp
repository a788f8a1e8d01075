// Factors of matrices.
#include "ingot/frontends/numeric/factors.h"

#include "ingot/frontends/numeric/matrices.h"
#include "ingot/frontends/numeric/rotations.h"
#include "ingot/frontends/tensorflow/node.h"

namespace ingot::frontends::tensorflow {
namespace {

void require_real(const TfNode& n) {
  if (!is_float(n.elem(0))) n.unsupported("complex matrices");
}

/// In 32 bits at least.
Value* at_least_single(const TfNode& n, GraphBuilder& g) {
  return g.cast(n.input(0), n.elem(0) == DType::f64 ? DType::f64 : DType::f32);
}

}  // namespace

Values cholesky(const TfNode& n, GraphBuilder& g) {
  require_real(n);
  return {g.cast(numeric::cholesky(g, at_least_single(n, g)), n.elem(0))};
}

Values qr(const TfNode& n, GraphBuilder& g) {
  require_real(n);
  numeric::QrFactors f = numeric::qr_factors(g, at_least_single(n, g));
  if (!n.flag("full_matrices", false)) {
    Value* height = size_of(g, n.input(0), -2);
    Value* count = g.unsqueeze(g.op("Min", {height, size_of(g, n.input(0), -1)}), {0});
    f.q = numeric::first_columns(g, f.q, count);
    f.r = g.op("Slice", {f.r, g.ints({0}), count, g.ints({-2})});
  }
  Value* q = g.cast(f.q, n.elem(0));
  return {q, g.cast(f.r, n.elem(0))};
}

Values self_adjoint_eig(const TfNode& n, GraphBuilder& g) {
  require_real(n);
  // The lower triangle counts.
  Value* full = g.cast(n.input(0), DType::f64);
  Value* lower = g.op("Trilu", {full}, {{"upper", 0}});
  Value* strict = g.op("Trilu", {full, g.index(-1)}, {{"upper", 0}});
  const numeric::Eigen made = numeric::eigen(g, g.add(lower, numeric::transposed_matrix(g, strict)));
  Value* e = g.cast(made.values, n.elem(0));
  if (!n.flag("compute_v", true)) return {e, g.constant(Tensor::of<float>({0}, std::vector<float>()))};
  return {e, g.cast(numeric::ordered_columns(g, made.vectors, made.order), n.elem(0))};
}

Values svd(const TfNode& n, GraphBuilder& g) {
  require_real(n);
  const numeric::SingularValues made = numeric::singular_values(g, g.cast(n.input(0), DType::f64));
  Value* s = g.cast(made.values, n.elem(0));
  if (!n.flag("compute_uv", true)) {
    Value* nothing = g.cast(g.constant(Tensor::of<float>({0}, std::vector<float>())), n.elem(0));
    return {s, nothing, nothing};
  }
  const numeric::SingularVectors vectors = numeric::singular_vectors(g, made, n.flag("full_matrices", false));
  Value* u = g.cast(vectors.u, n.elem(0));
  return {s, u, g.cast(vectors.v, n.elem(0))};
}

}  // namespace ingot::frontends::tensorflow
