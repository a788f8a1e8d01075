#pragma once
#include <optional>
#include <span>
#include <vector>

#include "ingot/ir/graph.h"
#include "ingot/ir/transpose.h"
#include "ingot/passes/layout/layout.h"

namespace ingot::passes {

/// New axis j is old axis perm[j].
using Perm = std::vector<std::int64_t>;

/// The permutation that turns a tensor of one layout into the other.
Perm layout_perm(std::size_t rank, Layout from, Layout to);
inline Layout other(Layout layout) {
  return layout == Layout::channels_first ? Layout::channels_last : Layout::channels_first;
}
bool is_identity(const Perm& perm);
Perm inverse(const Perm& perm);
/// First a, then b.
Perm then(const Perm& a, const Perm& b);
/// Where an old axis, which may be negative, lies now.
std::int64_t moved_axis(const Perm& perm, std::int64_t axis);
using ingot::permuted;
using ingot::transposed;

/// The rank of a value that has a layout; 0: it has none.
std::size_t layout_rank(const Value* value);
/// The permutation of a Transpose; empty if the rank is not known or the attribute does not fit.
Perm perm_of(const Node& transpose);
/// Whether the permutation only moves dimensions of size 1: then nothing moves in memory.
bool moves_nothing(const Shape& shape, const Perm& perm);
/// The elements of an integer tensor that are known before running.
std::optional<std::vector<std::int64_t>> fixed_ints(const Value* value);

}  // namespace ingot::passes
