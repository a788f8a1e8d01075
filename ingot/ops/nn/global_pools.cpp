// GlobalAveragePool, GlobalMaxPool, GlobalLpPool: one window that covers all spatial axes.
#include "ingot/ops/catalog.h"
#include "ingot/ops/math/wider_type.h"
#include "ingot/ops/nn/pool.h"

namespace ingot::ops {
namespace {

constexpr Step kLpSteps[] = {{.since = 2, .up = norm_order_to_int, .down = norm_order_to_float}};

}  // namespace

constinit const OpDef defs::GlobalAveragePool = {
    .name = "GlobalAveragePool",
    .infer = infer_global_pool,
    .decompose = bfloat16_in_float,
};
constinit const OpDef defs::GlobalLpPool = {
    .name = "GlobalLpPool",
    .infer = infer_global_pool,
    .steps = kLpSteps,
    .decompose = bfloat16_in_float,
};
constinit const OpDef defs::GlobalMaxPool = {
    .name = "GlobalMaxPool",
    .infer = infer_global_pool,
    .decompose = bfloat16_in_float,
};

}  // namespace ingot::ops
