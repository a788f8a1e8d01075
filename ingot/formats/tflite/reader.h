#pragma once
#include <cstdint>

#include "ingot/base/bytes.h"
#include "ingot/formats/tflite/model.h"

namespace ingot::formats::tflite {

/// Tables of a flatbuffer may be shared, so a small file can describe a huge model: what is copied out of it is
/// counted.
struct ReadLimits {
  std::uint64_t copied_bytes = std::uint64_t{32} << 20;  ///< plus
  std::uint64_t copied_per_byte = 4;                     ///< for each byte of the file
};

/// Does the file begin as a TFLite file does?
bool looks_like_tflite(const Bytes& file);

/// Reads a file that need not be trusted. Buffers and custom options are views into it, the rest is copied.
/// Throws an Error that names the place if the file is damaged or contradicts itself.
Model read(const Bytes& file, const ReadLimits& limits = {});

}  // namespace ingot::formats::tflite
