#pragma once
#include <cstdint>

#include "ingot/formats/pickle/value.h"

namespace ingot {
class Budget;
}

namespace ingot::formats::pickle {

/// Whether an instance stands for an array whose data follows in the stream.
bool is_joblib_array(const Value& instance);

struct JoblibArray {
  std::uint64_t bytes = 0;
  bool is_objects = false;  // a pickle follows instead
  bool is_padded = false;   // a length and so many bytes of padding come first
};
/// What follows the instance; refuses one that does not tell.
JoblibArray describe_joblib_array(const Value& instance);

/// What a compressed joblib file holds, or the file itself. Takes zlib, gzip, bz2, xz, lzma, lz4 and the zlib container
/// of joblib before 0.9.3.
Bytes decompressed(const Bytes& file, Budget* budget = nullptr);
/// Whether the file is compressed by one of these, and holds a pickle.
bool looks_like_compressed_pickle(const Bytes& file);

}  // namespace ingot::formats::pickle
