#pragma once
#include <optional>

#include "ingot/passes/fuse/fusions.h"

namespace ingot::passes::fuse {

/// Cast(MatMulInteger(a, b)) * (a_scale * b_scale), where DynamicQuantizeLinear makes the integers of a and their
/// scale.
struct IntegerProduct {
  const Node *product = nullptr, *rounding = nullptr;
  Value* b_scale = nullptr;  // a constant of rank 0 or 1
};
std::optional<IntegerProduct> integer_product(const Node& node);

}  // namespace ingot::passes::fuse
