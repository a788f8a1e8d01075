#pragma once
#include "ingot/lower/lowering.h"

namespace ingot::lower {

/// The sums [N, targets] of the votes of a TreeEnsemble for x, [N, C], by a Forest. No view: it has tests, thresholds or
/// sizes that a Forest has no room for, or too few trees to be worth it.
View ranked_votes(Lowering& lowering, const View& x, std::int64_t targets);

}  // namespace ingot::lower
