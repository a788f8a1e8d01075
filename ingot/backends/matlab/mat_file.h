#pragma once
#include <string>
#include <vector>

#include "ingot/ir/tensor.h"

namespace ingot::backends::matlab {

struct MatVariable {
  std::string name;  // an identifier
  const Tensor* value;
};

/// A MAT-file of level 5 with each tensor as a column of its elements in row-major order.
std::string mat_file(const std::vector<MatVariable>& variables);

}  // namespace ingot::backends::matlab
