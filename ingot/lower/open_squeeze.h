#pragma once
#include "ingot/passes/legalize/rewrite.h"

namespace ingot::lower {

/// PyTorch writes squeeze(axis) of an open size as an If: where the size is 1 the axis goes, else all stays. What
/// follows is made for one rank, so it becomes the Squeeze, which ends a run in which that size is another.
Values rewrite_open_squeeze(passes::legalize::Rewriting& r);

}  // namespace ingot::lower
