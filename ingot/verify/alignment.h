#pragma once
#include <optional>
#include <string>
#include <vector>

#include "ingot/ir/array.h"
#include "ingot/ir/model.h"

namespace ingot::verify {

/// Where a tensor of 3 to 5 dimensions has its channels, as far as a model says so.
enum class ChannelPlace { unstated, first, last };

/// What the model states about one of its inputs or outputs.
ChannelPlace stated_place(const Model& model, const std::string& name);

/// Axis j of the result is axis perm[j] of the array.
Array transposed(const Array& array, const std::vector<std::int64_t>& perm);
/// Elements as numbers of another type; texts cannot be.
Array converted(const Array& array, DType to);

/// An array in the form that a value of `type` has: its type of numbers, its layout, its rank where only dimensions of
/// size 1 differ. What was done is appended to `changes`. Nothing if no such form is found.
std::optional<Array> fitted(const Array& array, ChannelPlace from, const Type& type, ChannelPlace to,
                            std::vector<std::string>& changes);

/// The array in other layouts that have these dimensions; the array itself first, if it has them.
std::vector<Array> in_layouts(const Array& array, const Dims& dims);

}  // namespace ingot::verify
