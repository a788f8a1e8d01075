#pragma once
#include "ingot/ops/steps.h"

namespace ingot::ops {

// Until operator set 6 binary operators broadcast only their second input, only where the attribute `broadcast` says
// so, and to a run of the first one's dimensions that starts at `axis` (absent: the last ones). From 7 on they
// broadcast as numpy does.

/// f6(a, b, axis) = f7(a, Unsqueeze(b, the dimensions after its run)).
void up_from_legacy_broadcast(StepContext& c);
/// The reverse, where the second input is one run of the first one's dimensions between dimensions of size 1.
void down_to_legacy_broadcast(StepContext& c);
/// The same; the inputs may be swapped.
void down_to_legacy_broadcast_commuting(StepContext& c);

/// The rank of a value as a vector of one element, computed at run time.
Value* rank_of(GraphBuilder& g, Value* x);
/// x with as many dimensions of size 1 behind its own as `count` (a vector of one element) says at run time.
Value* with_trailing_ones(GraphBuilder& g, Value* x, Value* count);

inline constexpr Step kLegacyBroadcast[] = {
    {.since = 7, .up = up_from_legacy_broadcast, .down = down_to_legacy_broadcast}};
inline constexpr Step kLegacyBroadcastCommuting[] = {
    {.since = 7, .up = up_from_legacy_broadcast, .down = down_to_legacy_broadcast_commuting}};

}  // namespace ingot::ops
