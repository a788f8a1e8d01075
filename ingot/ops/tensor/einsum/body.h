#pragma once
#include "ingot/ops/steps.h"

namespace ingot::ops {

/// Einsum in products, transposes and sums, two operands at a time; {} where ranks are not known.
Values einsum_by_products(DecomposeContext& c);

/// Whether that is one product of matrices, also where sizes are open: no letter of one operand is stretched in the
/// other, and letters that become one axis have known sizes.
bool is_einsum_of_matrices(const Node& node);

}  // namespace ingot::ops
