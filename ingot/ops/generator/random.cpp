// Random numbers: RandomNormal, RandomUniform, the same in the shape of another tensor, Bernoulli and Multinomial.
#include "ingot/ops/gradient.h"
#include "ingot/ops/math/type_attribute.h"
#include "ingot/ops/math/wider_type.h"

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

}  // namespace

constinit const OpDef defs::Bernoulli = {
    .name = "Bernoulli",
    .infer = infer_like,
    .decompose = decompose_bernoulli,
    .gradient = gradient_zero,
};
constinit const OpDef defs::Multinomial = {
    .name = "Multinomial",
    .infer = infer_multinomial,
    .decompose = bfloat16_in_float,
};
constinit const OpDef defs::RandomNormal = {
    .name = "RandomNormal",
    .infer = infer_shaped,
    .decompose = decompose_shaped,
};
constinit const OpDef defs::RandomNormalLike = {
    .name = "RandomNormalLike",
    .infer = infer_like,
    .decompose = decompose_like,
    .gradient = gradient_zero,
};
constinit const OpDef defs::RandomUniform = {
    .name = "RandomUniform",
    .infer = infer_shaped,
    .decompose = decompose_shaped,
};
constinit const OpDef defs::RandomUniformLike = {
    .name = "RandomUniformLike",
    .infer = infer_like,
    .decompose = decompose_like,
    .gradient = gradient_zero,
};

}  // namespace ingot::ops
