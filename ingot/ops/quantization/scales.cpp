// Scales and zero points of QuantizeLinear and DequantizeLinear.
#include "ingot/ops/quantization/scales.h"

#include <cmath>

#include "ingot/ops/nn/agree.h"
#include "ingot/ops/nn/sizes.h"

namespace ingot::ops {

void check_scales(const InferContext& c) {
  const std::int64_t block = c.attr("block_size", std::int64_t{0});
  c.require(block >= 0, "attribute 'block_size' is negative");
  const Shape *x = c.shape(0), *scale = c.shape(1), *zero = c.shape(2);
  if (scale && zero) {
    // A scalar and a list of one element are both one number, and the standard's own tests mix them.
    const auto may_be_one = [](const Shape& s) { return s.empty() || (s.size() == 1 && may_equal(s[0], 1)); };
    const bool same_rank = scale->size() == zero->size();
    if (!same_rank && !(may_be_one(*scale) && may_be_one(*zero))) c.fail("scale and zero point differ in rank");
    for (std::size_t i = 0; same_rank && i < scale->size(); ++i)
      agree(c, (*scale)[i], (*zero)[i], "a size of scale and zero point");
  }
  if (!x || !scale || scale->empty()) return;
  const auto rank = static_cast<std::int64_t>(x->size());
  const auto axis = [&] { return static_cast<std::size_t>(c.axis(c.attr("axis", std::int64_t{1}), rank)); };
  if (block == 0) {
    // One element is a scale for all, whatever the axis.
    if (scale->size() == 1 && !may_equal((*scale)[0], 1)) agree(c, (*x)[axis()], (*scale)[0], "the number of scales");
    return;
  }
  if (scale->size() != x->size()) c.fail("scales per block must have the rank of the input");
  const std::size_t blocked = axis();
  for (std::size_t i = 0; i < x->size(); ++i)
    agree(c, i == blocked ? ceil_div((*x)[i], block) : (*x)[i], (*scale)[i], "a size of the scales");
}

DType output_dtype(const InferContext& c) {
  const std::int64_t type = c.attr("output_dtype", std::int64_t{0});
  if (type == 0) return DType::undefined;
  if (!is_valid_dtype(type)) c.fail("attribute 'output_dtype' is no element type");
  return static_cast<DType>(type);
}

std::optional<std::int64_t> spread_axis(const DecomposeContext& c) {
  if (c.rank(1) == 0) return 0;
  const auto rank = c.rank(0);
  if (!rank || !c.rank(1)) return std::nullopt;
  std::int64_t axis = c.attr("axis", std::int64_t{1});
  if (axis < 0) axis += *rank;
  const bool is_blocked = c.attr("block_size", std::int64_t{0}) > 0;
  if (axis < 0 || axis >= *rank || c.rank(1) != (is_blocked ? *rank : 1)) return std::nullopt;
  return axis;
}

Value* spread(DecomposeContext& c, Value* parameter, std::int64_t axis) {
  GraphBuilder& g = c.g;
  const auto rank = c.rank(1);
  if (rank == 0) return parameter;
  const std::int64_t block = c.attr("block_size", std::int64_t{0});
  if (block == 0) {
    if (stated_size(parameter, 0).as_int() == 1) return parameter;
    std::vector<std::int64_t> dims(static_cast<std::size_t>(*c.rank(0) - axis), 1);
    dims[0] = -1;
    return g.reshape(parameter, dims);
  }
  // Each element `block` times along the axis, cut to the length of x.
  const auto x_rank = static_cast<std::size_t>(*c.rank(0));
  std::vector<std::int64_t> repeats(x_rank + 1, 1);
  repeats[static_cast<std::size_t>(axis) + 1] = block;
  Value* repeated = g.op("Expand", {g.unsqueeze(parameter, {axis + 1}), g.ints(repeats)});
  std::vector<Value*> sizes;
  for (std::size_t i = 0; i < x_rank; ++i)
    sizes.push_back(static_cast<std::int64_t>(i) == axis ? g.ints({-1})
                                                         : size_along(g, c.in(0), static_cast<std::int64_t>(i)));
  Value* rows = g.op("Reshape", {repeated, g.concat(sizes, 0)});
  return g.op("Slice", {rows, g.ints({0}), size_along(g, c.in(0), axis), g.ints({axis})});
}

ScaleMap ScaleMap::of(KernelContext& c) {
  const Array &x = c.in(0), &scale = c.in(1);
  if (c.has(2)) {
    const Array& zero = c.in(2);
    if (zero.size() != scale.size() || (zero.size() != 1 && zero.dims() != scale.dims()))
      c.fail("scale and zero point differ in shape");
  }
  ScaleMap map;
  map.lanes = {1, x.size(), 1};
  map.is_one = scale.size() == 1;
  if (map.is_one) return map;
  const std::int64_t axis = c.axis(c.attr("axis", std::int64_t{1}), x.rank());
  const std::int64_t size = x.dims()[static_cast<std::size_t>(axis)];
  map.block = c.attr("block_size", std::int64_t{0});
  map.lanes = lanes_along(x, axis);
  if (map.block < 0) c.fail("attribute 'block_size' is negative");
  if (map.block == 0) {
    if (scale.rank() != 1 || scale.size() != size) c.fail("the number of scales does not fit the axis");
    return map;
  }
  Dims blocked = x.dims();
  map.blocks = size / map.block + (size % map.block != 0);
  blocked[static_cast<std::size_t>(axis)] = map.blocks;
  if (scale.dims() != blocked) c.fail("the scales do not fit the blocks");
  return map;
}

IntegerRange range_of(DType integer) {
  const double span = std::ldexp(1.0, static_cast<int>(bits_of(integer)));
  return is_signed_integer(integer) ? IntegerRange{-span / 2, span / 2 - 1} : IntegerRange{0, span - 1};
}

DType arithmetic_type(DType scale) { return TypeSet(Floats{}).has(scale) ? scale : DType::f32; }

}  // namespace ingot::ops
