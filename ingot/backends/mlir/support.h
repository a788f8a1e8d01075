#pragma once
#include <set>
#include <string>
#include <string_view>

#include "ingot/base/dtype.h"

namespace ingot::backends::mlir {

/// The small functions that printed code calls, each added when it is first used. All of them are total: they have a
/// result for any argument.
class Support {
 public:
  /// floor_div, floor_mod, place, whole_power
  std::string use(std::string_view name);
  /// div, remainder, modulo, shift_left, shift_right, whole; load, store; product, tile, dots; sort_up, sort_down
  std::string use(std::string_view base, DType type);
  /// A function of another's making.
  bool add(const std::string& name, std::string_view text);
  const std::string& text() const { return text_; }

 private:
  std::set<std::string> known_;
  std::string text_;
};

/// What a function that only this module calls is marked with.
inline constexpr std::string_view kInternal = "attributes {llvm.linkage = #llvm.linkage<internal>}";

/// `text` with each `what` replaced.
std::string replaced(std::string text, std::string_view what, std::string_view by);

/// The text of product, tile and dots of f32 or f64.
std::string kernel_text(std::string_view base, DType type);
std::string sort_text(bool descends, DType type);

}  // namespace ingot::backends::mlir
