// LpPool: the Lp norm of each window.
#include "ingot/ops/catalog.h"
#include "ingot/ops/nn/pool.h"

namespace ingot::ops {
namespace {

constexpr Step kSteps[] = {{
                               .since = 2,
                               .up =
                                   [](StepContext& c) {
                                     if (!c.node.attributes.has("kernel_shape"))
                                       c.cannot("kernel_shape is missing, which version 1 allowed without a meaning");
                                     norm_order_to_int(c);
                                   },
                               .down = norm_order_to_float,
                           },
                           {.since = 18, .down = drop_dilations}};

}  // namespace

constinit const OpDef defs::LpPool = {.name = "LpPool", .infer = infer_pool, .steps = kSteps};

}  // namespace ingot::ops
