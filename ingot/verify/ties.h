#pragma once
#include <optional>
#include <string>
#include <vector>

#include "ingot/verify/agreement.h"
#include "ingot/verify/rounding.h"

namespace ingot::verify {

/// An output of both sides: their rows are what the first dimension that is not 1 counts.
struct RowsOfBoth {
  std::string name;  // in b
  Array a, b;
};

/// What the outputs are like once tied rows stand in a's order, output by output.
struct TiedRows {
  struct Output {
    Array b;
    Distance distance;
    std::optional<Distance> noise;
  };
  std::vector<Output> outputs;
  std::string note;
};

/// Detections and the best k come sorted by score; where two scores are nearer to each other than rounding can tell
/// apart, so may come their rows in either order. Puts such rows of b in a's order, all outputs alike. Nothing if no
/// column falls in both, if the order is the same, or if the outputs differ nevertheless. `runs` are b's values in runs
/// that differ by rounding. All outputs have the same number of rows.
std::optional<TiedRows> settle_ties(const std::vector<RowsOfBoth>& outputs, const RoundedValues& runs);

/// The number of rows; 0 if there are no two of them.
std::int64_t rows_of(const Array& array);

}  // namespace ingot::verify
