// Softmax: exp(x) / sum(exp(x)) along one axis.
#include "ingot/ops/infer.h"
#include "ingot/ops/math/flattened_axis.h"

namespace ingot::ops {
namespace {

// Until 12, the axis split the input into a matrix and the softmax ran over all of its second half.
constexpr Step kSteps[] = {{.since = 13, .up = up_from_flattened_axis, .down = down_to_flattened_axis}};

void infer(InferContext& c) {
  if (const auto rank = c.rank(0)) c.axis(c.attr("axis", std::int64_t{-1}), *rank);
  c.out_shape_like(0, 0);
}

}  // namespace

constinit const OpDef defs::Softmax = {.name = "Softmax", .infer = infer, .steps = kSteps};

}  // namespace ingot::ops
