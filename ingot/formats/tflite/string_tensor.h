#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ingot/base/bytes.h"

namespace ingot::formats::tflite {

/// The texts of a STRING tensor, as views into its data. Throws Error if the data is damaged.
std::vector<std::string_view> string_elements(const Bytes& data);

/// The data of a STRING tensor with these texts.
Bytes string_data(std::span<const std::string> texts);

}  // namespace ingot::formats::tflite
