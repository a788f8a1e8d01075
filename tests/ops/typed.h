#pragma once
#include "ingot/base/float_types.h"
#include "ingot/ir/array.h"

namespace ingot::test {

/// The array in another floating-point type.
inline Array typed(const Array& x, DType to) {
  Array y(to, x.dims());
  const std::vector<double> values = x.to_doubles();
  dispatch(to, ingot::Floats{}, [&]<class T>() {
    const auto out = y.mutable_data<T>();
    for (std::size_t i = 0; i < values.size(); ++i) out[i] = T(static_cast<float>(values[i]));
  });
  return y;
}

}  // namespace ingot::test
