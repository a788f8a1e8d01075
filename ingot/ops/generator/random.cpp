// Random numbers: RandomNormal, RandomUniform, the same in the shape of another tensor, Bernoulli and Multinomial.
#include "ingot/ops/generator/random.h"

#include <algorithm>
#include <cmath>

#include "ingot/ops/compute.h"
#include "ingot/ops/gradient.h"
#include "ingot/ops/math/type_attribute.h"
#include "ingot/ops/math/wider_type.h"
#include "ingot/ops/pace.h"

namespace ingot::ops {
namespace {

void infer_shaped(InferContext& c) {
  out_elem_from_attribute(c, "dtype", DType::f32);
  const auto* dims = c.attr_ints("shape");
  if (!dims) return;
  c.require(static_cast<std::int64_t>(dims->size()) <= kMostDims, "too many dimensions");
  for (const std::int64_t d : *dims)
    if (d < 0) c.fail("dimension " + std::to_string(d) + " is negative");
  c.out_shape(0, Shape(dims->begin(), dims->end()));
}

void infer_like(InferContext& c) {
  c.out_shape_like(0, 0);
  out_elem_from_attribute(c, "dtype", c.elem(0));
}

void infer_multinomial(InferContext& c) {
  out_elem_from_attribute(c, "dtype", DType::i32);
  if (const auto rank = c.rank(0)) c.require(*rank == 2, "the input is no matrix");
  const std::int64_t samples = c.attr("sample_size", std::int64_t{1});
  c.require(samples >= 0, "sample_size is negative");
  c.out_shape(0, {c.dim(0, 0), samples});
}

/// The node's own attributes, but with another dtype.
Attrs with_type(const Node& node, DType dtype) {
  Attrs attrs = attributes_of(node);
  std::erase_if(attrs, [](const Attr& a) { return a.name == "dtype"; });
  attrs.emplace_back("dtype", dtype);
  return attrs;
}

// bfloat16, allowed from 22 on, is drawn as float.
Values decompose_shaped(DecomposeContext& c) {
  if (c.attr("dtype", static_cast<std::int64_t>(DType::f32)) != static_cast<std::int64_t>(DType::bf16)) return {};
  return {c.g.cast(c.g.op(Name(*find(c.node)), {}, with_type(c.node, DType::f32)), DType::bf16)};
}

Values decompose_like(DecomposeContext& c) {
  const DType from = c.elem(0);
  const std::int64_t to = c.attr("dtype", static_cast<std::int64_t>(from));
  if (!is_valid_dtype(to) || (from != DType::bf16 && static_cast<DType>(to) != DType::bf16)) return {};
  Value* like = from == DType::bf16 ? c.g.cast(c.in(0), DType::f32) : c.in(0);
  return {c.g.cast(c.g.op(Name(*find(c.node)), {like}, with_type(c.node, DType::f32)), static_cast<DType>(to))};
}

// One with the probability that the input states: a uniform number lies below it. (The body in ONNX's own schema
// compares the other way round, against its text.)
Values decompose_bernoulli(DecomposeContext& c) {
  const DType elem = c.elem(0);
  const std::int64_t to = c.attr("dtype", static_cast<std::int64_t>(elem));
  if (elem == DType::undefined || !is_valid_dtype(to)) return {};
  Attrs attrs = {{"dtype", elem}, {"high", 1.0f}, {"low", 0.0f}};
  if (const auto* seed = c.node.attributes.get<float>("seed")) attrs.emplace_back("seed", *seed);
  Value* is_one = c.g.op("Less", {c.g.op("RandomUniformLike", {c.in(0)}, attrs), c.in(0)});
  return {to == static_cast<std::int64_t>(DType::boolean) ? is_one : c.g.cast(is_one, static_cast<DType>(to))};
}

/// The bits of a number that a type keeps.
int digits_of(DType dtype) {
  return dtype == DType::f64 ? 53 : dtype == DType::f16 ? 11 : dtype == DType::bf16 ? 8 : 24;
}

DType type_or(const KernelContext& c, DType absent) {
  const std::int64_t dtype = c.attr("dtype", static_cast<std::int64_t>(absent));
  if (!is_valid_dtype(dtype)) c.fail("attribute 'dtype' is no element type");
  return static_cast<DType>(dtype);
}

/// number(i) for each element, rounded to a type.
template <class F> void draw(KernelContext& c, const Dims& dims, DType dtype, F number) {
  Array y = scratch(c, DType::f64, dims);
  const auto out = y.mutable_data<double>();
  Pace pace(c.host().budget());
  for (std::size_t i = 0; i < out.size(); ++i) {
    out[i] = number(i);
    pace.step(1);
  }
  put(c, 0, y, dtype);
}

void draw_uniform(KernelContext& c, const Dims& dims, DType dtype) {
  const double low = c.attr("low", 0.0f), high = c.attr("high", 1.0f);
  const Random random(c);
  draw(c, dims, dtype,
       [&, digits = digits_of(dtype)](std::size_t i) { return low + (high - low) * random.uniform(i, digits); });
}

void draw_normal(KernelContext& c, const Dims& dims, DType dtype) {
  const double mean = c.attr("mean", 0.0f), scale = c.attr("scale", 1.0f);
  const Random random(c);
  draw(c, dims, dtype, [&](std::size_t i) { return mean + scale * random.normal(i); });
}

template <void (*draw_all)(KernelContext&, const Dims&, DType)> void run_shaped(KernelContext& c) {
  const Dims dims = c.attr_ints("shape");
  if (static_cast<std::int64_t>(dims.size()) > kMostDims) c.fail("too many dimensions");
  for (const std::int64_t d : dims)
    if (d < 0) c.fail("dimension " + std::to_string(d) + " is negative");
  draw_all(c, dims, type_or(c, DType::f32));
}

template <void (*draw_all)(KernelContext&, const Dims&, DType)> void run_like(KernelContext& c) {
  const Array& x = c.in(0);
  draw_all(c, x.dims(), type_or(c, is_float(x.dtype()) ? x.dtype() : DType::f32));
}

void run_bernoulli(KernelContext& c) {
  const Array p = converted(c.in(0), DType::f64, c.host());
  const Random random(c);
  draw(c, p.dims(), type_or(c, c.in(0).dtype()),
       [&](std::size_t i) { return random.uniform(i) < p.data<double>()[i] ? 1.0 : 0.0; });
}

/// One class, drawn with probabilities proportional to exp(logits).
std::int64_t draw_class(std::span<const double> logits, std::span<double> sums, double u) {
  const double highest = *std::ranges::max_element(logits);
  double sum = 0;
  for (std::size_t i = 0; i < logits.size(); ++i) sums[i] = sum += std::exp(logits[i] - highest);
  const auto place = std::ranges::upper_bound(sums, u * sum) - sums.begin();
  return std::min(place, std::ssize(sums) - 1);
}

void run_multinomial(KernelContext& c) {
  const Array x = converted(c.in(0), DType::f64, c.host());
  const std::int64_t samples = c.attr("sample_size", std::int64_t{1});
  if (x.rank() != 2) c.fail("the input is no matrix");
  if (samples < 0) c.fail("sample_size is negative");
  const std::int64_t batch = x.dims()[0], classes = x.dims()[1];
  Array y = scratch(c, DType::i64, {batch, samples});
  if (classes == 0 && y.size() != 0) c.fail("there are no classes to draw from");
  Array room = scratch(c, DType::f64, {classes});
  const Random random(c);
  const auto out = y.mutable_data<std::int64_t>();
  Pace pace(c.host().budget());
  for (std::size_t i = 0; i < out.size(); ++i) {
    const std::size_t row = i / static_cast<std::size_t>(samples), n = static_cast<std::size_t>(classes);
    out[i] = draw_class(x.data<double>().subspan(row * n, n), room.mutable_data<double>(), random.uniform(i));
    pace.step(classes);
  }
  put(c, 0, y, type_or(c, DType::i32));
}

}  // namespace

constinit const OpDef defs::Bernoulli = {
    .name = "Bernoulli",
    .infer = infer_like,
    .decompose = decompose_bernoulli,
    .kernel = run_bernoulli,
    .gradient = gradient_zero,
};
constinit const OpDef defs::Multinomial = {
    .name = "Multinomial",
    .infer = infer_multinomial,
    .decompose = bfloat16_in_float,
    .kernel = run_multinomial,
};
constinit const OpDef defs::RandomNormal = {
    .name = "RandomNormal",
    .infer = infer_shaped,
    .decompose = decompose_shaped,
    .kernel = run_shaped<draw_normal>,
};
constinit const OpDef defs::RandomNormalLike = {
    .name = "RandomNormalLike",
    .infer = infer_like,
    .decompose = decompose_like,
    .kernel = run_like<draw_normal>,
    .gradient = gradient_zero,
};
constinit const OpDef defs::RandomUniform = {
    .name = "RandomUniform",
    .infer = infer_shaped,
    .decompose = decompose_shaped,
    .kernel = run_shaped<draw_uniform>,
};
constinit const OpDef defs::RandomUniformLike = {
    .name = "RandomUniformLike",
    .infer = infer_like,
    .decompose = decompose_like,
    .kernel = run_like<draw_uniform>,
    .gradient = gradient_zero,
};

}  // namespace ingot::ops
