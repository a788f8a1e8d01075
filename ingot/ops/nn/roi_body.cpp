// RoiAlign and MaxRoiPool in simpler operators. Samples are linear along each axis on its own, and so is their mean;
// the largest element of a rectangle is the largest of the largest of its rows.
#include "ingot/ops/nn/roi_body.h"

#include <limits>

#include "ingot/ops/nn/sizes.h"

namespace ingot::ops {
namespace {

constexpr DType kPrecise = DType::f64;

/// The samples of each bin of each region along one axis, [regions, bins, samples] or of a shape that stretches to it.
struct Samples {
  Value* counts;      // the sample exists and lies within the image
  Value* is_taken;    // the sample exists: regions with fewer samples than others leave some out
  Value *low, *high;  // the elements around it
  Value* part;        // how near the second is
  Value* number;      // of samples in a bin: [regions, 1, 1]
};

/// `first` and `length` of the regions are [regions, 1, 1], `size` is a vector of one element.
Samples samples_along(DecomposeContext& c, Value* first, Value* length, std::int64_t bins, Value* size) {
  GraphBuilder& g = c.g;
  const DType elem = first->type.elem;
  const std::int64_t ratio = c.attr("sampling_ratio", std::int64_t{0});
  Value *zero = g.index(0), *one = g.index(1);
  Value* bin = g.div(length, static_cast<double>(bins));
  Value *samples = g.scalar(static_cast<double>(ratio), elem), *most = g.index(ratio);
  if (ratio == 0) {
    samples = g.op("Ceil", {bin});
    Value* at_least = g.reshape(g.scalar(1, elem), {1});
    Value* all = g.concat({at_least, g.reshape(samples, {-1})}, 0);
    most = g.cast(g.op("ReduceMax", {all}, {{"keepdims", 0}}), DType::i64);
  }
  Value* sample = g.cast(g.op("Range", {zero, most, one}), elem);
  Value* divisor = g.op("Max", {samples, g.scalar(1, elem)});
  Value* within = g.div(g.add(sample, 0.5), divisor);
  Value* bin_numbers = g.cast(g.op("Range", {zero, g.index(bins), one}), elem);
  Value* steps = g.add(g.unsqueeze(bin_numbers, {1}), within);
  Value* place = g.add(first, g.mul(steps, bin));
  Value* sizes = g.cast(size, elem);
  Value* is_taken = g.op("Less", {sample, samples});
  Value* is_after = g.op("GreaterOrEqual", {place, g.scalar(-1, elem)});
  Value* is_before = g.op("LessOrEqual", {place, sizes});
  Value* counts = g.op("And", {is_taken, g.op("And", {is_after, is_before})});

  Value* last = g.sub(sizes, 1);
  Value* clamped = g.op("Max", {place, g.scalar(0, elem)});
  Value* low = g.op("Min", {g.op("Floor", {clamped}), last});
  Value* high = g.op("Min", {g.add(low, 1), last});
  Value *is_end = g.op("Equal", {low, high}), *beyond = g.sub(clamped, low);
  Value* part = g.where(is_end, g.scalar(0, elem), beyond);
  return {counts, is_taken, low, high, part, samples};
}

/// What the elements of one axis weigh in each bin of each region: [regions, bins, size], double.
Value* weights_of(GraphBuilder& g, const Samples& s, Value* size) {
  const DType elem = s.low->type.elem;
  Value *zero = g.index(0), *one = g.index(1);
  Value* elements = g.cast(g.op("Range", {zero, g.squeeze(size, {0}), one}), elem);
  const auto spread = [&](Value* at, Value* weight) {
    Value* is_there = g.op("Equal", {g.unsqueeze(at, {3}), elements});
    Value *precise = g.cast(weight, kPrecise), *nothing = g.scalar(0, kPrecise);
    Value* counted = g.where(s.counts, precise, nothing);
    return g.where(is_there, g.unsqueeze(counted, {3}), nothing);
  };
  Value* near = spread(s.low, g.sub(1, s.part));
  Value* far = spread(s.high, s.part);
  return g.reduce_sum(g.add(near, far), {2}, false);
}

/// The largest weighted corner of all samples in each bin. `images` is [regions, C, height, width].
Value* largest_corners(DecomposeContext& c, Value* images, const Samples& rows, const Samples& columns) {
  GraphBuilder& g = c.g;
  // Both together have the axes regions, bins and samples of the rows, bins and samples of the columns.
  const auto down = [&](Value* v) { return g.unsqueeze(v, {3, 4}); };
  const auto across = [&](Value* v) { return g.unsqueeze(v, {1, 2}); };
  const auto both = [&](Value* a, Value* b) {
    Value* y = down(a);
    return g.op("And", {y, across(b)});
  };
  Value *width = size_along(g, images, 3), *channels = size_along(g, images, 1), *one = g.ints({1});
  Value* flat_plane = g.mul(size_along(g, images, 2), width);
  Value* regions = size_along(g, images, 0);
  Value* pixels = g.op("Reshape", {images, g.concat({regions, channels, flat_plane}, 0)}, {{"allowzero", 1}});
  Value* counts = both(rows.counts, columns.counts);
  Value* largest = nullptr;
  for (const bool is_lower : {false, true})
    for (const bool is_right : {false, true}) {
      Value* row = down(g.mul(g.cast(is_lower ? rows.high : rows.low, DType::i64), width));
      Value* at = g.add(row, across(g.cast(is_right ? columns.high : columns.low, DType::i64)));
      Value* part_y = down(g.cast(is_lower ? rows.part : g.sub(1, rows.part), kPrecise));
      Value* part_x = across(g.cast(is_right ? columns.part : g.sub(1, columns.part), kPrecise));
      Value* weight = g.where(counts, g.mul(part_y, part_x), g.scalar(0, kPrecise));
      // Each region's pixels at these places, in all channels: [regions, C, places].
      Value *first = g.ints({1}), *end = g.ints({5});
      Value* places = g.op("Slice", {g.shape(at), first, end});
      Value* count = g.op("ReduceProd", {places});
      Value* flat = g.op("Reshape", {at, g.concat({regions, one, count}, 0)}, {{"allowzero", 1}});
      Value* everywhere = g.op("Expand", {flat, g.concat({one, channels, one}, 0)});
      Value* picked = g.op("GatherElements", {pixels, everywhere}, {{"axis", 2}});
      picked = g.op("Reshape", {picked, g.concat({regions, channels, places}, 0)}, {{"allowzero", 1}});
      Value* value = g.mul(picked, g.unsqueeze(weight, {1}));
      largest = largest ? g.op("Max", {largest, value}) : value;
    }
  Value* nothing = g.scalar(-std::numeric_limits<double>::infinity(), kPrecise);
  if (c.attr("sampling_ratio", std::int64_t{0}) == 0) {
    Value* is_taken = g.unsqueeze(both(rows.is_taken, columns.is_taken), {1});
    largest = g.where(is_taken, largest, nothing);
  }
  Value* y = g.op("ReduceMax", {largest, g.ints({3, 5})}, {{"keepdims", 0}});
  Value* is_empty = g.op("Equal", {y, nothing});
  return g.where(is_empty, g.scalar(0, kPrecise), y);
}

/// Rounded, halves away from zero, unlike Round.
Value* rounded(GraphBuilder& g, Value* x) {
  Value* size = g.op("Abs", {x});
  Value* whole = g.op("Floor", {size});
  Value* is_less = g.op("Less", {g.sub(size, whole), g.scalar(0.5, x->type.elem)});
  Value* up = g.add(whole, 1);
  Value* nearest = g.where(is_less, whole, up);
  return g.mul(g.op("Sign", {x}), nearest);
}

/// Which elements of an axis each bin of each region covers: [regions, bins, size]. Corners are [regions, 1].
Value* covered(GraphBuilder& g, Value* first, Value* last, std::int64_t bins, Value* size) {
  const DType elem = first->type.elem;
  Value *zero = g.index(0), *one = g.index(1);
  Value* begin = rounded(g, first);
  Value* length = g.op("Max", {g.add(g.sub(rounded(g, last), begin), 1), g.scalar(1, elem)});
  Value* step = g.div(length, static_cast<double>(bins));
  Value* numbers = g.cast(g.op("Range", {zero, g.index(bins), one}), elem);
  Value* from = g.add(g.op("Floor", {g.mul(numbers, step)}), begin);  // [regions, bins]
  Value* to = g.add(g.op("Ceil", {g.mul(g.add(numbers, 1), step)}), begin);
  Value* elements = g.cast(g.op("Range", {zero, g.squeeze(size, {0}), one}), elem);
  Value* is_after = g.op("GreaterOrEqual", {elements, g.unsqueeze(from, {2})});
  Value* is_before = g.op("Less", {elements, g.unsqueeze(to, {2})});
  return g.op("And", {is_after, is_before});
}

}  // namespace

Values decompose_roi_align(DecomposeContext& c) {
  GraphBuilder& g = c.g;
  const std::int64_t height = c.attr("output_height", std::int64_t{1}), width = c.attr("output_width", std::int64_t{1});
  const std::string grid = c.attr("coordinate_transformation_mode", "half_pixel"), mode = c.attr("mode", "avg");
  const bool is_half = grid == "half_pixel";
  if ((!is_half && grid != "output_half_pixel") || (mode != "avg" && mode != "max")) return {};
  if (!c.in(0) || !c.in(1) || !c.in(2) || c.elem(0) == DType::undefined || height < 1 || width < 1) return {};
  if (c.attr("sampling_ratio", std::int64_t{0}) < 0) return {};
  // Places in the type that they are given in: how many samples there are hangs on their rounding.
  const DType elem = c.elem(0) == DType::f64 ? DType::f64 : DType::f32;
  Value* scaled = g.mul(g.cast(c.in(1), elem), static_cast<double>(c.attr("spatial_scale", 1.0f)));
  Value* corners = g.unsqueeze(is_half ? g.sub(scaled, 0.5) : scaled, {2});  // [regions, 4, 1]
  const auto corner = [&](std::int64_t i) { return g.op("Gather", {corners, g.ints({i})}, {{"axis", 1}}); };
  Value *left = corner(0), *top = corner(1), *right = corner(2), *bottom = corner(3);
  const auto length = [&](Value* from, Value* to) {
    Value* between = g.sub(to, from);
    return is_half ? between : g.op("Max", {between, g.scalar(1, elem)});
  };
  Value *size_y = size_along(g, c.in(0), 2), *size_x = size_along(g, c.in(0), 3);
  Value *high = length(top, bottom), *wide = length(left, right);
  const Samples rows = samples_along(c, top, high, height, size_y);
  const Samples columns = samples_along(c, left, wide, width, size_x);
  Value* images = g.cast(g.op("Gather", {c.in(0), c.in(2)}), kPrecise);  // [regions, C, H, W]
  if (mode == "max") return {g.cast(largest_corners(c, images, rows, columns), c.elem(0))};
  Value* down = g.op("MatMul", {g.unsqueeze(weights_of(g, rows, size_y), {1}), images});
  Value* across = g.unsqueeze(g.transpose(weights_of(g, columns, size_x), {0, 2, 1}), {1});
  Value* sums = g.op("MatMul", {down, across});
  Value* count = g.op("Max", {g.mul(rows.number, columns.number), g.scalar(1, elem)});
  if (c.attr("sampling_ratio", std::int64_t{0}) == 0) count = g.unsqueeze(count, {3});
  return {g.cast(g.div(sums, g.cast(count, kPrecise)), c.elem(0))};
}

Values decompose_max_roi_pool(DecomposeContext& c) {
  GraphBuilder& g = c.g;
  const auto bins = c.node.attributes.ints_or("pooled_shape", {});
  if (bins.size() != 2 || bins[0] < 1 || bins[1] < 1 || !c.in(0) || !c.in(1) || c.elem(0) == DType::undefined)
    return {};
  const DType elem = c.elem(0) == DType::f64 ? DType::f64 : DType::f32;
  Value* regions = g.cast(c.in(1), elem);
  Value* scaled = g.mul(regions, static_cast<double>(c.attr("spatial_scale", 1.0f)));
  const auto corner = [&](std::int64_t i) { return g.op("Gather", {scaled, g.ints({i})}, {{"axis", 1}}); };
  Value *left = corner(1), *top = corner(2), *right = corner(3), *bottom = corner(4);
  Value *size_y = size_along(g, c.in(0), 2), *size_x = size_along(g, c.in(0), 3);
  Value* rows = covered(g, top, bottom, bins[0], size_y);
  Value* columns = covered(g, left, right, bins[1], size_x);
  Value* numbers = g.cast(g.op("Gather", {regions, g.index(0)}, {{"axis", 1}}), DType::i64);
  Value* images = g.op("Gather", {c.in(0), numbers});  // [regions, C, H, W]
  Value* nothing = g.scalar(-std::numeric_limits<double>::infinity(), c.elem(0));
  // [regions, C, H, bins, W], then [regions, C, bins, H, bins].
  Value *is_inside = g.unsqueeze(columns, {1, 2}), *of_columns = g.unsqueeze(images, {3});
  Value* spread = g.where(is_inside, of_columns, nothing);
  Value* of_rows = g.op("ReduceMax", {spread, g.ints({4})}, {{"keepdims", 0}});
  is_inside = g.unsqueeze(rows, {1, 4});
  spread = g.where(is_inside, g.unsqueeze(of_rows, {2}), nothing);
  Value* y = g.op("ReduceMax", {spread, g.ints({3})}, {{"keepdims", 0}});
  Value* is_empty = g.op("Equal", {y, nothing});
  return {g.where(is_empty, g.scalar(0, c.elem(0)), y)};
}

}  // namespace ingot::ops
