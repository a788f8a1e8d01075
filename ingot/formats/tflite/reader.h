#pragma once
#include <cstdint>

#include "ingot/base/bytes.h"
#include "ingot/formats/tflite/model.h"

namespace ingot {
class Budget;
}

namespace ingot::formats::tflite {

struct ReadOptions {
  Budget* budget = nullptr;  ///< null: unlimited
  /// Tables of a flatbuffer may be shared, so a small file can describe a huge model: what is copied out of it is
  /// limited to this, plus some bytes for each byte of the file. A plain operator has some 40 bytes there and ten times
  /// as many in memory.
  std::uint64_t copied_bytes = std::uint64_t{32} << 20;
  std::uint64_t copied_per_byte = 16;
};

/// Does the file begin as a TFLite file does?
bool looks_like_tflite(const Bytes& file);

/// Reads a file that need not be trusted. Buffers and custom options are views into it, the rest is copied.
/// Throws an Error that names the place if the file is damaged or contradicts itself.
Model read(const Bytes& file, const ReadOptions& options = {});

}  // namespace ingot::formats::tflite
