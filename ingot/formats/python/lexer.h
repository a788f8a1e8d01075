#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "ingot/formats/python/syntax.h"

namespace ingot::formats::python {

struct Token {
  enum class Kind : std::uint8_t { word, number, text, sign, newline, indent, dedent, end };
  Kind kind = Kind::end;
  std::string text{};  // of a text: what it means
  Place place{};
  bool is_format = false;  // f"...": has to be computed

  bool is(std::string_view sign) const { return (kind == Kind::sign || kind == Kind::word) && text == sign; }
};

/// Tokens of a program, with indentation and without comments. At most 100,000.
std::vector<Token> tokens_of(std::string_view text);

[[noreturn]] void refuse(const Place& place, const std::string& what);

}  // namespace ingot::formats::python
