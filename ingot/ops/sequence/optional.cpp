// Optional, OptionalGetElement, OptionalHasElement: values that may be absent.
#include "ingot/ops/infer.h"
#include "ingot/ops/kernel.h"
#include "ingot/ops/steps.h"

namespace ingot::ops {
namespace {

void infer_optional(InferContext& c) {
  if (c.has(0)) {
    if (c.type(0)) c.out(0, Type::optional(c.type(0)));
    return;
  }
  if (const auto* type = c.node().attributes.get<Type>("type"))
    c.out(0, Type::optional(*type));
  else if (!c.node().attributes.has("type"))
    c.fail("there is neither an input nor a type");
}

// Since 18 a value that is not optional may be asked too: it is always there.
void infer_get(InferContext& c) {
  const Type& type = c.type(0);
  if (!type.is_optional())
    c.out_like(0, 0);
  else if (type.inner())
    c.out(0, type.inner());
}

void infer_has(InferContext& c) {
  c.out_shape(0, {});
  if (!c.has(0)) c.out_ints(0, {0});
  if (c.type(0) && !c.type(0).is_optional()) c.out_ints(0, {1});
}

Values decompose_get(DecomposeContext& c) {
  if (!c.has(0) || !c.in(0)->type || c.in(0)->type.is_optional()) return {};
  return {c.in(0)};
}

Values decompose_has(DecomposeContext& c) {
  if (!c.has(0)) return {c.g.constant(Tensor::scalar<bool>(false))};
  if (!c.in(0)->type || c.in(0)->type.is_optional()) return {};
  return {c.g.constant(Tensor::scalar<bool>(true))};
}

// OptionalHasElement-15 needs its input.
void down_to_an_input(StepContext& c) {
  if (!c.node.input(0)) c.replace({c.g.constant(Tensor::scalar<bool>(false))});
}

constexpr Step kHasSteps[] = {{.since = 18, .down = down_to_an_input}};

void run_optional(KernelContext& c) {
  if (c.has(0)) c.set(0, c.datum(0));
}

void run_get(KernelContext& c) {
  if (!c.has(0)) c.fail("the optional has no element");
  c.set(0, c.datum(0));
}

void run_has(KernelContext& c) { c.set(0, Array::scalar(c.has(0))); }

}  // namespace

constinit const OpDef defs::Optional = {
    .name = "Optional",
    .infer = infer_optional,
    .kernel = run_optional,
};
constinit const OpDef defs::OptionalGetElement = {
    .name = "OptionalGetElement",
    .infer = infer_get,
    .decompose = decompose_get,
    .kernel = run_get,
};
constinit const OpDef defs::OptionalHasElement = {
    .name = "OptionalHasElement",
    .infer = infer_has,
    .steps = kHasSteps,
    .decompose = decompose_has,
    .kernel = run_has,
};

}  // namespace ingot::ops
