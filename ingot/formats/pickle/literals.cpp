// Strings as protocol 0 spells them, and bytes that were written as text.
#include "ingot/formats/pickle/literals.h"

#include "ingot/base/utf8.h"

namespace ingot::formats::pickle {
namespace {

int digit_of(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return 99;
}

/// Exactly `count` digits of this base at `at`, which moves behind them.
std::optional<char32_t> digits(std::string_view text, std::size_t& at, std::size_t count, int base) {
  if (at + count > text.size()) return std::nullopt;
  char32_t value = 0;
  for (const std::size_t end = at + count; at < end; ++at) {
    const int digit = digit_of(text[at]);
    if (digit >= base) return std::nullopt;
    value = value * static_cast<char32_t>(base) + static_cast<char32_t>(digit);
  }
  return value;
}

std::optional<char> simple_escape(char c) {
  constexpr std::string_view kLetters = "\\'\"abfnrtv", kMeanings = "\\'\"\a\b\f\n\r\t\v";
  const std::size_t i = kLetters.find(c);
  if (i == std::string_view::npos) return std::nullopt;
  return kMeanings[i];
}

}  // namespace

std::optional<std::string> unquoted(std::string_view literal) {
  while (!literal.empty() && (literal.back() == ' ' || literal.back() == '\r')) literal.remove_suffix(1);
  if (literal.size() < 2 || literal.front() != literal.back()) return std::nullopt;
  if (literal.front() != '\'' && literal.front() != '"') return std::nullopt;
  const std::string_view text = literal.substr(1, literal.size() - 2);
  std::string content;
  for (std::size_t at = 0; at < text.size();) {
    const char c = text[at++];
    if (c != '\\') {
      content += c;
      continue;
    }
    if (at == text.size()) return std::nullopt;
    if (const auto meant = simple_escape(text[at])) {
      content += *meant;
      ++at;
    } else if (text[at] == 'x') {
      const auto value = digits(text, ++at, 2, 16);
      if (!value) return std::nullopt;
      content += static_cast<char>(static_cast<unsigned char>(*value));
    } else if (digit_of(text[at]) < 8) {
      char32_t value = 0;
      for (int i = 0; i < 3 && at < text.size() && digit_of(text[at]) < 8; ++i, ++at)
        value = value * 8 + static_cast<char32_t>(digit_of(text[at]));
      content += static_cast<char>(static_cast<unsigned char>(value));
    } else {
      content += c;  // Python keeps what is no escape
    }
  }
  return content;
}

std::optional<std::string> raw_unicode(std::string_view text) {
  std::string content;
  for (std::size_t at = 0; at < text.size();) {
    const char c = text[at++];
    const bool is_escape = c == '\\' && at < text.size() && (text[at] == 'u' || text[at] == 'U');
    if (!is_escape) {
      append_utf8(content, static_cast<unsigned char>(c));
      continue;
    }
    const std::size_t count = text[at] == 'u' ? 4 : 8;
    const auto code = digits(text, ++at, count, 16);
    if (!code || *code > 0x10ffff) return std::nullopt;
    append_utf8(content, *code);
  }
  return content;
}

std::optional<std::string> latin1(std::string_view utf8) {
  std::string bytes;
  bytes.reserve(utf8.size());
  for (std::size_t at = 0; at < utf8.size(); ++at) {
    const auto c = static_cast<unsigned char>(utf8[at]);
    if (c < 0x80) {
      bytes += utf8[at];
      continue;
    }
    if ((c != 0xc2 && c != 0xc3) || at + 1 == utf8.size()) return std::nullopt;
    const auto low = static_cast<unsigned char>(utf8[++at]);
    if ((low & 0xc0) != 0x80) return std::nullopt;
    bytes += static_cast<char>(static_cast<unsigned char>((c & 3) << 6 | (low & 63)));
  }
  return bytes;
}

}  // namespace ingot::formats::pickle
