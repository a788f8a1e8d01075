// MaxPool: the largest element of each window, and where it stands.
#include "ingot/ops/catalog.h"
#include "ingot/ops/gradient.h"
#include "ingot/ops/math/wider_type.h"
#include "ingot/ops/nn/pool.h"

namespace ingot::ops {
namespace {

constexpr Step kSteps[] = {{.since = 10, .down = drop_dilations}};

// Where windows overlap, what arrives adds up; of equal elements MaxPool names the first.
Values gradient_max_pool(GradContext& c) {
  if (!c.dy()) return {};
  Value* places = nullptr;
  if (c.attr("storage_order", std::int64_t{0}) == 0) {
    places = c.ensure_output(1);
  } else {
    const Attrs attrs = c.same_attrs({"auto_pad", "ceil_mode", "dilations", "kernel_shape", "pads", "strides"});
    places = c.g.op("MaxPool", {c.x()}, attrs, 2)[1];
  }
  return {c.add_at(c.x(), places, c.dy())};
}

}  // namespace

constinit const OpDef defs::MaxPool = {
    .name = "MaxPool",
    .infer = infer_pool,
    .steps = kSteps,
    .decompose = bfloat16_in_float,
    .gradient = gradient_max_pool,
};

}  // namespace ingot::ops
