// LRN: local response normalization across neighbouring channels.
#include "ingot/ops/catalog.h"
#include "ingot/ops/infer.h"
#include "ingot/ops/math/wider_type.h"

namespace ingot::ops {
namespace {

void infer(InferContext& c) {
  c.require(c.need_int("size").value_or(1) >= 1, "attribute 'size' must be positive");
  if (const auto rank = c.rank(0)) c.require(*rank >= 2, "the input has no channels");
  c.out_shape_like(0, 0);
}

}  // namespace

constinit const OpDef defs::LRN = {
    .name = "LRN",
    .infer = infer,
    .decompose = bfloat16_in_float,
};

}  // namespace ingot::ops
