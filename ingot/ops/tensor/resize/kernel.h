#pragma once
#include <span>

#include "ingot/ops/kernel.h"
#include "ingot/ops/tensor/resize/axis.h"

namespace ingot::ops {

/// Resize: one axis after the other, in double precision.
void run_resize(KernelContext& c);

/// What a Resize does to each axis of its input.
std::vector<ResizedAxis> resized_axes(KernelContext& c, const Array& x, const ResizeMode& mode);
/// The nearest pixel for each position of the result along an axis; -1 outside.
void set_nearest(const ResizedAxis& axis, const ResizeMode& mode, std::span<std::int64_t> map);
/// What stands outside.
Array extrapolation_value(KernelContext& c);

}  // namespace ingot::ops
