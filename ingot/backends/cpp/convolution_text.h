#pragma once
#include <string_view>

namespace ingot::backends::cpp {

/// Of all channels, by panels; of each channel alone. What $ stands for: matrix.h.
extern const std::string_view kConvolution, kDepthwise;

}  // namespace ingot::backends::cpp
