#pragma once
#include "ingot/ir/array.h"

namespace ingot {
class Budget;
class ThreadPool;
}  // namespace ingot

namespace ingot::engine {

/// The softmax of floats along an axis, or its logarithm, into an array of the same dimensions.
void softmax_along(const Array& x, std::int64_t axis, bool is_log, Array& y, ThreadPool& pool, const Budget& budget);

}  // namespace ingot::engine
