#pragma once
#include "ingot/ops/walk.h"

// How reductions run: the input is read once, in order, and each element goes to the result it belongs to.

namespace ingot::ops {

struct Reduction {
  Dims dims;           // of the result
  Walk walk;           // over the input: its offset, and that of the result (0 apart along reduced axes)
  std::int64_t count;  // how many elements make one result
};

/// From the inputs data and axes and the attributes keepdims and noop_with_empty_axes.
Reduction reduction_of(KernelContext& c);

/// results[k] = f(results[k], element) for the elements of each result, in order.
template <class T, class R, class F>
void fold(KernelContext& c, const Reduction& r, const Array& x, Array& results, F f) {
  const T* in = x.data<T>().data();
  R* out = results.mutable_data<R>().data();
  const std::int64_t step_in = r.walk.strides[0].back(), step_out = r.walk.strides[1].back();
  for_each_row(r.walk, c.host().budget(), [&](const std::int64_t* at, std::int64_t n) {
    for (std::int64_t i = 0; i < n; ++i) {
      R& result = out[at[1] + i * step_out];
      result = f(result, in[at[0] + i * step_in]);
    }
  });
}

}  // namespace ingot::ops
