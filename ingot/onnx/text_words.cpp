// The words of the text syntax.
#include "ingot/onnx/text_words.h"

#include <algorithm>
#include <array>
#include <cstdint>

namespace ingot::onnx {
namespace {

constexpr std::array<std::string_view, 15> kAttrTypes = {
    "undefined", "float",   "int",    "string",        "tensor",         "graph",      "floats",     "ints",
    "strings",   "tensors", "graphs", "sparse_tensor", "sparse_tensors", "type_proto", "type_protos"};

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

struct CodePoint {
  std::uint32_t value;
  std::size_t length;  // in bytes; 0: not UTF-8
};

CodePoint first_code_point(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(text[i]); };
  const std::size_t length = byte(0) < 0x80 ? 1 : byte(0) < 0xC2 ? 0 : byte(0) < 0xE0 ? 2 : byte(0) < 0xF0 ? 3 : 4;
  if (length == 0 || byte(0) > 0xF4 || text.size() < length) return {0, 0};
  std::uint32_t point = length == 1 ? byte(0) : byte(0) & (0x7Fu >> length);
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return {0, 0};
    point = point << 6 | (byte(i) & 0x3Fu);
  }
  const bool overlong = (length == 3 && point < 0x800) || (length == 4 && point < 0x10000);
  const bool surrogate = point >= 0xD800 && point < 0xE000;
  return {point, overlong || surrogate || point > 0x10FFFF ? 0 : length};
}

bool can_stand_in_quotes(std::uint32_t point) {
  const bool control = (point >= 0x7F && point < 0xA0) || (point < 0x20 && point != '\n' && point != '\t');
  // Marks that turn the direction of a line would make it read as something else.
  const bool turning = (point >= 0x202A && point <= 0x202E) || (point >= 0x2066 && point <= 0x2069);
  return !control && !turning;
}

template <class Accept> bool all_code_points(std::string_view text, Accept accept) {
  while (!text.empty()) {
    const CodePoint point = first_code_point(text);
    if (point.length == 0 || !accept(point.value)) return false;
    text.remove_prefix(point.length);
  }
  return true;
}

}  // namespace

bool is_identifier(std::string_view text) {
  return !text.empty() && is_letter(text[0]) &&
         std::ranges::all_of(text, [](char c) { return is_letter(c) || is_digit(c); });
}

bool is_qualified_identifier(std::string_view text) {
  while (true) {
    const std::size_t dot = text.find('.');
    if (!is_identifier(text.substr(0, dot))) return false;
    if (dot == std::string_view::npos) return true;
    text.remove_prefix(dot + 1);
  }
}

bool is_type_word(std::string_view word) {
  return word == "seq" || word == "map" || word == "optional" || word == "sparse_tensor" || word == "opaque" ||
         element_type_from_word(word);
}

bool is_reserved(std::string_view identifier) {
  constexpr std::size_t kLongestNumber = 8;  // "infinity"
  if (identifier.size() <= kLongestNumber) {
    std::array<char, kLongestNumber> lower{};
    std::ranges::transform(identifier, lower.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? char(c + 32) : c; });
    const std::string_view word(lower.data(), identifier.size());
    if (word == "inf" || word == "infinity" || word == "nan") return true;
  }
  return identifier == "sparse" || is_type_word(identifier);
}

std::string_view word_of(AttrType type) {
  const auto index = static_cast<std::size_t>(type);
  return index < kAttrTypes.size() ? kAttrTypes[index] : std::string_view();
}

std::optional<AttrType> attr_type_from_word(std::string_view word) {
  const auto found = std::ranges::find(kAttrTypes, word);
  if (found == kAttrTypes.end()) return std::nullopt;
  return static_cast<AttrType>(found - kAttrTypes.begin());
}

std::optional<DType> element_type_from_word(std::string_view word) {
  if (word == "undefined") return DType::undefined;
  return dtype_from_name(word);
}

bool is_utf8(std::string_view text) {
  return all_code_points(text, [](std::uint32_t) { return true; });
}

bool is_printable(std::string_view text) { return all_code_points(text, can_stand_in_quotes); }

}  // namespace ingot::onnx
