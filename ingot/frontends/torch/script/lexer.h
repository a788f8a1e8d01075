#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ingot::frontends::torch::script {

struct Token {
  enum class Kind : std::uint8_t { name, integer, real, imaginary, text, format, symbol, newline, indent, dedent, end };
  Kind kind = Kind::end;
  int line = 0;
  std::string_view spelling{};  // in the source
  std::string text{};           // of a text or format (f"..."): what it says

  bool is(std::string_view what) const { return (kind == Kind::symbol || kind == Kind::name) && spelling == what; }
};

/// The source's tokens; lines inside brackets are one.
std::vector<Token> tokens_of(std::string_view source);

}  // namespace ingot::frontends::torch::script
