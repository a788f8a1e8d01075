#pragma once
#include "ingot/ir/graph.h"

namespace ingot::lower {

/// Conv, MatMul and Gemm of dequantised bytes become products of the bytes themselves, scaled behind the sum: their
/// weights stay as small as they are stored.
void use_integer_products(Graph& graph);

}  // namespace ingot::lower
