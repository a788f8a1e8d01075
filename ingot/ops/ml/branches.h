#pragma once
#include <cstdint>
#include <vector>

#include "ingot/ir/attribute.h"

namespace ingot::ops {

/// The attributes of TreeEnsemble as they are: branches may be shared between trees, and may ask whether a number is in
/// a set. Where branches lead is not checked.
struct Branches {
  using Ints = std::vector<std::int64_t>;
  static constexpr std::int64_t kMember = 6;  // the mode behind those of kTreeModes

  std::vector<double> splits, weights;
  Ints modes, features, yes, no, yes_leafs, no_leafs, missing, targets, roots;
  std::vector<std::vector<double>> sets;  // of the branches of mode kMember, sorted
  std::vector<std::size_t> set_of;        // by branch

  /// Throws Error where attributes are missing or differ in length.
  explicit Branches(const Attributes& attributes);

 private:
  void read_sets(const Attributes& attributes);
};

}  // namespace ingot::ops
