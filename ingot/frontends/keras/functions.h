#pragma once
#include <span>
#include <string_view>

#include "ingot/frontends/keras/layer.h"

namespace ingot::frontends::keras {

/// A function of Python that is an operator of TensorFlow, as functions.def says it.
struct PythonFunction {
  std::string_view name, parameters, op, inputs, attributes;
};

std::span<const PythonFunction> all_functions();
const PythonFunction* find_function(std::string_view name);
void call_function(Call& call, const PythonFunction& function);

}  // namespace ingot::frontends::keras
