#pragma once
#include <span>
#include <string_view>

namespace ingot::backends::mlir {

/// A function by its name; $T stands for the type, $N for its suffix, $I for how it is inlined.
struct Text {
  std::string_view name, text;
};

/// Functions of fixed types.
std::span<const Text> plain_texts();

}  // namespace ingot::backends::mlir
