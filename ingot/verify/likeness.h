#pragma once
#include <cstdint>
#include <string>

#include "ingot/ir/array.h"

namespace ingot::verify {

/// How alike two tensors are over many inputs, where single elements say little: quantised networks.
class Likeness {
 public:
  /// `a` is what the other is measured by; both have the same shape.
  void add(const Array& a, const Array& b);

  /// Signal to noise in decibels: the power of a over that of the difference.
  double decibels() const;
  /// The share of rows (the last axis) whose largest element is at the same place; 1 if rows have one element.
  double same_first() const;
  /// "31.2 dB, the same first place in 9 of 10 rows"
  std::string text() const;

 private:
  double signal_ = 0, error_ = 0;
  std::int64_t rows_ = 0, same_ = 0;
};

/// Whether two models are as alike as one is to itself when its roundings fall the other way: within 3 dB, and first
/// places with a fifth of the disagreement to spare, at least one row in ten.
bool is_as_alike(const Likeness& pair, const Likeness& shaken);

}  // namespace ingot::verify
