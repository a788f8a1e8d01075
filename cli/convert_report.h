#pragma once
#include <optional>
#include <string>
#include <vector>

#include "ingot/base/json.h"
#include "ingot/driver/convert.h"
#include "ingot/driver/load.h"
#include "ingot/verify/verify.h"

namespace ingot::cli {

/// All that there is to tell about one conversion.
struct Conversion {
  std::string input{}, output{};
  std::string input_format{}, output_format{};  // titles
  const Model* model = nullptr;                 // as it was written, or handed to the writer of another format
  driver::ConvertReport report{};
  std::optional<verify::Verdict> verdict{};
  std::string not_verified{};  // why there is no verdict
  double load_seconds = 0, convert_seconds = 0, write_seconds = 0;
};

/// For programs.
Json to_json(const Conversion& conversion);

/// For people: one page that needs no other file, made from what to_json gives.
std::string to_html(const Json& report);

}  // namespace ingot::cli
