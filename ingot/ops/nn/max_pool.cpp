// MaxPool: the largest element of each window, and where it stands.
#include "ingot/ops/catalog.h"
#include "ingot/ops/math/wider_type.h"
#include "ingot/ops/nn/pool.h"

namespace ingot::ops {
namespace {

constexpr Step kSteps[] = {{.since = 10, .down = drop_dilations}};

}  // namespace

constinit const OpDef defs::MaxPool = {
    .name = "MaxPool",
    .infer = infer_pool,
    .steps = kSteps,
    .decompose = bfloat16_in_float,
};

}  // namespace ingot::ops
