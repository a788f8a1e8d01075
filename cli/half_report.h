#pragma once
#include <string>

#include "ingot/base/json.h"
#include "ingot/driver/edit.h"

namespace ingot::cli {

/// What became half precision and what did not, for people: lines that end with a newline.
std::string text_of(const driver::HalfReport& report);
Json to_json(const driver::HalfReport& report);

}  // namespace ingot::cli
