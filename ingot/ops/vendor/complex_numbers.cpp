// com.microsoft: products and Fourier transforms of complex numbers, whose two parts are the last axis.
#include "ingot/ops/vendor/body.h"
#include "ingot/ops/vendor/catalog.h"

namespace ingot::ops {
namespace {

struct Parts {
  Value *real, *imaginary;
};
Parts parts_of(GraphBuilder& g, Value* x) {
  const Values halves = g.op("Split", {x}, {{"axis", -1}, {"num_outputs", 2}}, 2);
  return {halves[0], halves[1]};
}

Values product(DecomposeContext& c, bool is_conjugate) {
  GraphBuilder& g = c.g;
  const Parts a = parts_of(g, c.in(0)), b = parts_of(g, c.in(1));
  Value *rr = g.mul(a.real, b.real), *ii = g.mul(a.imaginary, b.imaginary);
  Value *ri = g.mul(a.real, b.imaginary), *ir = g.mul(a.imaginary, b.real);
  return {g.concat({is_conjugate ? g.add(rr, ii) : g.sub(rr, ii), is_conjugate ? g.sub(ir, ri) : g.add(ir, ri)}, -1)};
}
Values complex_mul(DecomposeContext& c) { return product(c, false); }
Values complex_mul_conj(DecomposeContext& c) { return product(c, true); }

Value* transformed(GraphBuilder& g, Value* x, std::int64_t axis, bool is_inverse, bool is_onesided) {
  return g.op("DFT", {x, nullptr, g.index(axis)}, {{"inverse", is_inverse}, {"onesided", is_onesided}});
}

/// Real signals along the last axes.
Values rfft(DecomposeContext& c) {
  const auto rank = c.rank(0);
  const std::int64_t axes = c.attr("signal_ndim", std::int64_t{1});
  const bool is_onesided = c.attr("onesided", std::int64_t{1}) != 0;
  if (!rank || axes < 1 || axes > *rank || c.attr("normalized", std::int64_t{0})) return {};
  Value* y = transformed(c.g, c.g.unsqueeze(c.in(0), {*rank}), *rank - 1, false, is_onesided);
  for (std::int64_t i = 2; i <= axes; ++i) y = transformed(c.g, y, *rank - i, false, false);
  return {y};
}

/// The other half is the mirror image of what is there.
Values irfft(DecomposeContext& c) {
  GraphBuilder& g = c.g;
  const auto rank = c.rank(0);
  const std::int64_t axes = c.attr("signal_ndim", std::int64_t{1});
  if (!rank || axes < 1 || axes >= *rank || c.attr("normalized", std::int64_t{0})) return {};
  Value* x = c.in(0);
  for (std::int64_t i = axes; i >= 2; --i) x = transformed(g, x, *rank - 1 - i, true, false);
  const std::int64_t last = *rank - 2;
  if (c.attr("onesided", std::int64_t{1}) != 0) {
    Value* rest = g.op("Slice", {x, g.ints({-2}), g.ints({0}), g.ints({last}), g.ints({-1})});
    Value* mirrored = g.mul(rest, g.cast(g.constant(Tensor::of<float>({2}, {1, -1})), c.elem(0)));
    x = g.concat({x, mirrored}, last);
  }
  return {g.squeeze(parts_of(g, transformed(g, x, last, true, false)).real, {*rank - 1})};
}

}  // namespace

constinit const OpDef defs::microsoft::ComplexMul = {
    .name = "ComplexMul", .domain = kMicrosoft, .infer = infer_by_body, .decompose = complex_mul};
constinit const OpDef defs::microsoft::ComplexMulConj = {
    .name = "ComplexMulConj", .domain = kMicrosoft, .infer = infer_by_body, .decompose = complex_mul_conj};
constinit const OpDef defs::microsoft::Irfft = {
    .name = "Irfft", .domain = kMicrosoft, .infer = infer_by_body, .decompose = irfft};
constinit const OpDef defs::microsoft::Rfft = {
    .name = "Rfft", .domain = kMicrosoft, .infer = infer_by_body, .decompose = rfft};

}  // namespace ingot::ops
