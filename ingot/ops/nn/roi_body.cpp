// RoiAlign in simpler operators: samples are linear along each axis on its own, and so is their mean.
#include "ingot/ops/nn/roi_body.h"

#include "ingot/ops/nn/sizes.h"

namespace ingot::ops {
namespace {

constexpr DType kPrecise = DType::f64;

/// What the elements of one axis weigh in each bin of each region, and how many samples a bin has.
struct Weights {
  Value* of_elements;  // [regions, bins, size], double
  Value* samples;      // [regions, 1, 1]
};

/// `first` and `length` of the regions are [regions, 1, 1], `size` is a vector of one element.
Weights weights_along(DecomposeContext& c, Value* first, Value* length, std::int64_t bins, Value* size) {
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
  // Places [regions, bins, samples]; regions with fewer samples than others leave some out.
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
  Value* elements = g.cast(g.op("Range", {zero, g.squeeze(size, {0}), one}), elem);
  const auto spread = [&](Value* at, Value* weight) {
    Value* is_there = g.op("Equal", {g.unsqueeze(at, {3}), elements});
    Value *precise = g.cast(weight, kPrecise), *nothing = g.scalar(0, kPrecise);
    Value* counted = g.where(counts, precise, nothing);
    return g.where(is_there, g.unsqueeze(counted, {3}), nothing);
  };
  Value* near = spread(low, g.sub(1, part));
  Value* far = spread(high, part);
  return {g.reduce_sum(g.add(near, far), {2}, false), samples};
}

}  // namespace

Values decompose_roi_align(DecomposeContext& c) {
  GraphBuilder& g = c.g;
  const std::int64_t height = c.attr("output_height", std::int64_t{1}), width = c.attr("output_width", std::int64_t{1});
  if (c.attr("coordinate_transformation_mode", "half_pixel") != "half_pixel" || c.attr("mode", "avg") != "avg")
    return {};
  if (!c.in(0) || !c.in(1) || !c.in(2) || c.elem(0) == DType::undefined || height < 1 || width < 1) return {};
  if (c.attr("sampling_ratio", std::int64_t{0}) < 0) return {};
  // Places in the type that they are given in: how many samples there are hangs on their rounding.
  const DType elem = c.elem(0) == DType::f64 ? DType::f64 : DType::f32;
  Value* scaled = g.mul(g.cast(c.in(1), elem), static_cast<double>(c.attr("spatial_scale", 1.0f)));
  Value* corners = g.unsqueeze(g.sub(scaled, 0.5), {2});  // [regions, 4, 1]
  const auto corner = [&](std::int64_t i) { return g.op("Gather", {corners, g.ints({i})}, {{"axis", 1}}); };
  Value *left = corner(0), *top = corner(1), *right = corner(2), *bottom = corner(3);
  Value *size_y = size_along(g, c.in(0), 2), *size_x = size_along(g, c.in(0), 3);
  const Weights rows = weights_along(c, top, g.sub(bottom, top), height, size_y);
  const Weights columns = weights_along(c, left, g.sub(right, left), width, size_x);
  Value* images = g.cast(g.op("Gather", {c.in(0), c.in(2)}), kPrecise);  // [regions, C, H, W]
  Value* down = g.op("MatMul", {g.unsqueeze(rows.of_elements, {1}), images});
  Value* across = g.unsqueeze(g.transpose(columns.of_elements, {0, 2, 1}), {1});
  Value* sums = g.op("MatMul", {down, across});
  Value* count = g.op("Max", {g.mul(rows.samples, columns.samples), g.scalar(1, elem)});
  if (c.attr("sampling_ratio", std::int64_t{0}) == 0) count = g.unsqueeze(count, {3});
  return {g.cast(g.div(sums, g.cast(count, kPrecise)), c.elem(0))};
}

}  // namespace ingot::ops
