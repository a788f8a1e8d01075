#pragma once
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "ingot/ir/graph.h"
#include "ingot/ops/nn/static_window.h"

namespace ingot::backends {

/// What TensorFlow and its relatives have in common: spatial operators over data with channels last.

/// Whether the framework's operator wants channels last.
bool is_spatial(const Node& node);

/// Operators that these frameworks have for the last axis only, or for channels last only, bring two transposes with
/// them: the bytes that those would move under the permutation.
std::int64_t transpose_penalty(const Node& node, std::span<const std::int64_t> perm);

/// How a window slides over the spatial axes, all sizes as numbers where they are known.
struct Sliding : ops::StaticWindow {
  std::vector<std::int64_t> before, after;  // explicit padding; of no use with same_upper over sizes that are not known
  bool same_upper = false;                  // asked for by that name
  bool is_known = true;                     // padding and sizes could be computed

  /// The padding is what these frameworks call SAME.
  bool is_same(const Shape& x) const;
  bool is_valid() const;
};

/// Reads the attributes of a node whose data have their channels last. `kernel`: the window's sizes.
Sliding sliding(const Node& node, const std::vector<std::int64_t>& kernel);

/// Where an axis, which may count from the end, stands among `rank`. Throws where there is none: graphs may be
/// unchecked.
std::size_t place_of_axis(std::int64_t axis, std::size_t rank);

/// Of a Pad with constant amounts: before and after, per axis.
std::vector<std::pair<std::int64_t, std::int64_t>> constant_pads(const Node& pad);

}  // namespace ingot::backends
