#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ingot/ir/model.h"

namespace ingot::passes {

/// Where the batch is taken to be in a dimension that it shares: the factor that changes slowest, or fastest; or in the
/// first dimension of several that can have it.
enum class BatchGuess { outer, inner, earliest };

/// Gives a model another batch, a number or a name: the first dimension of the inputs that share it. What carries a
/// batch that the model fixes follows, where inference shows that it does: targets of Reshape, shapes of Expand, sizes
/// of Resize, ends of Slice, first states of recurrent layers, what Concat joins, constants that are alike for all examples.
/// Returns a line for each such place.
/// Refuses models in which an output would not have the new batch, naming the node in the way.
std::vector<std::string> change_batch(Model& model, const Dim& batch, BatchGuess guess = BatchGuess::outer);

/// The number that the inputs fix as their first dimension; nothing: it is open, or there is none.
std::optional<std::int64_t> fixed_batch(const Model& model);

}  // namespace ingot::passes
