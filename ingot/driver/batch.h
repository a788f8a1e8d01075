#pragma once
#include <string>
#include <vector>

#include "ingot/ir/opaque_model.h"
#include "ingot/ir/type.h"

namespace ingot {
class Array;
class Budget;
}

namespace ingot::driver {

/// Gives a model another batch (passes/change_batch.h) and runs it beside the one it was: each example must give what
/// it gave before. Returns what a reader of a report should know, a line each.
std::vector<std::string> change_batch(Model& model, const Dim& batch, Budget* budget = nullptr);

/// Whether the first rows of two arrays are the same but for rounding.
bool are_alike(const Array& a, const Array& b, std::int64_t rows);

}  // namespace ingot::driver
