#pragma once
#include "ingot/ingot.h"
#include "values.h"

namespace ingot::python {

/// Examples from arrays by name, or from a file; the targets are the column `target`.
Dataset to_dataset(const py::object& data, const std::string& target, const Model& model);

}  // namespace ingot::python
