#pragma once

namespace ingot::verify {

/// The text of ort_bench.mjs, which `node` runs.
extern const char* const kOrtBenchScript;

}  // namespace ingot::verify
