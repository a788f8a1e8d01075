// DynamicQuantizeLinear: quantises to uint8 with the scale and zero point that the data itself gives.
#include "ingot/ops/catalog.h"
#include "ingot/ops/infer.h"
#include "ingot/ops/steps.h"

namespace ingot::ops {
namespace {

void infer(InferContext& c) {
  c.out_shape_like(0, 0);
  c.out_shape(1, {});
  c.out_shape(2, {});
}

Values decompose(DecomposeContext& c) {
  GraphBuilder& g = c.g;
  Value* x = c.in(0);
  if (!x) return {};
  Value *zero = g.scalar(0, DType::f32), *most = g.scalar(255, DType::f32);
  // The range always holds 0, so that 0 is exact.
  Value* low = g.op("Min", {g.op("ReduceMin", {x}, {{"keepdims", 0}}), zero});
  Value* high = g.op("Max", {g.op("ReduceMax", {x}, {{"keepdims", 0}}), zero});
  Value* scale = g.div(g.sub(high, low), most);
  Value* origin = g.op("Clip", {g.sub(zero, g.div(low, scale)), zero, most});
  Value* zero_point = g.cast(g.op("Round", {origin}), DType::u8);
  return {g.op("QuantizeLinear", {x, scale, zero_point}), scale, zero_point};
}

}  // namespace

constinit const OpDef defs::DynamicQuantizeLinear = {
    .name = "DynamicQuantizeLinear",
    .infer = infer,
    .decompose = decompose,
};

}  // namespace ingot::ops
