#pragma once
#include <cstdint>
#include <optional>

#include "ingot/ir/model.h"

namespace ingot::driver {

/// The arithmetic of a model's convolutions, matrix products and recurrent layers.
struct Work {
  double operations = 0;     // a multiplication and an addition are two
  std::int64_t counted = 0;  // nodes
  std::int64_t unknown = 0;  // nodes of these operators whose shapes are not known, and those in subgraphs
};

/// Whether the node is one of those that Work counts, and how much it computes; nothing: its shapes are not known.
bool is_product(const Node& node);
std::optional<double> product_operations(const Node& node);

/// The model's types must be inferred.
Work work_of(const Model& model);

}  // namespace ingot::driver
