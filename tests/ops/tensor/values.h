#pragma once
#include "tests/ops/op_case.h"

namespace ingot::test {

template <class T> std::vector<T> values(const Array& a) { return {a.data<T>().begin(), a.data<T>().end()}; }

/// A list of integers, as shapes and axes are given.
inline Array list(const std::vector<std::int64_t>& v) {
  return Array::of<std::int64_t>({static_cast<std::int64_t>(v.size())}, v);
}

/// 0, 1, 2, .. in a shape.
template <class T = float> Array counted(Dims dims) {
  Array a(dtype_of<T>, std::move(dims));
  std::size_t i = 0;
  for (T& v : a.mutable_data<T>()) v = static_cast<T>(i++);
  return a;
}

}  // namespace ingot::test
