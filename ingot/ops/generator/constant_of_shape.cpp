// ConstantOfShape: one number in a tensor of a given shape.
#include "ingot/ops/infer.h"
#include "ingot/ops/steps.h"
#include "ingot/ops/walk.h"

namespace ingot::ops {
namespace {

void infer(InferContext& c) {
  const Attribute* attribute = c.node().attributes.find("value");
  const auto* value = attribute ? std::get_if<Tensor>(&attribute->value) : nullptr;
  if (!attribute) c.out_elem(0, DType::f32);
  if (value) {
    c.require(value->size() == 1, "value is not one number");
    c.out_elem(0, value->dtype());
  }
  if (const auto rank = c.rank(0)) c.require(*rank == 1, "the shape is no vector");
  const auto shape = c.ints(0);
  if (!shape) {
    if (const auto rank = c.dim(0, 0).as_int()) c.out_rank(0, *rank);
    return;
  }
  c.require(static_cast<std::int64_t>(shape->size()) <= kMostDims, "too many dimensions");
  for (const Dim& d : *shape)
    if (d.is_known() && d.value() < 0) c.fail("dimension " + d.str() + " is negative");
  c.out_shape(0, *shape);

  constexpr std::int64_t kMostElements = 1024;
  const Dim size = shape->empty() ? Dim(1) : shape->front();
  if (shape->size() > 1 || !size.is_known() || size.value() > kMostElements) return;
  if (value && !is_integer(value->dtype()) && value->dtype() != DType::boolean) return;
  const Dim number = value ? Dim(value->to_ints().front()) : Dim(0);
  c.out_ints(0, std::vector<Dim>(static_cast<std::size_t>(size.value()), number));
}

// bfloat16, allowed from 20 on.
Values decompose(DecomposeContext& c) {
  const auto* value = c.node.attributes.get<Tensor>("value");
  if (!value || value->dtype() != DType::bf16 || value->size() != 1) return {};
  const auto number = static_cast<float>(value->to_doubles().front());
  Value* filled = c.g.op("ConstantOfShape", {c.in(0)}, {{"value", Tensor::of<float>({1}, {number})}});
  return {c.g.cast(filled, DType::bf16)};
}

void run(KernelContext& c) {
  if (c.in(0).rank() > 1) c.fail("the shape is no vector");
  const Dims dims = c.in(0).to_ints();
  if (static_cast<std::int64_t>(dims.size()) > kMostDims) c.fail("too many dimensions");
  for (const std::int64_t d : dims)
    if (d < 0) c.fail("dimension " + std::to_string(d) + " is negative");
  const auto* value = c.node.attributes.get<Tensor>("value");
  if (value && value->size() != 1) c.fail("value is not one number");
  const Array number = value ? Array::from(*value) : Array::scalar(0.0f);
  Array& y = c.make(0, number.dtype(), dims);
  gather_walk(Walk{{y.size()}, {{0}}}, number, 0, y, c.host().budget());
}

}  // namespace

constinit const OpDef defs::ConstantOfShape = {
    .name = "ConstantOfShape",
    .infer = infer,
    .decompose = decompose,
    .kernel = run,
};

}  // namespace ingot::ops
