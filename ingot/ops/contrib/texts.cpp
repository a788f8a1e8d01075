// Texts as characters, arguments of one element, outputs of any length.
#include "ingot/ops/contrib/texts.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "ingot/base/error.h"
#include "ingot/ops/pace.h"
#include "ingot/ops/text/utf8.h"

namespace ingot::ops {

Codes codes_of(std::string_view text) {
  Codes codes;
  codes.reserve(text.size());
  while (!text.empty()) {
    const Character c = first_character(text);
    codes.push_back(c.is_valid ? static_cast<char32_t>(c.code) : U'\xFFFD');
    text.remove_prefix(c.bytes);
  }
  return codes;
}

std::string utf8_of(std::u32string_view codes) {
  std::string text;
  text.reserve(codes.size());
  for (const char32_t code : codes) append_utf8(text, code);
  return text;
}

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const Character c = first_character(text);
    if (!c.is_valid) return false;
    text.remove_prefix(c.bytes);
  }
  return true;
}

std::vector<std::string_view> parts_of(std::string_view text, std::string_view separators) {
  std::vector<std::string_view> parts;
  for (std::size_t begin = text.find_first_not_of(separators); begin != std::string_view::npos;) {
    const std::size_t end = std::min(text.find_first_of(separators, begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    begin = text.find_first_not_of(separators, end);
  }
  return parts;
}

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

bool parse_int(std::string_view text, std::int64_t& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

bool decode_base64(std::string_view text, std::string& bytes) {
  static constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  constexpr std::string_view kBetween = " \t\r\n";
  while (text.ends_with('=') || (!text.empty() && kBetween.find(text.back()) != kBetween.npos)) text.remove_suffix(1);
  bytes.clear();
  std::uint32_t held = 0;
  int bits = 0;
  for (const char c : text) {
    if (kBetween.find(c) != kBetween.npos) continue;
    const std::size_t digit = kDigits.find(c);
    if (digit == std::string_view::npos) return false;
    held = held << 6 | static_cast<std::uint32_t>(digit);
    bits += 6;
    if (bits < 8) continue;
    bits -= 8;
    bytes += static_cast<char>(held >> bits & 0xFF);
  }
  return true;
}

char32_t extension_lower(char32_t code) {
  const auto within = [&](char32_t first, char32_t last) { return code >= first && code <= last; };
  if (within(U'A', U'Z') || within(0x1F08, 0x1F68) || within(0x410, 0x42F)) return code + 32;
  if (within(0xC0, 0xDE) && code != 0xD7) return code + 32;
  constexpr std::array<char32_t, 7> kGreek = {0x399, 0x39A, 0x39B, 0x39C, 0x39D, 0x39F, 0x3A0};
  return std::ranges::find(kGreek, code) != kGreek.end() ? code + 32 : code;
}

namespace {

const Array& one_element(const KernelContext& c, std::size_t i) {
  const Array& x = c.in(i);
  if (x.size() != 1) c.fail("input " + std::to_string(i) + " must have one element");
  return x;
}

}  // namespace

const std::string& text_argument(const KernelContext& c, std::size_t i) {
  return one_element(c, i).data<std::string>()[0];
}

std::int64_t int_argument(const KernelContext& c, std::size_t i) { return one_element(c, i).data<std::int64_t>()[0]; }

float float_argument(const KernelContext& c, std::size_t i) { return one_element(c, i).data<float>()[0]; }

bool bool_argument(const KernelContext& c, std::size_t i, bool fallback) {
  return c.has(i) ? one_element(c, i).data<bool>()[0] : fallback;
}

void give_ints(KernelContext& c, std::size_t i, Dims dims, const std::vector<std::int64_t>& values) {
  if (!c.wants(i)) return;
  std::ranges::copy(values, c.make(i, DType::i64, std::move(dims)).mutable_data<std::int64_t>().begin());
}

void give_texts(KernelContext& c, std::size_t i, Dims dims, Texts values) {
  if (!c.wants(i)) return;
  std::ranges::move(values, c.make(i, DType::string, std::move(dims)).mutable_data<std::string>().begin());
}

void give_words(KernelContext& c, const std::function<Texts(const std::string&)>& words_of) {
  const Array& x = c.in(0);
  if (x.rank() != 1) c.fail("the input must be a vector");
  Texts words;
  std::vector<std::int64_t> indices;
  std::int64_t row = 0, most = 0;
  Pace pace(c.host().budget());
  for (const std::string& text : x.data<std::string>()) {
    pace.step(std::ssize(text) + 1);
    std::int64_t column = 0;
    for (std::string& word : words_of(text)) {
      indices.insert(indices.end(), {row, column++});
      words.push_back(std::move(word));
    }
    most = std::max(most, column);
    ++row;
  }
  const auto count = std::ssize(words);
  give_ints(c, 0, {count, 2}, indices);
  give_texts(c, 1, {count}, std::move(words));
  give_ints(c, 2, {2}, {row, most});
}

const std::string& need_text(const Node& node, std::string_view attribute) {
  const auto* text = node.attributes.get<std::string>(attribute);
  if (!text || text->empty()) refuse_text(node, "attribute '" + std::string(attribute) + "' is absent or empty");
  return *text;
}

void refuse_text(const Node& node, const std::string& why) {
  throw Error(Code::bad_attribute, why).in_node(node.name, node.op, node.label());
}

}  // namespace ingot::ops
