// ConvInteger, MatMulInteger, QLinearConv, QLinearMatMul: products of quantised operands.
#include "ingot/ops/catalog.h"
#include "ingot/ops/nn/conv.h"
#include "ingot/ops/steps.h"
#include "ingot/ops/tensor/matmul.h"

namespace ingot::ops {
namespace {

void infer_conv_integer(InferContext& c) { infer_conv(c, 0, 1, c.input_count()); }
void infer_qlinear_conv(InferContext& c) { infer_conv(c, 0, 3, 8); }
void infer_matmul_integer(InferContext& c) { infer_matmul(c, 0, 1); }
void infer_qlinear_matmul(InferContext& c) { infer_matmul(c, 0, 3); }

/// Until 20 all scales were float, which holds those of the smaller types exactly.
void down_qlinear_matmul_21(StepContext& c) {
  for (const std::size_t i : {std::size_t{1}, std::size_t{4}, std::size_t{6}}) {
    const DType elem = c.type(i).elem;
    if (elem == DType::f16 || elem == DType::bf16) c.node.set_input(i, c.g.cast(c.node.input(i), DType::f32));
  }
}

constexpr Step kQLinearMatMulSteps[] = {{.since = 21, .down = down_qlinear_matmul_21}};

}  // namespace

constinit const OpDef defs::ConvInteger = {.name = "ConvInteger", .infer = infer_conv_integer};
constinit const OpDef defs::MatMulInteger = {.name = "MatMulInteger", .infer = infer_matmul_integer};
constinit const OpDef defs::QLinearConv = {.name = "QLinearConv", .infer = infer_qlinear_conv};
constinit const OpDef defs::QLinearMatMul = {
    .name = "QLinearMatMul", .infer = infer_qlinear_matmul, .steps = kQLinearMatMulSteps};

}  // namespace ingot::ops
