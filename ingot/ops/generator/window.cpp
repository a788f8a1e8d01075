// BlackmanWindow, HammingWindow and HannWindow: sums of cosines over one period.
#include "ingot/ops/math/type_attribute.h"
#include "ingot/ops/steps.h"

namespace ingot::ops {
namespace {

void infer(InferContext& c) {
  out_elem_from_attribute(c, "output_datatype", DType::f32);
  if (const Shape* s = c.shape(0)) c.require(may_equal(product(*s), 1), "size is not one number");
  const auto known = c.ints(0);
  Dim size = known && known->size() == 1 ? known->front() : Dim();
  c.require(!size.is_known() || size.value() > 0, "size is not positive");
  c.out_shape(0, {size.is_unknown() ? c.data_dim(0, 0) : size});
}

/// a0 - a1 cos(t) + a2 cos(2t), t going round once in `size` steps (one less where the window is symmetric).
Values decompose(DecomposeContext& c, double a0, double a1, double a2) {
  constexpr double kTau = 6.2831853071795864769;
  const std::int64_t to = c.attr("output_datatype", static_cast<std::int64_t>(DType::f32));
  if (!is_valid_dtype(to) || !c.has(0)) return {};
  GraphBuilder& g = c.g;
  Value* size = g.cast(c.in(0), DType::f32);
  Value* period = c.attr("periodic", std::int64_t{1}) != 0 ? size : g.sub(size, 1);
  Value* steps = g.op("Range", {g.scalar(0, DType::f32), size, g.scalar(1, DType::f32)});
  Value* angle = g.mul(steps, g.div(kTau, period));
  Value* window = g.sub(a0, g.mul(g.op("Cos", {angle}), a1));
  if (a2 != 0) window = g.add(window, g.mul(g.op("Cos", {g.mul(angle, 2)}), a2));
  return {g.cast(window, static_cast<DType>(to))};
}

Values blackman(DecomposeContext& c) { return decompose(c, 0.42, 0.5, 0.08); }
Values hamming(DecomposeContext& c) { return decompose(c, 25.0 / 46, 21.0 / 46, 0); }
Values hann(DecomposeContext& c) { return decompose(c, 0.5, 0.5, 0); }

}  // namespace

constinit const OpDef defs::BlackmanWindow = {
    .name = "BlackmanWindow",
    .infer = infer,
    .decompose = blackman,
};
constinit const OpDef defs::HammingWindow = {
    .name = "HammingWindow",
    .infer = infer,
    .decompose = hamming,
};
constinit const OpDef defs::HannWindow = {
    .name = "HannWindow",
    .infer = infer,
    .decompose = hann,
};

}  // namespace ingot::ops
