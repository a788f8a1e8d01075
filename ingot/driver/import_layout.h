#pragma once
#include <string>
#include <vector>

#include "ingot/driver/options.h"
#include "ingot/ir/model.h"

namespace ingot::driver {

/// Property of a model that tells the layout of an input or output: "ingot.layout.NAME" -> "NHWC".
inline constexpr std::string_view kLayoutProperty = "ingot.layout.";

/// Frontends of NHWC frameworks put transposes around every spatial operator; leaves those that are needed. Inputs and
/// outputs keep their layout unless another is wished; the layout of each that has one becomes a property of the model.
void settle_layout(Model& model, const LayoutWish& wish, std::vector<std::string>& notes);

/// The same wish for a model that is ONNX already: its tensors of 3 to 5 dimensions have their channels first.
void wish_layout(Model& model, const LayoutWish& wish, std::vector<std::string>& notes);

}  // namespace ingot::driver
