#pragma once
#include <cstddef>
#include <string_view>

#include "ingot/ir/model.h"

namespace ingot::passes {

/// The domain of operators whose channels come last; each is a function of the model, with a body of plain ONNX.
inline constexpr std::string_view kNhwcDomain = "ingot.nhwc";

/// Spatial operators between transposes from and to channels last become calls of such functions, which are added to
/// the model; weights stay as they are. Returns how many there are.
std::size_t use_nhwc_functions(Model& model);

}  // namespace ingot::passes
