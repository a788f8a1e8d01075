// Where: from one input where the condition holds, else from the other; all broadcast.
#include "ingot/ops/gradient.h"
#include "ingot/ops/math/known_elements.h"
#include "ingot/ops/math/wider_type.h"
#include "ingot/ops/walk.h"

namespace ingot::ops {
namespace {

Dim chosen(std::span<const Dim> x) {
  if (x[0].is_known()) return x[0].value() ? x[1] : x[2];
  return same(x[1], x[2]) ? x[1] : Dim();
}

void infer(InferContext& c) {
  infer_broadcast(c);
  fold_elements(c, c.elem(1), 3, chosen);
}

void run(KernelContext& c) {
  const Array &condition = c.in(0), &x = c.in(1), &y = c.in(2);
  if (x.dtype() != y.dtype()) c.fail("the inputs to choose from differ in type");
  const Dims dims = broadcast_dims(c, {&condition.dims(), &x.dims(), &y.dims()});
  const Walk walk = ops::broadcast(dims, {&condition.dims(), &x.dims(), &y.dims()});
  Array& z = c.make(0, x.dtype(), dims);
  const bool* test = condition.data<bool>().data();
  dispatch_cell(x.dtype(), [&]<class T>() {
    const T *a = cells<T>(x), *b = cells<T>(y);
    T* out = cells<T>(z);
    const std::int64_t step = walk.strides[0].back(), step_a = walk.strides[1].back(), step_b = walk.strides[2].back();
    for_each_row(walk, c.host().budget(), [&](const std::int64_t* at, std::int64_t n) {
      for (std::int64_t i = 0; i < n; ++i)
        *out++ = test[at[0] + i * step] ? a[at[1] + i * step_a] : b[at[2] + i * step_b];
    });
  });
}

Values gradient_where(GradContext& c) {
  Value* yes = c.wants(1) ? c.sum_to(c.keep(c.x(0), c.dy()), c.x(1)) : nullptr;
  Value* no = c.wants(2) ? c.sum_to(c.g.where(c.x(0), c.g.scalar(0, c.elem(2)), c.dy()), c.x(2)) : nullptr;
  return {nullptr, yes, no};
}

}  // namespace

constinit const OpDef defs::Where = {
    .name = "Where",
    .infer = infer,
    .decompose = bfloat16_in_float,
    .kernel = run,
    .gradient = gradient_where,
};

}  // namespace ingot::ops
