#pragma once

namespace ingot::cli {

/// docs/errors.md: a row per code, "| IG0312 | bad_name | 3 | meaning | what to do |".
extern const char* const kErrorsPage;

}  // namespace ingot::cli
