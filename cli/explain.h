#pragma once
#include <string>

namespace ingot::cli {

/// docs/errors.md: a row per code, "| IG0312 | bad_name | 3 | meaning | what to do |".
extern const char* const kErrorsPage;

struct Explanation {
  std::string code, name, meaning, remedy;
  int exit_code = 0;
};
/// Of IG0312, 312 or bad_name; refuses what is no error.
Explanation explain(const std::string& code);

}  // namespace ingot::cli
