#pragma once
#include <cstdint>

#include "ingot/base/dtype.h"

// What reductions do to numbers of any type, compiled for each kind of CPU.

namespace ingot::engine {

enum class Fold : std::uint8_t { sum, magnitudes, squares, product, maximum, minimum };

/// Results are folded in double for sums and products of floats, else in the type itself: integers wrap around, and NaN
/// wins over every number.
struct FoldLoops {
  DType in = DType::undefined;  // of the results while they are folded
  void (*start)(void* results, std::int64_t n) = nullptr;
  /// result = fold of it and n neighbours.
  void (*row)(const void* x, std::int64_t n, void* result) = nullptr;
  /// results[i] = fold of the i-th of `count` rows of n neighbours.
  void (*rows)(const void* x, std::int64_t count, std::int64_t n, void* results) = nullptr;
  /// results[i] = fold of it and x[i], for n neighbours.
  void (*columns)(const void* x, std::int64_t n, void* results) = nullptr;

  explicit operator bool() const { return row != nullptr; }
};
/// Nothing: not for numbers of this type.
FoldLoops fold_loops(Fold op, DType type);

/// sums[i] += x[i] for n neighbours, and y[i] is the sum, before or after that. Sums are zero at first, and 8 bytes
/// each at most: of floats they are doubles.
using RunningLoop = void (*)(const void* x, std::int64_t n, bool is_exclusive, void* sums, void* y);
/// Null: not for numbers of this type.
RunningLoop running_loop(DType type);

struct PlaceLoops {
  /// The place of the best of n neighbours, the first or the last of equal ones.
  std::int64_t (*row)(const void* x, std::int64_t n, bool takes_last) = nullptr;
  /// For `wide` columns at most kWide, whose elements are `step` apart: the place of the best of n in each.
  void (*columns)(const void* x, std::int64_t n, std::int64_t step, std::int64_t wide, bool takes_last,
                  std::int64_t* places) = nullptr;

  static constexpr std::int64_t kWide = 256;
};
/// NaN is better than every number.
PlaceLoops place_loops(bool is_max, DType type);

}  // namespace ingot::engine
