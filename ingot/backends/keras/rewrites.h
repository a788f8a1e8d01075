#pragma once
#include <vector>

#include "ingot/ir/graph.h"
#include "ingot/passes/legalize/rewrite.h"

namespace ingot::backends::keras {

/// Recurrent operators with the batch first, and transposes that meet.
const std::vector<passes::legalize::Rewrite>& recurrent_rewrites();

/// Whether a transpose has taken the batch of a value from its place.
bool has_moved_batch(const Value* v);
/// Whether a recurrent operator gives the value: a layer gives it without the axis of directions.
bool is_of_cells(const Value* v);

}  // namespace ingot::backends::keras
