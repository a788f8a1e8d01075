#pragma once
#include <vector>

#include "tests/ops/op_case.h"

namespace ingot::test {

template <class T = float> std::vector<T> values(const Array& a) { return {a.data<T>().begin(), a.data<T>().end()}; }

inline Array floats(Dims dims, const std::vector<float>& numbers) { return Array::of<float>(std::move(dims), numbers); }
inline Array floats(const std::vector<float>& numbers) { return floats({std::ssize(numbers)}, numbers); }
inline Array ints(const std::vector<std::int64_t>& numbers) {
  return Array::of<std::int64_t>({std::ssize(numbers)}, numbers);
}

/// 0, 1, 2, .. in a shape.
template <class T = float> Array counted(Dims dims) {
  Array a(dtype_of<T>, std::move(dims));
  std::size_t i = 0;
  for (T& v : a.mutable_data<T>()) v = static_cast<T>(i++);
  return a;
}

}  // namespace ingot::test
