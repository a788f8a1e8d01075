// Characters of UTF-8 texts: reading them, their case, white space.
#include "ingot/ops/text/utf8.h"

#include <locale.h>
#include <wctype.h>

#include <algorithm>

#include "ingot/base/utf8.h"

namespace ingot::ops {
namespace {

/// The C library's tables of Unicode; without them (null) only ASCII has cases.
locale_t unicode() {
  static const locale_t locale = newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr);
  return locale;
}

template <class Map> std::string mapped(std::string_view text, Map map) {
  std::string result;
  while (!text.empty()) {
    const Character c = first_character(text);
    if (c.is_valid)
      append_utf8(result, map(c.code));
    else
      result += text.front();
    text.remove_prefix(c.bytes);
  }
  return result;
}

}  // namespace

Character first_character(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<std::uint32_t>(static_cast<unsigned char>(text[i])); };
  const std::uint32_t lead = byte(0);
  if (lead < 0x80) return {lead, 1, true};
  const std::size_t bytes = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || text.size() < bytes) return {lead, 1, false};
  std::uint32_t code = lead & (0xFFu >> (bytes + 1));
  for (std::size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return {lead, 1, false};
    code = code << 6 | (byte(i) & 0x3F);
  }
  constexpr std::uint32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  if (code < kLeast[bytes] || code > 0x10FFFF || (code >= 0xD800 && code < 0xE000)) return {lead, 1, false};
  return {code, bytes, true};
}

std::string lower_case(std::string_view text) {
  return mapped(text, [](std::uint32_t code) -> std::uint32_t {
    if (code < 0x80 || !unicode()) return code >= 'A' && code <= 'Z' ? code + 32 : code;
    return static_cast<std::uint32_t>(towlower_l(static_cast<wint_t>(code), unicode()));
  });
}

std::string upper_case(std::string_view text) {
  return mapped(text, [](std::uint32_t code) -> std::uint32_t {
    if (code < 0x80 || !unicode()) return code >= 'a' && code <= 'z' ? code - 32 : code;
    return static_cast<std::uint32_t>(towupper_l(static_cast<wint_t>(code), unicode()));
  });
}

bool is_space(std::uint32_t code) {
  if ((code >= 0x09 && code <= 0x0D) || (code >= 0x1C && code <= 0x20) || (code >= 0x2000 && code <= 0x200A))
    return true;
  constexpr std::uint32_t kOthers[] = {0x85, 0xA0, 0x1680, 0x2028, 0x2029, 0x202F, 0x205F, 0x3000};
  return std::ranges::find(kOthers, code) != std::end(kOthers);
}

}  // namespace ingot::ops
