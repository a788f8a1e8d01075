#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace ingot {

/// Whether a character steers a terminal or reorders what it shows: C0 and C1 controls, DEL, marks of writing
/// direction, line separators.
bool is_steering(std::uint32_t code_point);

/// Text that may come out of a model, fit to be printed: whatever steers a terminal, and bytes that are no UTF-8, are
/// escaped as \x1b or \u202e. Newlines and tabs stay if wanted; texts of more than `longest` bytes are cut.
std::string printable(std::string_view text, bool keeps_newlines = false, std::size_t longest = std::string::npos);

/// The code point that begins at `text`, which is not empty, and its bytes; a size of 0: no UTF-8, and of -1: the text
/// ends inside of it.
struct CodePoint {
  std::uint32_t value;
  int size;
};
CodePoint first_code_point(std::string_view text);

}  // namespace ingot
