#pragma once
#include "ingot/driver/format.h"

namespace ingot::driver {

/// Refuses a file that is known to be no model that Ingot reads: an empty one, a Git LFS pointer, a page of the web, an
/// archive, weights without a graph ... Says what it is and what to do about it. Other files pass.
void refuse_other_files(const Source& source);

}  // namespace ingot::driver
