#pragma once
#include <cstdint>
#include <vector>

#include "ingot/base/bytes.h"
#include "ingot/base/dtype.h"

namespace ingot::formats::idx {

/// What an idx file (the format of MNIST) holds, in C order and little-endian.
struct IdxArray {
  DType dtype = DType::undefined;
  std::vector<std::int64_t> dims;
  Bytes data;
};

/// Reads an idx file, also one packed by gzip. Every size is checked before it is believed.
IdxArray read(const Bytes& file);

/// Whether the file begins as idx files do, or as gzip does.
bool looks_like_idx(const Bytes& file);

}  // namespace ingot::formats::idx
