#pragma once
#include <string>

#include "ingot/base/json.h"

namespace ingot::pages {

/// Whether source and result, or a model and its runtime, give the same numbers: of what `ingot verify --json` says.
std::string verdict_html(const Json& verdict);

}  // namespace ingot::pages
