#pragma once
#include <memory>

#include "ingot/engine/fast_kernel.h"
#include "ingot/ops/ml/forest.h"

namespace ingot::engine {

/// Whether trees whose leaves are all filled up to the depth of their tree would not be much larger.
bool are_nearly_full(const ops::Forest& forest);

/// Such trees, added up or averaged. `is_strict`: x < split goes on, else x <= split.
std::unique_ptr<PreparedNode> make_full_trees(const ops::Forest& forest, std::int64_t targets, bool is_average,
                                              bool is_strict);

}  // namespace ingot::engine
