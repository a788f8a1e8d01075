#pragma once
#include <string>

#include "ingot/ir/array.h"
#include "ingot/ir/model.h"

namespace ingot::verify {

/// The Softmax, Sigmoid or Tanh whose results a value holds, moved or cut at most; null: none.
const Node* bounded_function(const Model& model, const std::string& value);

/// Whether a value is what such a function gives for inputs far from zero: all of it 0 or 1. Whatever the model
/// computes in front of the function, it hides.
bool is_saturated(const Model& model, const std::string& value, const Array& elements);

}  // namespace ingot::verify
