#pragma once
#include <string>

namespace ingot::cli {

/// The curves of a training run as SVG, from what `train --log` wrote: a line of JSON per step and epoch. Refuses a
/// file without any step.
std::string curves_of_log(const std::string& path);

}  // namespace ingot::cli
