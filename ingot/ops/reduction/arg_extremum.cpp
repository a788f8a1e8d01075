// ArgMax and ArgMin: where along an axis the largest or smallest number is.
#include <functional>

#include "ingot/ops/compute.h"
#include "ingot/ops/infer.h"
#include "ingot/ops/math/lanes.h"
#include "ingot/ops/math/nonnegative_axis.h"
#include "ingot/ops/math/scalar_functions.h"
#include "ingot/ops/math/wider_type.h"

namespace ingot::ops {
namespace {

void infer(InferContext& c) {
  const Shape* x = c.shape(0);
  if (!x) return;
  const auto axis = c.axis(c.attr("axis", std::int64_t{0}), static_cast<std::int64_t>(x->size()));
  Shape y = *x;
  if (c.attr("keepdims", std::int64_t{1}) != 0)
    y[static_cast<std::size_t>(axis)] = 1;
  else
    y.erase(y.begin() + axis);
  c.out_shape(0, std::move(y));
}

constexpr Step kSteps[] = {{.since = 11, .down = down_to_nonnegative_axis}};

/// NaN counts as better than every number.
template <class Better> void run(KernelContext& c) {
  const Array x = computable(c, 0);
  const std::int64_t axis = c.axis(c.attr("axis", std::int64_t{0}), x.rank());
  const bool is_last_wanted = c.attr("select_last_index", std::int64_t{0}) != 0;
  Dims dims = x.dims();
  if (c.attr("keepdims", std::int64_t{1}) != 0)
    dims[static_cast<std::size_t>(axis)] = 1;
  else
    dims.erase(dims.begin() + axis);
  Array& y = c.make(0, DType::i64, dims);
  const Lanes lanes = lanes_along(x, axis);
  if (lanes.size == 0 && y.size() != 0) c.fail("there is nothing along the axis");
  std::int64_t* out = y.mutable_data<std::int64_t>().data();
  dispatch(x.dtype(), ComputeNumbers{}, [&]<class T>() {
    const T* in = x.data<T>().data();
    const auto is_better = [](T a, T b) { return is_nan(a) ? !is_nan(b) : Better()(a, b); };
    for_each_lane(lanes, c.host().budget(), [&](std::int64_t first) {
      std::int64_t best = 0;
      for (std::int64_t i = 1; i < lanes.size; ++i) {
        const T number = in[first + i * lanes.inner], so_far = in[first + best * lanes.inner];
        if (is_last_wanted ? !is_better(so_far, number) : is_better(number, so_far)) best = i;
      }
      *out++ = best;
    });
  });
}

}  // namespace

constinit const OpDef defs::ArgMax = {
    .name = "ArgMax",
    .infer = infer,
    .steps = kSteps,
    .decompose = bfloat16_in_float,
    .kernel = run<std::greater<>>,
};
constinit const OpDef defs::ArgMin = {
    .name = "ArgMin",
    .infer = infer,
    .steps = kSteps,
    .decompose = bfloat16_in_float,
    .kernel = run<std::less<>>,
};

}  // namespace ingot::ops
