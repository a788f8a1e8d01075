// Gelu: x times the normal distribution's cumulative probability of x.
#include <cmath>

#include "ingot/ops/compute.h"
#include "ingot/ops/infer.h"
#include "ingot/ops/steps.h"

namespace ingot::ops {
namespace {

void infer(InferContext& c) {
  const std::string approximate = c.attr("approximate", "none");
  c.require(approximate == "none" || approximate == "tanh", "approximate is neither 'none' nor 'tanh'");
  infer_same_shape(c);
}

Values decompose(DecomposeContext& c) {
  if (c.elem(0) == DType::undefined) return {};
  Value *x = c.in(0), *wave;
  if (c.attr("approximate", "none") == "tanh") {
    constexpr double kSqrtTwoOverPi = 0.79788456080286535588;
    Value* cubed = c.g.op("Pow", {x, c.g.scalar(3, c.elem(0))});
    wave = c.g.op("Tanh", {c.g.mul(c.g.add(x, c.g.mul(cubed, 0.044715)), kSqrtTwoOverPi)});
  } else {
    constexpr double kSqrtTwo = 1.41421356237309504880;
    wave = c.g.op("Erf", {c.g.div(x, kSqrtTwo)});
  }
  Value *half = c.g.mul(x, 0.5), *twice_probability = c.g.add(wave, 1);
  return {c.g.mul(half, twice_probability)};
}

void run(KernelContext& c) {
  const std::string approximate = c.attr("approximate", "none");
  if (approximate != "none" && approximate != "tanh") c.fail("approximate is neither 'none' nor 'tanh'");
  map_unary(c, ComputeFloats{}, [is_tanh = approximate == "tanh"]<class T>(T x) {
    if (!is_tanh) return x / 2 * std::erfc(-x * static_cast<T>(0.70710678118654752440));
    constexpr T kSqrtTwoOverPi = static_cast<T>(0.79788456080286535588);
    return x / 2 * (1 + std::tanh(kSqrtTwoOverPi * (x + static_cast<T>(0.044715) * x * x * x)));
  });
}

}  // namespace

constinit const OpDef defs::Gelu = {
    .name = "Gelu",
    .infer = infer,
    .decompose = decompose,
    .kernel = run,
};

}  // namespace ingot::ops
