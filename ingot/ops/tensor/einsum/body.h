#pragma once
#include "ingot/ops/steps.h"

namespace ingot::ops {

/// Einsum in products, transposes and sums, two operands at a time; {} where ranks are not known.
Values einsum_by_products(DecomposeContext& c);

}  // namespace ingot::ops
