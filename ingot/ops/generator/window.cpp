// BlackmanWindow, HammingWindow and HannWindow: sums of cosines over one period.
#include <cmath>

#include "ingot/ops/compute.h"
#include "ingot/ops/math/type_attribute.h"
#include "ingot/ops/pace.h"
#include "ingot/ops/steps.h"

namespace ingot::ops {
namespace {

constexpr double kTau = 6.2831853071795864769;

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

/// The same in double; a symmetric window of one element is its middle.
void run(KernelContext& c, double a0, double a1, double a2) {
  const std::int64_t to = c.attr("output_datatype", static_cast<std::int64_t>(DType::f32));
  if (!is_valid_dtype(to)) c.fail("attribute 'output_datatype' is no element type");
  if (c.in(0).size() != 1) c.fail("size is not one number");
  const std::int64_t size = c.in(0).to_ints().front();
  if (size <= 0) c.fail("size is not positive");
  const double period = static_cast<double>(c.attr("periodic", std::int64_t{1}) != 0 ? size : size - 1);
  Array window = scratch(c, DType::f64, {size});
  const auto out = window.mutable_data<double>();
  Pace pace(c.host().budget());
  for (std::size_t i = 0; i < out.size(); ++i) {
    const double angle = period == 0 ? kTau / 2 : kTau * static_cast<double>(i) / period;
    out[i] = a0 - a1 * std::cos(angle) + a2 * std::cos(2 * angle);
    pace.step(1);
  }
  put(c, 0, window, static_cast<DType>(to));
}

void run_blackman(KernelContext& c) { run(c, 0.42, 0.5, 0.08); }
void run_hamming(KernelContext& c) { run(c, 25.0 / 46, 21.0 / 46, 0); }
void run_hann(KernelContext& c) { run(c, 0.5, 0.5, 0); }

}  // namespace

constinit const OpDef defs::BlackmanWindow = {
    .name = "BlackmanWindow",
    .infer = infer,
    .decompose = blackman,
    .kernel = run_blackman,
};
constinit const OpDef defs::HammingWindow = {
    .name = "HammingWindow",
    .infer = infer,
    .decompose = hamming,
    .kernel = run_hamming,
};
constinit const OpDef defs::HannWindow = {
    .name = "HannWindow",
    .infer = infer,
    .decompose = hann,
    .kernel = run_hann,
};

}  // namespace ingot::ops
