#pragma once
#include "ingot/frontends/keras/layer.h"
#include "ingot/frontends/translator.h"

namespace ingot::frontends::keras {

/// What is asked of a layer beside its translation.
struct Guard {
  bool passes_mask = false;  ///< the mask of its first input is that of its outputs
};

/// Layers by their class; "op:Add" are Keras 3's operations, "tf:math.add" TensorFlow's in Keras 2's models.
using Row = Translator<void(Call&), Guard>;

std::span<const Row> all_rows();
/// Null: there is no translation.
const Row* find_row(std::string_view name);

}  // namespace ingot::frontends::keras
