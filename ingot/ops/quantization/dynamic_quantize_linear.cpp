// DynamicQuantizeLinear: quantises to uint8 with the scale and zero point that the data itself gives.
#include <algorithm>
#include <cmath>

#include "ingot/base/checked.h"
#include "ingot/ops/catalog.h"
#include "ingot/ops/infer.h"
#include "ingot/ops/kernel.h"
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

// All arithmetic in float, as the formula has it. Where all numbers are 0, so is the scale.
void run(KernelContext& c) {
  const auto x = c.in(0).data<float>();
  float low = 0, high = 0;
  for (const float number : x) {
    low = std::min(low, number);
    high = std::max(high, number);
  }
  const float scale = (high - low) / 255;
  const float zero = scale == 0 ? 0 : std::nearbyint(std::clamp(0 - low / scale, 0.0f, 255.0f));
  const auto out = c.make(0, DType::u8, c.in(0).dims()).mutable_data<std::uint8_t>();
  for (std::size_t i = 0; i < x.size(); ++i) {
    const float number = scale == 0 ? 0 : std::nearbyint(x[i] / scale);
    out[i] = saturate_cast<std::uint8_t>(number + zero);
  }
  c.set(1, Array::scalar(scale));
  c.set(2, Array::scalar(saturate_cast<std::uint8_t>(zero)));
}

}  // namespace

constinit const OpDef defs::DynamicQuantizeLinear = {
    .name = "DynamicQuantizeLinear",
    .infer = infer,
    .decompose = decompose,
    .kernel = run,
};

}  // namespace ingot::ops
