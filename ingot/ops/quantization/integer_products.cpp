// ConvInteger, MatMulInteger, QLinearConv, QLinearMatMul: products of quantised operands.
#include "ingot/ops/catalog.h"
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
    .kernel = run_qlinear_conv,
};
constinit const OpDef defs::QLinearMatMul = {
    .name = "QLinearMatMul",
    .infer = infer_qlinear_matmul,
    .decompose = decompose_qlinear_matmul,
    .kernel = run_qlinear_matmul,
};

}  // namespace ingot::ops
