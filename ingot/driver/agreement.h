#pragma once
#include <cstdint>
#include <string>

#include "ingot/ir/array.h"

namespace ingot::driver {

/// How near one model's numbers are to another's, summed up over runs.
class Agreement {
 public:
  /// What cannot be compared, since it is no array of numbers or has another shape, counts as nothing.
  void add(const Datum& expected, const Datum& got);

  bool is_known() const { return elements_ > 0; }
  /// The signal above the noise; more is better.
  double decibels() const;
  double largest() const { return largest_; }  // difference
  /// Rows of scores whose largest is the same, of all such rows.
  std::int64_t rows() const { return rows_; }
  std::int64_t same_rows() const { return same_rows_; }

 private:
  double signal_ = 0, noise_ = 0, largest_ = 0;
  std::int64_t elements_ = 0, rows_ = 0, same_rows_ = 0;
};

}  // namespace ingot::driver
