// ConvInteger, MatMulInteger, QLinearConv, QLinearMatMul: products of quantised operands.
#include "ingot/ops/catalog.h"
#include "ingot/ops/math/wider_type.h"
#include "ingot/ops/nn/conv.h"
#include "ingot/ops/quantization/integer_products_kernel.h"
#include "ingot/ops/steps.h"
#include "ingot/ops/tensor/matmul.h"

namespace ingot::ops {
namespace {

void infer_conv_integer(InferContext& c) { infer_conv(c, 0, 1, c.input_count()); }
void infer_qlinear_conv(InferContext& c) { infer_conv(c, 0, 3, 8); }
void infer_matmul_integer(InferContext& c) { infer_matmul(c, 0, 1); }
void infer_qlinear_matmul(InferContext& c) { infer_matmul(c, 0, 3); }

/// Until 20 all scales were float, which holds those of the smaller types exactly.
Values decompose_qlinear_matmul(DecomposeContext& c) {
  Values inputs = c.node.inputs();
  bool is_any_cast = false;
  for (const std::size_t i : {std::size_t{1}, std::size_t{4}, std::size_t{6}}) {
    if (c.elem(i) != DType::f16 && c.elem(i) != DType::bf16) continue;
    inputs[i] = c.g.cast(inputs[i], DType::f32);
    is_any_cast = true;
  }
  return is_any_cast ? c.g.op("QLinearMatMul", inputs, {}, 1) : Values{};
}

/// A scale or zero point of one element as a scalar.
Value* as_scalar(GraphBuilder& g, Value* v) {
  if (!v || !v->type.shape || v->type.shape->size() != 1 || !same((*v->type.shape)[0], 1)) return v;
  return g.squeeze(v, {0});
}

bool is_scalar(const Value* v) { return !v || (v->type.shape && v->type.shape->empty()); }

/// x in float, by scale and zero point at inputs i + 1 and i + 2; per element of an axis where they are lists.
Value* dequantized(DecomposeContext& c, std::size_t i, std::int64_t axis) {
  Value* scale = as_scalar(c.g, c.in(i + 1));
  Value* zero = as_scalar(c.g, c.in(i + 2));
  if (zero && is_scalar(zero) && !is_scalar(scale)) zero = c.g.op("Expand", {zero, c.g.shape(scale)});
  return c.g.op("DequantizeLinear", {c.in(i), scale, zero}, {{"axis", axis}});
}

/// In float between dequantised operands and a quantised result, as graphs with quantisation on the edges have it.
Values by_floats_matmul(DecomposeContext& c) {
  GraphBuilder& g = c.g;
  if (Values wider = decompose_qlinear_matmul(c); !wider.empty()) return wider;
  const auto a = c.rank(0), b = c.rank(3);
  const Value *a_scale = as_scalar(g, c.in(1)), *b_scale = as_scalar(g, c.in(4)), *y_scale = as_scalar(g, c.in(6));
  if (!a || !b || c.elem(1) != DType::f32 || !is_scalar(a_scale) || !is_scalar(y_scale)) return {};
  if (!is_scalar(b_scale) && (!b_scale->type.shape || b_scale->type.shape->size() != 1)) return {};
  Value* left = dequantized(c, 0, 0);
  Value* right = dequantized(c, 3, *b - 1);
  Value* product = g.op("MatMul", {left, right});
  Value *scale = as_scalar(g, c.in(6)), *zero = as_scalar(g, c.in(7));
  return {g.op("QuantizeLinear", {product, scale, zero})};
}

Values by_floats_conv(DecomposeContext& c) {
  GraphBuilder& g = c.g;
  if (!c.rank(0) || !c.rank(3) || c.elem(1) != DType::f32) return {};
  Value* x = dequantized(c, 0, 0);
  Value* w = dequantized(c, 3, 0);
  Values inputs{x, w};
  if (c.has(8)) {
    Value *x_scale = as_scalar(g, c.in(1)), *w_scale = as_scalar(g, c.in(4));
    inputs.push_back(g.op("DequantizeLinear", {c.in(8), g.mul(x_scale, w_scale)}, {{"axis", 0}}));
  }
  Value* y = g.op("Conv", inputs, attributes_of(c.node));
  Value *scale = as_scalar(g, c.in(6)), *zero = as_scalar(g, c.in(7));
  return {g.op("QuantizeLinear", {y, scale, zero})};
}

}  // namespace

constinit const OpDef defs::ConvInteger = {
    .name = "ConvInteger",
    .infer = infer_conv_integer,
    .kernel = run_conv_integer,
};
constinit const OpDef defs::MatMulInteger = {
    .name = "MatMulInteger",
    .infer = infer_matmul_integer,
    .kernel = run_matmul_integer,
};
constinit const OpDef defs::QLinearConv = {
    .name = "QLinearConv",
    .infer = infer_qlinear_conv,
    .decompose = by_floats_conv,
    .kernel = run_qlinear_conv,
};
constinit const OpDef defs::QLinearMatMul = {
    .name = "QLinearMatMul",
    .infer = infer_qlinear_matmul,
    .decompose = by_floats_matmul,
    .kernel = run_qlinear_matmul,
};

}  // namespace ingot::ops
