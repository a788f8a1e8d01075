#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "ingot/base/dtype.h"

namespace ingot::train {

/// An input of a model that columns of a table may feed.
struct TableInput {
  std::string name;
  DType dtype = DType::f32;
  std::optional<std::int64_t> width{};  // elements per row, where the model says
};

}  // namespace ingot::train
