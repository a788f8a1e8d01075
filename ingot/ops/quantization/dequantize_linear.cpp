// DequantizeLinear: (x - zero point) * scale.
#include "ingot/ops/catalog.h"
#include "ingot/ops/gradient.h"
#include "ingot/ops/quantization/scales.h"
#include "ingot/ops/steps.h"

namespace ingot::ops {
namespace {

void infer(InferContext& c) {
  check_scales(c);
  const DType stated = output_dtype(c);
  if (stated != DType::undefined)
    c.out_elem(0, stated);
  else if (c.elem(1) != DType::undefined && c.elem(1) != DType::f8e8m0)
    c.out_elem(0, c.elem(1));
  c.out_shape_like(0, 0);
}

/// As int32. Constants of the types below a byte, which Cast knows since 21 only, become bytes first.
Value* widened(DecomposeContext& c, std::size_t i) {
  const Tensor* stored = c.constant(i);
  if (!stored || bits_of(stored->dtype()) >= 8) return c.g.cast(c.in(i), DType::i32);
  std::vector<std::int8_t> values;
  for (const std::int64_t v : stored->to_ints()) values.push_back(static_cast<std::int8_t>(v));
  return c.g.cast(c.g.constant(Tensor::of<std::int8_t>(stored->dims(), values)), DType::i32);
}

/// Plain arithmetic, for the versions that lack blocks, 16-bit integers or scales other than float.
Values decompose(DecomposeContext& c) {
  const DType x = c.elem(0), scale = c.elem(1);
  if (!c.in(0) || !c.in(1) || !is_integer(x) || scale == DType::undefined || scale == DType::f8e8m0) return {};
  const auto axis = spread_axis(c);
  if (!axis) return {};
  const std::int64_t stated = c.attr("output_dtype", std::int64_t{0});
  if (stated != 0 && !is_valid_dtype(stated)) return {};
  const DType result = stated ? static_cast<DType>(stated) : scale;
  // int32 holds every difference of the small types; int32 itself has no zero point but 0.
  Value* number = widened(c, 0);
  if (c.has(2)) number = c.g.sub(number, spread(c, widened(c, 2), *axis));
  // The product in float, which holds both factors better than the types below it.
  Value* product = c.g.mul(c.g.cast(number, DType::f32), spread(c, c.g.cast(c.in(1), DType::f32), *axis));
  return {c.g.cast(product, result)};
}

/// By the number of steps, for those who take integers for what they stand for, and by the scales.
Values gradient(GradContext& c) {
  GraphBuilder& g = c.g;
  DecomposeContext own(g, c.node);
  const auto axis = spread_axis(own);
  if (!is_integer(c.elem(0)) || !axis) c.fail("only integers with scales of known rank have a gradient");
  // As the product itself.
  Value* dy = g.cast(c.dy(), DType::f32);
  Value* scale = g.cast(c.x(1), DType::f32);
  Values dxs(2);
  if (c.wants(0)) dxs[0] = g.mul(dy, spread(own, scale, *axis));
  if (!c.wants(1)) return dxs;
  Value* steps = g.cast(c.x(), DType::f32);
  if (c.has(2)) steps = g.sub(steps, spread(own, g.cast(c.x(2), DType::f32), *axis));
  Value* arrives = g.mul(dy, steps);
  Value* ds = own.rank(1) == 0 ? c.sum_to(arrives, scale)
                               : c.add_at(scale, c.stretched(spread(own, c.positions(scale), *axis), arrives), arrives);
  dxs[1] = g.cast(ds, c.elem(1));
  return dxs;
}

/// Until 22 the output had the scale's type: the wider of the two is computed in.
void down_23(StepContext& c) {
  const std::int64_t type = c.node.attributes.int_or("output_dtype", 0);
  const DType scale = c.type(1).elem;
  if (type == 0) return;
  if (!is_valid_dtype(type) || scale == DType::undefined) c.cannot("the type of the scale is needed but not known");
  c.node.attributes.erase("output_dtype");
  const auto wanted = static_cast<DType>(type);
  if (wanted == scale) return;
  if (wanted == DType::f32) {
    c.node.set_input(1, c.g.cast(c.node.input(1), wanted));
    return;
  }
  Node* made = c.g.node("DequantizeLinear", "", c.node.inputs(), {}, 1);
  made->attributes = std::move(c.node.attributes);
  c.replace({c.g.op("Cast", {made->output()}, {{"to", wanted}})});
}

constexpr Step kSteps[] = {{.since = 23, .down = down_23}};

// The product in float, which holds every factor but large int32 numbers exactly.
void run(KernelContext& c) {
  const ScaleMap map = ScaleMap::of(c);
  const std::int64_t stated = c.attr("output_dtype", std::int64_t{0});
  if (stated != 0 && !is_valid_dtype(stated)) c.fail("attribute 'output_dtype' is no element type");
  const Array x = converted(c.in(0), DType::f64, c.host()), scale = converted(c.in(1), DType::f32, c.host());
  const Array zero = c.has(2) ? converted(c.in(2), DType::f64, c.host()) : Array();
  Array y = scratch(c, DType::f32, x.dims());
  const auto in = x.data<double>(), zeros = zero ? zero.data<double>() : std::span<const double>();
  const auto factors = scale.data<float>();
  const auto out = y.mutable_data<float>();
  map.each(c, [&](std::size_t i, std::size_t s) {
    out[i] = static_cast<float>(zeros.empty() ? in[i] : in[i] - zeros[s]) * factors[s];
  });
  put(c, 0, y, stated != 0 ? static_cast<DType>(stated) : arithmetic_type(c.in(1).dtype()));
}

}  // namespace

constinit const OpDef defs::DequantizeLinear = {
    .name = "DequantizeLinear",
    .infer = infer,
    .steps = kSteps,
    .decompose = decompose,
    .kernel = run,
    .gradient = gradient,
};

}  // namespace ingot::ops
