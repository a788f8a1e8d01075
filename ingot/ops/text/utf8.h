#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace ingot::ops {

/// The character a text begins with and the bytes it takes; a byte that begins none stands for itself.
struct Character {
  std::uint32_t code = 0;
  std::size_t bytes = 1;
  bool is_valid = false;
};
Character first_character(std::string_view text);

/// Each character in lower or upper case as Unicode maps single characters; what is not UTF-8 stays as it is.
std::string lower_case(std::string_view text);
std::string upper_case(std::string_view text);

/// White space of Unicode.
bool is_space(std::uint32_t code);

}  // namespace ingot::ops
