#pragma once
#include "ingot/passes/layout/problem.h"

namespace ingot::passes {

/// Gives every value the layout that the solved problem chose.
void apply_layouts(const LayoutProblem& problem);

}  // namespace ingot::passes
