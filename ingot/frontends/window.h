#pragma once
#include <optional>
#include <vector>

#include "ingot/ops/builder.h"
#include "ingot/ops/nn/static_window.h"

namespace ingot::frontends {

/// A window over the spatial axes with the padding that frameworks name, and what ONNX's operators say of it.
struct Window : ops::StaticWindow {
  bool is_same = false;  ///< padding SAME, else VALID

  /// kernel_shape if asked for; strides and dilations where they are not 1.
  Attrs attrs(bool with_kernel) const;
  /// What SAME adds to a channels-first input, those before each axis and then those after; nothing: a size is not
  /// known and matters.
  std::optional<std::vector<std::int64_t>> same_pads(const Value* x) const;
  /// Adds the padding to the attributes: as numbers where they are known and not all 0, else as auto_pad.
  void pad(Attrs& attrs, const Value* x) const;
};

}  // namespace ingot::frontends
