#pragma once
#include "ingot/ops/steps.h"

namespace ingot::ops {

// Scatters with a reduction, for the versions whose updates replace only: one update after the other, so that places
// which are met twice are right. {} without a reduction.
Values scatter_nd_by_loop(DecomposeContext& c);
/// The same over the elements in one row.
Values scatter_elements_by_loop(DecomposeContext& c);

}  // namespace ingot::ops
