// QuantizeLinear: saturate(round(x / scale) + zero point).
#include <algorithm>
#include <cmath>

#include "ingot/ops/catalog.h"
#include "ingot/ops/gradient.h"
#include "ingot/ops/quantization/scales.h"
#include "ingot/ops/steps.h"

namespace ingot::ops {
namespace {

void infer(InferContext& c) {
  check_scales(c);
  const DType stated = output_dtype(c), zero = c.elem(2);
  if (stated != DType::undefined && zero != DType::undefined && stated != zero)
    c.fail("attribute 'output_dtype' and the zero point differ in type");
  if (stated != DType::undefined)
    c.out_elem(0, stated);
  else if (!c.has(2))
    c.out_elem(0, DType::u8);
  c.out_shape_like(0, 0);
}

/// Plain arithmetic, for the versions that lack blocks or 16-bit integers.
Values decompose(DecomposeContext& c) {
  GraphBuilder& g = c.g;
  const auto axis = spread_axis(c);
  const std::int64_t stated = c.attr("output_dtype", std::int64_t{0}), given = c.attr("precision", std::int64_t{0});
  if (!c.in(0) || !c.in(1) || !axis || c.elem(1) == DType::undefined || (stated && !is_valid_dtype(stated))) return {};
  const DType to = c.has(2) ? c.elem(2) : stated ? static_cast<DType>(stated) : DType::u8;
  const unsigned bits = bits_of(to);
  if (!is_integer(to) || bits > 16 || (given && !is_valid_dtype(given))) return {};
  const DType precision = given ? static_cast<DType>(given) : c.elem(1);
  if (!TypeSet({DType::f16, DType::bf16, DType::f32}).has(precision)) return {};
  Value* quotient = g.div(g.cast(c.in(0), precision), spread(c, g.cast(c.in(1), precision), *axis));
  // Rounded to even; float holds every 16-bit number and its neighbours.
  Value* number = g.cast(g.op("Round", {quotient}), DType::f32);
  if (c.has(2)) number = g.add(number, spread(c, g.cast(c.in(2), DType::f32), *axis));
  const IntegerRange range = range_of(to);
  Value* least = g.scalar(range.least, DType::f32);
  Value* clipped = g.op("Clip", {number, least, g.scalar(range.most, DType::f32)});
  return {g.cast(clipped, to)};
}

/// Since 19, x and scale have one type until 22; before, the scale is float and x may be int32 beside it.
void up_19(StepContext& c) {
  if (c.type(0).elem == DType::i32) c.node.set_input(0, c.g.cast(c.node.input(0), DType::f32));
}

/// Until 20 the type of the zero point alone decided the output's.
void down_21(StepContext& c) {
  const std::int64_t type = c.node.attributes.int_or("output_dtype", 0);
  c.node.attributes.erase("output_dtype");
  if (c.node.input(2) || type == 0 || type == static_cast<std::int64_t>(DType::u8)) return;
  if (!is_valid_dtype(type)) c.cannot("attribute 'output_dtype' is no element type");
  const auto elem = static_cast<DType>(type);
  if (c.rank(1) == 0) {
    c.node.set_input(2, c.g.scalar(0, elem));
    return;
  }
  const unsigned bits = bits_of(elem);
  if (bits < 8) c.cannot("output type " + std::string(name_of(elem)) + " does not exist in older versions");
  // All bits zero is 0 in every type.
  const std::vector<std::byte> zero(bits / 8, std::byte{0});
  Tensor fill(elem, {1}, Bytes::copy(zero));
  c.node.set_input(2, c.g.op("ConstantOfShape", {c.g.shape(c.node.input(1))}, {{"value", fill}}));
}

/// Until 22, the division took place in the one type of x and scale.
void down_23(StepContext& c) {
  const DType x = c.type(0).elem, scale = c.type(1).elem;
  std::int64_t precision = c.node.attributes.int_or("precision", 0);
  c.node.attributes.erase("precision");
  if (precision != 0 && !is_valid_dtype(precision)) c.cannot("attribute 'precision' is no element type");
  const DType type = precision ? static_cast<DType>(precision) : scale;
  if (type == DType::undefined) c.cannot("the type of the scale is needed but not known");
  if (x != type) c.node.set_input(0, c.g.cast(c.node.input(0), type));
  if (scale != type) c.node.set_input(1, c.g.cast(c.node.input(1), type));
}

constexpr Step kSteps[] = {
    {.since = 19, .up = up_19},
    {.since = 21, .down = down_21},
    {.since = 23, .down = down_23},
};

/// Straight through, as if nothing were rounded: what arrives counts steps. What is cut off has no slope.
Values gradient(GradContext& c) {
  GraphBuilder& g = c.g;
  DecomposeContext own(g, c.node);
  const DType to = c.y()->type.elem, from = c.elem(0);
  const auto axis = spread_axis(own);
  if (!is_integer(to) || !axis) c.fail("only quantising to integers by scales of known rank has a gradient");
  Value* scale = spread(own, g.cast(c.x(1), from), *axis);
  Value* place = g.op("Round", {g.div(c.x(), scale)});
  if (c.has(2)) place = g.add(place, spread(own, g.cast(c.x(2), from), *axis));
  const IntegerRange range = range_of(to);
  Value* is_below = g.op("Less", {place, g.scalar(range.least, from)});
  Value* is_above = g.op("Less", {g.scalar(range.most, from), place});
  Value* is_cut = g.op("Or", {is_below, is_above});
  Value* passed = g.div(g.cast(c.dy(), from), scale);
  return {g.where(is_cut, g.scalar(0, from), passed)};
}

/// x / scale for each element, rounded to the type that the division takes place in.
Array quotients(KernelContext& c, const ScaleMap& map) {
  const std::int64_t stated = c.attr("precision", std::int64_t{0});
  if (stated != 0 && !is_valid_dtype(stated)) c.fail("attribute 'precision' is no element type");
  const DType precision = stated != 0 ? static_cast<DType>(stated) : arithmetic_type(c.in(1).dtype());
  const auto operand = [&](std::size_t i) {
    return converted(converted(c.in(i), precision, c.host()), DType::f64, c.host());
  };
  const Array x = operand(0), scale = operand(1);
  Array y = scratch(c, DType::f64, x.dims());
  const auto in = x.data<double>(), divisors = scale.data<double>();
  const auto out = y.mutable_data<double>();
  map.each(c, [&](std::size_t i, std::size_t s) { out[i] = in[i] / divisors[s]; });
  return converted(converted(y, precision, c.host()), DType::f64, c.host());
}

void run(KernelContext& c) {
  const ScaleMap map = ScaleMap::of(c);
  const std::int64_t stated = c.attr("output_dtype", std::int64_t{0});
  if (stated != 0 && !is_valid_dtype(stated)) c.fail("attribute 'output_dtype' is no element type");
  const DType to = c.has(2) ? c.in(2).dtype() : stated != 0 ? static_cast<DType>(stated) : DType::u8;
  if (!is_integer(to) && !is_float(to)) c.fail("nothing is quantised to " + std::string(name_of(to)));
  const Array quotient = quotients(c, map);
  const Array zero = c.has(2) ? converted(c.in(2), DType::f64, c.host()) : Array();
  const auto in = quotient.data<double>(), zeros = zero ? zero.data<double>() : std::span<const double>();
  Array y = scratch(c, DType::f64, quotient.dims());
  const auto out = y.mutable_data<double>();
  if (is_float(to)) {
    map.each(c, [&](std::size_t i, std::size_t s) { out[i] = zeros.empty() ? in[i] : in[i] + zeros[s]; });
    return c.set(0, converted(y, to, c.host(), {.saturate = c.attr("saturate", std::int64_t{1}) != 0}));
  }
  // Halves go to the even neighbour; NaN becomes the zero point.
  const IntegerRange range = range_of(to);
  map.each(c, [&](std::size_t i, std::size_t s) {
    const double number = (std::isnan(in[i]) ? 0 : std::nearbyint(in[i])) + (zeros.empty() ? 0 : zeros[s]);
    out[i] = std::clamp(number, range.least, range.most);
  });
  put(c, 0, y, to);
}

}  // namespace

constinit const OpDef defs::QuantizeLinear = {
    .name = "QuantizeLinear",
    .infer = infer,
    .steps = kSteps,
    .decompose = decompose,
    .kernel = run,
    .gradient = gradient,
};

}  // namespace ingot::ops
