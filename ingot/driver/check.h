#pragma once
#include <vector>

#include "ingot/ir/opaque_model.h"
#include "ingot/passes/check/check.h"

namespace ingot::driver {

using passes::Problem;
using passes::Severity;

/// Is it valid ONNX: every problem, with its place.
std::vector<Problem> check(const Model& model, Budget* budget = nullptr);

}  // namespace ingot::driver
