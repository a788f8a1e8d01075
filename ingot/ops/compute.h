#pragma once
#include "ingot/base/float_types.h"
#include "ingot/ops/kernel.h"

// What reference kernels share about element types: they compute in few types and convert at the edges.

namespace ingot::ops {

using ComputeFloats = Types<float, double>;
using ComputeNumbers = JoinTypes<ComputeFloats, Integers>;

/// The type in which a kernel computes on elements of a type: float for the smaller floats, int32 for integers of 4
/// and 2 bits, else the type itself.
DType compute_dtype(DType dtype);

struct Conversion {
  bool saturate = true;  // for the float8 family
  E8M0Rounding e8m0 = E8M0Rounding::up;
};

/// The array in another numeric type or bool; the same memory if it has that type. To a float: rounded once, to
/// nearest even. From a float to an integer: towards zero, the nearest that exists, 0 for NaN. Between integers: the
/// low bits. To bool: whether it differs from 0.
Array converted(const Array& x, DType to, KernelHost& host, const Conversion& how = {});

/// Input i in the type to compute in.
Array computable(KernelContext& c, std::size_t i);

/// Memory to compute in.
inline Array scratch(KernelContext& c, DType dtype, Dims dims) { return c.host().allocate(dtype, std::move(dims)); }

/// Output i out of what was computed, in its own type.
void put(KernelContext& c, std::size_t i, const Array& computed, DType dtype);

/// y = f(x) for each element, in the type to compute in; f is called with any type of the list.
template <class List, class F> void map_unary(KernelContext& c, List types, F f) {
  const Array x = computable(c, 0);
  Array y = scratch(c, x.dtype(), x.dims());
  dispatch(x.dtype(), types, [&]<class T>() {
    const auto in = x.data<T>();
    const auto out = y.mutable_data<T>();
    for (std::size_t i = 0; i < in.size(); ++i) out[i] = static_cast<T>(f(in[i]));
  });
  put(c, 0, y, c.in(0).dtype());
}

}  // namespace ingot::ops
