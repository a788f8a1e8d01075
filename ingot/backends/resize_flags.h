#pragma once
#include <vector>

#include "ingot/backends/refusals.h"
#include "ingot/ir/graph.h"
#include "ingot/passes/legalize/resize_axis.h"

namespace ingot::backends {

/// How TensorFlow's and TFLite's Resize operators place elements: which flags make them do what ONNX's asks for.
struct ResizeFlags {
  bool aligns, half;
};

/// The element of the input that ONNX's nearest mode takes for element i of the output.
std::int64_t nearest_element(const Node& resize, const passes::legalize::ResizeAxis& axis, std::int64_t i);

/// Flags that give the same result over the spatial axes from `first` on; the others must not change. Null: none.
/// `avoids_borders`: not where a place lies between two elements, so that other roundings take the other one.
const ResizeFlags* resize_flags(const Node& resize, const std::vector<passes::legalize::ResizeAxis>& axes,
                                std::size_t first, bool is_linear, bool avoids_borders);

/// Why neither TensorFlow nor TFLite, whose name is given, has an operator for a Resize of known rank, whatever its
/// elements. How much of the sizes must be known, each says itself.
Refused refuse_resize_of(const Node& resize, std::string_view framework, bool avoids_borders);

}  // namespace ingot::backends
