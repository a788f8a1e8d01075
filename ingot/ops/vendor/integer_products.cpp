// com.microsoft: products of integers that give floats, or integers again.
#include "ingot/ops/vendor/body.h"
#include "ingot/ops/vendor/catalog.h"
#include "ingot/ops/vendor/integer_product.h"

namespace ingot::ops {

Value* as_scalar(GraphBuilder& g, Value* x) {
  if (!x || !x->type.shape || x->type.shape->empty()) return x;
  for (const Dim& d : *x->type.shape)
    if (!d.is_known() || d.value() != 1) return x;
  return g.reshape(x, {});
}

Value* float_product(GraphBuilder& g, const IntegerProduct& p) {
  Value* sum = g.op("MatMulInteger", {p.a, p.b, as_scalar(g, p.a_zero), as_scalar(g, p.b_zero)});
  Value* scale = g.mul(as_scalar(g, p.a_scale), as_scalar(g, p.b_scale));
  Value* y = g.mul(g.cast(sum, p.a_scale->type.elem), scale);
  return p.bias ? g.add(y, p.bias) : y;
}

namespace {

/// A is rounded to 8 bits by its own range.
Values dynamic_quantize_matmul(DecomposeContext& c) {
  const Values a = c.g.op("DynamicQuantizeLinear", {c.in(0)}, {}, 3);
  return {float_product(c.g, {a[0], c.in(1), a[2], c.in(3), a[1], c.in(2), c.in(4)})};
}

Values matmul_integer_to_float(DecomposeContext& c) {
  return {float_product(c.g, {c.in(0), c.in(1), c.in(4), c.in(5), c.in(2), c.in(3), c.in(6)})};
}

/// C is in the scale of the sum; without a scale the result stays float.
Values q_gemm(DecomposeContext& c) {
  GraphBuilder& g = c.g;
  const auto turned = [&](std::size_t i, const char* name) {
    return c.attr(name, std::int64_t{0}) ? g.transpose(c.in(i), {1, 0}) : c.in(i);
  };
  Value* sum =
      g.op("MatMulInteger", {turned(0, "transA"), turned(3, "transB"), as_scalar(g, c.in(2)), as_scalar(g, c.in(5))});
  if (c.has(6)) sum = g.add(sum, c.in(6));
  Value* scale = g.mul(as_scalar(g, c.in(1)), as_scalar(g, c.in(4)));
  if (const float alpha = c.attr("alpha", 1.0f); alpha != 1.0f) scale = g.mul(scale, static_cast<double>(alpha));
  Value* floats = g.cast(sum, DType::f32);
  if (!c.has(7) || !c.has(8)) return {g.mul(floats, scale)};
  // One product, as ONNX Runtime rounds it.
  Value* steps = g.mul(floats, g.div(scale, as_scalar(g, c.in(7))));
  return {g.op("QuantizeLinear", {steps, g.scalar(1, DType::f32), as_scalar(g, c.in(8))})};
}

Values matmul_integer_16(DecomposeContext& c) {
  Value* a = c.g.cast(c.in(0), DType::i32);
  return {c.g.op("MatMul", {a, c.g.cast(c.in(1), DType::i32)})};
}

}  // namespace

constinit const OpDef defs::microsoft::DynamicQuantizeMatMul = {.name = "DynamicQuantizeMatMul",
                                                                .domain = kMicrosoft,
                                                                .infer = infer_by_body,
                                                                .decompose = dynamic_quantize_matmul};
constinit const OpDef defs::microsoft::MatMulInteger16 = {
    .name = "MatMulInteger16", .domain = kMicrosoft, .infer = infer_by_body, .decompose = matmul_integer_16};
constinit const OpDef defs::microsoft::MatMulIntegerToFloat = {
    .name = "MatMulIntegerToFloat", .domain = kMicrosoft, .infer = infer_by_body, .decompose = matmul_integer_to_float};
constinit const OpDef defs::microsoft::QGemm = {
    .name = "QGemm", .domain = kMicrosoft, .infer = infer_by_body, .decompose = q_gemm};

}  // namespace ingot::ops
