// Text out of models, made harmless to terminals.
#include "ingot/base/printable.h"

#include <fmt/format.h>

#include <iterator>

namespace ingot {
namespace {

bool continues(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

}  // namespace

bool is_steering(std::uint32_t c) {
  if (c < 0x20 || (c >= 0x7F && c < 0xA0)) return true;
  // Marks, embeddings, overrides and isolates of direction; separators of lines and paragraphs.
  return c == 0x061C || c == 0x200E || c == 0x200F || (c >= 0x2028 && c <= 0x202E) || (c >= 0x2066 && c <= 0x2069);
}

CodePoint first_code_point(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text[0]);
  if (lead < 0x80) return {lead, 1};
  const int size = lead >= 0xC2 && lead < 0xE0   ? 2
                   : lead >= 0xE0 && lead < 0xF0 ? 3
                   : lead >= 0xF0 && lead < 0xF5 ? 4
                                                 : 0;
  if (size == 0) return {lead, 0};
  std::uint32_t value = lead & (0xFFu >> (size + 1));
  for (int i = 1; i < size; ++i) {
    if (static_cast<std::size_t>(i) == text.size()) return {lead, -1};
    if (!continues(text[static_cast<std::size_t>(i)])) return {lead, 0};
    value = value << 6 | (static_cast<unsigned char>(text[static_cast<std::size_t>(i)]) & 0x3F);
  }
  constexpr std::uint32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool is_surrogate = value >= 0xD800 && value < 0xE000;
  if (value < kLeast[size] || is_surrogate || value > 0x10FFFF) return {lead, 0};
  return {value, size};
}

std::string printable(std::string_view text, bool keeps_newlines, std::size_t longest) {
  const bool is_cut = text.size() > longest;
  if (is_cut) {
    for (int i = 0; i < 3 && longest > 0 && continues(text[longest]); ++i) --longest;  // not inside of a character
    text = text.substr(0, longest);
  }
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const CodePoint c = first_code_point(text);
    const std::size_t size = c.size > 0 ? static_cast<std::size_t>(c.size) : 1;
    if (c.size > 0 && (!is_steering(c.value) || (keeps_newlines && (c.value == '\n' || c.value == '\t'))))
      out += text.substr(0, size);
    else if (c.value < 0x100)
      fmt::format_to(std::back_inserter(out), "\\x{:02x}", c.value);
    else
      fmt::format_to(std::back_inserter(out), "\\u{:04x}", c.value);
    text.remove_prefix(size);
  }
  if (is_cut) out += "...";
  return out;
}

}  // namespace ingot
