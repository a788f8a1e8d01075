#pragma once
#include <initializer_list>

#include "ingot/base/budget.h"
#include "ingot/ops/compute.h"

// Loops over arrays of several axes for reference kernels.

namespace ingot::ops {

/// Elements between neighbours along each axis of a dense array.
Dims strides_of(const Dims& dims);

/// One loop over several arrays: the dimensions, and for each array the elements between neighbours (0: the same
/// element again). There is at least one axis.
struct Walk {
  Dims dims;
  std::vector<Dims> strides;
};

/// The dimensions that shapes broadcast to; refuses those that do not fit.
Dims broadcast_dims(const KernelContext& c, std::initializer_list<const Dims*> shapes);

/// A loop over `out` in which each operand, which must broadcast to it, is stretched. Neighbouring axes are joined
/// where every array allows it.
Walk broadcast(const Dims& out, std::initializer_list<const Dims*> operands);

/// Joins neighbouring axes where every array allows it and drops those of size 1.
void join_axes(Walk& walk);

/// Calls f(offsets, n): n elements along the last axis from one offset per array; neighbours are
/// walk.strides[k].back() apart.
template <class F> void for_each_row(const Walk& walk, const Budget& budget, F f) {
  const std::size_t rank = walk.dims.size();
  for (const std::int64_t d : walk.dims)
    if (d == 0) return;
  Dims offsets(walk.strides.size(), 0), index(rank, 0);
  const std::int64_t n = walk.dims.back();
  std::int64_t until_poll = 1 << 16;
  while (true) {
    f(offsets.data(), n);
    until_poll -= n;
    if (until_poll <= 0) {
      budget.poll();
      until_poll = 1 << 16;
    }
    std::size_t axis = rank - 1;
    while (axis-- > 0) {
      for (std::size_t k = 0; k < offsets.size(); ++k) offsets[k] += walk.strides[k][axis];
      if (++index[axis] < walk.dims[axis]) break;
      for (std::size_t k = 0; k < offsets.size(); ++k) offsets[k] -= walk.strides[k][axis] * walk.dims[axis];
      index[axis] = 0;
    }
    if (axis == static_cast<std::size_t>(-1)) return;
  }
}

/// z = f(x, y) with broadcasting, in the type to compute in. The result is bool if f's is, else of the inputs' type.
template <class List, class F> void map_binary(KernelContext& c, List types, F f) {
  const Array x = computable(c, 0), y = computable(c, 1);
  const Dims dims = broadcast_dims(c, {&x.dims(), &y.dims()});
  const Walk walk = broadcast(dims, {&x.dims(), &y.dims()});
  dispatch(x.dtype(), types, [&]<class T>() {
    constexpr bool kIsTest = std::is_same_v<decltype(f(T{}, T{})), bool>;
    using Out = std::conditional_t<kIsTest, bool, T>;
    Array z = scratch(c, dtype_of<Out>, dims);
    const T *a = x.data<T>().data(), *b = y.data<T>().data();
    Out* out = z.mutable_data<Out>().data();
    const std::int64_t step_a = walk.strides[0].back(), step_b = walk.strides[1].back();
    for_each_row(walk, c.host().budget(), [&](const std::int64_t* at, std::int64_t n) {
      for (std::int64_t i = 0; i < n; ++i) *out++ = static_cast<Out>(f(a[at[0] + i * step_a], b[at[1] + i * step_b]));
    });
    put(c, 0, z, kIsTest ? DType::boolean : c.in(0).dtype());
  });
}

/// The bytes of one element, whatever they mean: for kernels that only move elements.
template <std::size_t N> struct Cell { std::byte bytes[N]; };

/// Calls f.operator()<T>() with the T that elements of a type are moved as: a Cell, or std::string.
template <class F> void dispatch_cell(DType dtype, F&& f) {
  if (dtype == DType::string) return f.template operator()<std::string>();
  switch (bits_of(dtype)) {
    case 16:
      return f.template operator()<Cell<2>>();
    case 32:
      return f.template operator()<Cell<4>>();
    case 64:
      return f.template operator()<Cell<8>>();
    case 128:
      return f.template operator()<Cell<16>>();
    default:
      return f.template operator()<Cell<1>>();
  }
}
template <class T> const T* cells(const Array& a) { return reinterpret_cast<const T*>(a.bytes()); }
template <class T> T* cells(Array& a) { return reinterpret_cast<T*>(a.bytes()); }

/// The elements of x in the order of a walk over it (one array of strides, from `offset`): transposes, slices, tiles.
void gather_walk(const Walk& walk, const Array& x, std::int64_t offset, Array& y, const Budget& budget);

}  // namespace ingot::ops
