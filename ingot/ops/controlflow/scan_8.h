#pragma once
#include "ingot/ops/steps.h"

namespace ingot::ops {

/// Scan-8 ran over a batch of sequences. That is a Scan-9 over the batch whose body loops over one sequence.
void scan_8_to_9(StepContext& c);

}  // namespace ingot::ops
