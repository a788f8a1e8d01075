// Spatial operators over data with channels last: which they are, what they cost, how their windows slide.
#include "ingot/backends/channels_last.h"

#include <algorithm>
#include <limits>

#include "ingot/base/checked.h"
#include "ingot/base/error.h"
#include "ingot/ops/infer.h"
#include "ingot/passes/layout/axes.h"

namespace ingot::backends {
namespace {

using Ints = std::vector<std::int64_t>;

constexpr std::string_view kSpatial[] = {"AveragePool", "Conv",    "ConvTranspose", "DepthToSpace",
                                         "LRN",         "MaxPool", "SpaceToDepth"};

/// There and back, for sizes that may be assumed.
std::int64_t bytes_of_two(const Value* v) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max() / 4;
  std::uint64_t n = 8;
  for (const Dim& d : *v->type.shape)
    n = checked_mul(n, static_cast<std::uint64_t>(std::clamp<std::int64_t>(d.as_int().value_or(64), 1, 1 << 16)))
            .value_or(kMost);
  return static_cast<std::int64_t>(std::min<std::uint64_t>(n, kMost));
}

}  // namespace

bool is_spatial(const Node& node) { return std::ranges::binary_search(kSpatial, node.op); }

std::int64_t transpose_penalty(const Node& node, std::span<const std::int64_t> perm) {
  const Value* x = node.input(0);
  if (!x || !x->type.shape || x->type.shape->size() != perm.size()) return 0;
  const passes::Perm order(perm.begin(), perm.end());
  const auto last = static_cast<std::int64_t>(perm.size()) - 1;
  if (node.is("Softmax") || node.is("LogSoftmax") || node.is("TopK"))
    return passes::moved_axis(order, node.attributes.int_or("axis", -1)) == last ? 0 : bytes_of_two(x);
  if (node.is("Resize")) {
    const Shape &in = *x->type.shape, &out = *node.output(0)->type.shape;
    const auto channels = static_cast<std::size_t>(order.back());
    return same(in[channels], out[channels]) ? 0 : bytes_of_two(x);
  }
  return 0;
}

Sliding sliding(const Node& node, const Ints& kernel) {
  Sliding s;
  s.kernel = kernel;
  s.strides = node.attributes.ints_or("strides", Ints(s.rank(), 1));
  s.dilations = node.attributes.ints_or("dilations", Ints(s.rank(), 1));
  const Ints pads = node.attributes.ints_or("pads", Ints(2 * s.rank(), 0));
  s.before.assign(pads.begin(), pads.begin() + static_cast<std::ptrdiff_t>(s.rank()));
  s.after.assign(pads.begin() + static_cast<std::ptrdiff_t>(s.rank()), pads.end());
  const std::string auto_pad = node.attributes.string_or("auto_pad", "NOTSET");
  const Shape &x = *node.input(0)->type.shape, &y = *node.output(0)->type.shape;
  if (auto_pad == "VALID") s.before = s.after = Ints(s.rank(), 0);
  s.same_upper = auto_pad == "SAME_UPPER";
  const bool is_same = auto_pad.starts_with("SAME"), ceils = node.attributes.int_or("ceil_mode", 0) != 0;
  for (std::size_t i = 0; i < s.rank() && (is_same || ceils); ++i) {
    const Dim &in = x[i + 1], &out = y[i + 1];
    if (!in.is_known() || !out.is_known()) {
      s.is_known = s.is_known && s.same_upper && !ceils;
      continue;
    }
    const std::int64_t total = (out.value() - 1) * s.strides[i] + s.extent(i) - in.value();
    if (is_same) {
      const ops::Padding padding = ops::split_padding(total, s.same_upper);
      s.before[i] = padding.before;
      s.after[i] = padding.after;
    } else {
      // The last window may reach further.
      s.after[i] = std::max(s.after[i], std::max<std::int64_t>(total, 0) - s.before[i]);
    }
  }
  return s;
}

bool Sliding::is_valid() const {
  const auto is_zero = [](std::int64_t p) { return p == 0; };
  return !same_upper && std::ranges::all_of(before, is_zero) && std::ranges::all_of(after, is_zero);
}

bool Sliding::is_same(const Shape& x) const {
  if (same_upper) return true;
  for (std::size_t i = 0; i < rank(); ++i) {
    const Dim& size = x[i + 1];
    if (strides[i] != 1 && !size.is_known()) return false;
    const ops::Padding padding = strides[i] == 1 ? ops::split_padding(extent(i) - 1) : same(i, size.value());
    if (padding != ops::Padding{before[i], after[i]}) return false;
  }
  return true;
}

std::size_t place_of_axis(std::int64_t axis, std::size_t rank) {
  const auto size = static_cast<std::int64_t>(rank);
  if (axis < -size || axis >= size) throw Error(Code::axis_out_of_range, "it names an axis that there is not");
  return static_cast<std::size_t>(axis < 0 ? axis + size : axis);
}

std::vector<std::pair<std::int64_t, std::int64_t>> constant_pads(const Node& pad) {
  const std::size_t rank = pad.input(0)->type.shape->size();
  std::vector<std::pair<std::int64_t, std::int64_t>> all(rank);
  const Ints pads = ops::constant_of(pad.input(1))->to_ints();
  Ints axes;
  if (pad.input(3))
    axes = ops::constant_of(pad.input(3))->to_ints();
  else
    for (std::size_t i = 0; i < rank; ++i) axes.push_back(static_cast<std::int64_t>(i));
  for (std::size_t k = 0; k < axes.size(); ++k) all[place_of_axis(axes[k], rank)] = {pads[k], pads[k + axes.size()]};
  return all;
}

}  // namespace ingot::backends
