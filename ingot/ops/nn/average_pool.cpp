// AveragePool: the mean of each window.
#include "ingot/ops/catalog.h"
#include "ingot/ops/nn/pool.h"

namespace ingot::ops {
namespace {

constexpr Step kSteps[] = {{.since = 19, .down = drop_dilations}};

}  // namespace

constinit const OpDef defs::AveragePool = {.name = "AveragePool", .infer = infer_pool, .steps = kSteps};

}  // namespace ingot::ops
