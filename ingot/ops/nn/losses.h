#pragma once
#include "ingot/ops/kernel.h"

namespace ingot::ops {

/// The first output of a loss node from log-probabilities [N, C, d...], float or double, which need not be its input:
/// those of its targets, weighted and reduced as its attributes say.
void put_loss(KernelContext& c, const Array& log_probabilities);

}  // namespace ingot::ops
