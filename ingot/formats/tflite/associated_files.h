#pragma once
#include <cstdint>

#include "ingot/base/bytes.h"

namespace ingot::formats::tflite {

/// The ZIP archive that may be glued behind a model; empty if there is none behind
/// `model_end`.
Bytes associated_files(const Bytes& file, std::uint64_t model_end);

}  // namespace ingot::formats::tflite
