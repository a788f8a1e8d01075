#pragma once
#include <cstdint>
#include <string>

#include "ingot/ir/array.h"

namespace ingot::driver {

/// How near one model's numbers are to another's, summed up over runs.
class Agreement {
 public:
  /// What is no array counts as nothing.
  void add(const Datum& expected, const Datum& got);

  bool is_known() const { return has_reals() || integers_ > 0 || other_shapes_ > 0; }
  bool has_reals() const { return elements_ > 0; }
  /// The signal above the noise; more is better.
  double decibels() const;
  double largest() const { return largest_; }  // difference
  /// Rows of scores whose largest is the same, of all such rows.
  std::int64_t rows() const { return rows_; }
  std::int64_t same_rows() const { return same_rows_; }
  /// Elements that are no reals, and those that are equal.
  std::int64_t integers() const { return integers_; }
  std::int64_t same_integers() const { return same_integers_; }
  /// Arrays of another shape or type than expected, whose elements say nothing, of all arrays.
  std::int64_t other_shapes() const { return other_shapes_; }
  std::int64_t arrays() const { return arrays_; }

 private:
  double signal_ = 0, noise_ = 0, largest_ = 0;
  std::int64_t elements_ = 0, rows_ = 0, same_rows_ = 0;
  std::int64_t integers_ = 0, same_integers_ = 0, other_shapes_ = 0, arrays_ = 0;
};

}  // namespace ingot::driver
