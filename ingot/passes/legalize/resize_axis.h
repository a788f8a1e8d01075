#pragma once
#include <string>
#include <vector>

#include "ingot/ir/graph.h"

namespace ingot::passes::legalize {

/// One axis of a Resize whose sizes are known, or open and the same (then both are 1).
struct ResizeAxis {
  std::int64_t in, out;
  double scale;
};
std::vector<ResizeAxis> resize_axes(const Node& node);
/// Where element i of the result lies in the source, by coordinate_transformation_mode.
double resize_source(const std::string& mode, const ResizeAxis& axis, std::int64_t i);

/// Whether only a run knows the sizes, scales or region of a Resize.
bool is_resized_by_run(const Node& node);

}  // namespace ingot::passes::legalize
