#pragma once
#include <vector>

#include "ingot/frontends/tensorflow/translation.h"

namespace ingot::frontends::tensorflow {

/// Lists all operators without a translation that these nodes of the main graph need, also in functions, so that one
/// message names them all.
void check_operators(Translation& t, const std::vector<std::int32_t>& nodes);

}  // namespace ingot::frontends::tensorflow
