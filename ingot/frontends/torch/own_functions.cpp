// The functions of archives that Ingot wrote: what ONNX's operators of run-time axes, bounds and boxes became there.
#include "ingot/frontends/torch/call.h"

namespace ingot::frontends::torch {

Item own_squeeze_axes(const Call& c) { return c.g().op("Squeeze", {c.tensor(0), c.index_vector(1)}); }
Item own_slice_axes(const Call& c) {
  Values inputs{c.tensor(0)};
  for (std::size_t i = 1; i < 5; ++i) {
    const auto* parts = parts_of(c.arg(i));
    inputs.push_back(parts && parts->empty() ? nullptr : c.index_vector(i));
  }
  if (!inputs[1] || !inputs[2]) return c.arg(0);  // no axis is cut
  while (!inputs.back()) inputs.pop_back();
  return c.g().op("Slice", inputs);
}
Item own_non_max_suppression(const Call& c) {
  GraphBuilder& g = c.g();
  const auto number = [&](std::size_t i) { return g.reshape(g.cast(c.tensor(i), DType::f32), {1}); };
  return g.op("NonMaxSuppression", {c.tensor(0), c.tensor(1), g.reshape(c.index(2), {1}), number(3), number(4)},
              {{"center_point_box", c.flag(5)}});
}

}  // namespace ingot::frontends::torch
