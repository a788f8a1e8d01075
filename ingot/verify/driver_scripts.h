#pragma once

namespace ingot::verify {

/// The drivers of drivers/, which `node` runs.
extern const char* const kOrtScript;
extern const char* const kTfjsScript;
extern const char* const kLitertScript;

}  // namespace ingot::verify
