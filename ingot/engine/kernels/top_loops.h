#pragma once
#include <algorithm>
#include <cstdint>

#include "ingot/base/dtype.h"

namespace ingot::engine {

/// Lanes of numbers of one type, `inner` of them side by side, and where the best k, at least one, of each go to.
struct TopLanes {
  static constexpr std::int64_t kWide = 16;  // lanes side by side that are read together: a strip

  const void* x;
  std::int64_t size, inner;
  std::int64_t k;
  bool is_largest;
  void* best;
  std::int64_t* places;

  std::int64_t strips() const { return (inner + kWide - 1) / kWide; }
};

/// Fills in the best of the strips [begin, end), in order: of equal numbers the first comes first, NaN is larger than
/// every number.
using TopLoop = void (*)(const TopLanes& lanes, std::int64_t begin, std::int64_t end);
/// Null: not for numbers of this type.
TopLoop top_loop(DType type);

}  // namespace ingot::engine
