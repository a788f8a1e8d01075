#pragma once
#include <cstdint>
#include <functional>
#include <vector>

#include "ingot/ops/builder.h"

namespace ingot::ops {

/// Whether bytes hold elements of so many bits.
inline bool is_packing(std::int64_t bits) { return bits == 2 || bits == 4 || bits == 8; }

/// Bytes that hold elements of 2 or 4 bits, lowest bits first, as a byte for each element: the last axis grows.
/// 8 bits: as they are. The rank must be known.
Value* unpacked(GraphBuilder& g, Value* bytes, std::int64_t bits);

/// What MatMulNBits is told of its weights: n rows of k elements of so many bits, in blocks of a size.
struct NBits {
  std::int64_t k, n, bits, size;
  std::int64_t count() const { return (k + size - 1) / size; }
  std::int64_t middle() const { return std::int64_t{1} << (bits - 1); }
};
using ElementOfRow = std::function<std::int64_t(std::int64_t row, std::int64_t i)>;
/// Its second input. Rows are filled up to whole blocks.
Tensor packed_weights(const NBits& b, const ElementOfRow& element);
/// Its fourth input, from the zero point of each block.
Tensor packed_zeros(const NBits& b, const ElementOfRow& zero);

}  // namespace ingot::ops
