#pragma once
#include <optional>

#include "values.h"

namespace ingot::python {

/// The memory of a tensor of another library, where it is (docs of DLPack: a capsule with a struct in it). Nothing for
/// what has no __dlpack__, lies on another device or has a type that ONNX lacks; the library's own exceptions pass.
std::optional<Array> from_dlpack(const py::handle& value);

}  // namespace ingot::python
