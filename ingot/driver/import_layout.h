#pragma once
#include <string>
#include <vector>

#include "ingot/driver/options.h"
#include "ingot/ir/model.h"

namespace ingot::driver {

/// Property of a model that tells the layout of an input or output: "ingot.layout.NAME" -> "NHWC".
inline constexpr std::string_view kLayoutProperty = "ingot.layout.";
/// What is said of values that have other names now.
void rename_layouts(Model& model, const std::vector<std::pair<std::string, std::string>>& renames);

/// Frontends of NHWC frameworks put transposes around every spatial operator; leaves those that are needed. Inputs and
/// outputs keep their layout unless another is wished; the layout of each that has one becomes a property of the model.
/// `keeps_nhwc`: spatial operators become functions whose channels come last, and so no transposes are left around
/// them.
void settle_layout(Model& model, const LayoutWish& wish, bool keeps_nhwc, std::vector<std::string>& notes);

/// Which layouts the inputs and outputs of a model of any operator set have: as its properties say, else as spatial
/// operators and transposes tell; nothing where it cannot be known.
passes::PortLayouts known_layouts(const Model& model);

/// The same wish for a model that is ONNX already. Refused where no layout can be known.
void wish_layout(Model& model, const LayoutWish& wish, std::vector<std::string>& notes);

}  // namespace ingot::driver
