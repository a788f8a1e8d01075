#pragma once
#include <optional>
#include <string>
#include <vector>

#include "ingot/base/json.h"
#include "ingot/driver/convert.h"
#include "ingot/verify/verify.h"

namespace ingot::cli {

/// All that there is to tell about one conversion.
struct Conversion {
  std::string input{}, output{};
  driver::ConvertReport report{};
  std::optional<verify::Verdict> verdict{};
};

/// For programs.
Json to_json(const Conversion& conversion);

/// For people: one page that needs no other file; `report` is what to_json gives.
std::string to_html(const Conversion& conversion, const Json& report);

}  // namespace ingot::cli
