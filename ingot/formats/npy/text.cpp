// Strings of .npy files: UTF-32 of fixed width outside, UTF-8 inside.
#include "ingot/formats/npy/text.h"

#include "ingot/base/error.h"
#include "ingot/base/utf8.h"

namespace ingot::formats::npy {
namespace {

void append_character(std::string& text, std::uint32_t c) {
  if (c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
    throw Error(Code::bad_text_encoding, "a string of the array holds what is no character");
  append_utf8(text, c);
}

[[noreturn]] void refuse_utf8() {
  throw Error(Code::bad_text_encoding, "a string is not valid UTF-8, which .npy files need")
      .hint("write .pb files instead, which hold any bytes");
}

/// The character at `at`, which is moved behind it.
std::uint32_t next_character(std::string_view text, std::size_t& at) {
  const auto byte = [&](std::size_t i) { return static_cast<std::uint32_t>(static_cast<unsigned char>(text[i])); };
  const std::uint32_t first = byte(at++);
  if (first < 0x80) return first;
  const int more = first >= 0xf0 && first < 0xf8 ? 3 : first >= 0xe0 ? 2 : 1;
  if (first < 0xc2 || first >= 0xf8 || text.size() - at < static_cast<std::size_t>(more)) refuse_utf8();
  std::uint32_t c = first & (0x3fu >> more);
  for (int i = 0; i < more; ++i, ++at) {
    if ((byte(at) & 0xc0) != 0x80) refuse_utf8();
    c = c << 6 | (byte(at) & 0x3f);
  }
  constexpr std::uint32_t kSmallest[] = {0, 0x80, 0x800, 0x10000};
  if (c < kSmallest[more] || c > 0x10ffff || (c >= 0xd800 && c < 0xe000)) refuse_utf8();
  return c;
}

}  // namespace

std::vector<std::string> texts_of_utf32(const Bytes& data, std::uint64_t count, std::uint64_t width) {
  std::vector<std::string> texts(count);
  for (std::uint64_t i = 0; i < count; ++i) {
    std::uint64_t used = width;
    const std::byte* item = data.data() + i * width;
    const auto character = [&](std::uint64_t at) {
      std::uint32_t c = 0;
      for (unsigned b = 0; b < 4; ++b) c |= static_cast<std::uint32_t>(item[at + b]) << (8 * b);
      return c;
    };
    while (used >= 4 && character(used - 4) == 0) used -= 4;
    for (std::uint64_t at = 0; at < used; at += 4) append_character(texts[i], character(at));
  }
  return texts;
}

std::vector<std::string> texts_of_bytes(const Bytes& data, std::uint64_t count, std::uint64_t width) {
  std::vector<std::string> texts(count);
  for (std::uint64_t i = 0; i < count; ++i) {
    std::string_view item = data.text().substr(i * width, width);
    while (!item.empty() && item.back() == '\0') item.remove_suffix(1);
    texts[i] = item;
  }
  return texts;
}

std::size_t code_points(std::string_view utf8) {
  std::size_t count = 0;
  for (std::size_t at = 0; at < utf8.size(); ++count) next_character(utf8, at);
  return count;
}

std::string utf32_of(std::string_view utf8, std::size_t width) {
  std::string bytes;
  for (std::size_t at = 0; at < utf8.size();) {
    const std::uint32_t c = next_character(utf8, at);
    for (unsigned b = 0; b < 4; ++b) bytes += static_cast<char>(c >> (8 * b) & 0xff);
  }
  bytes.resize(4 * width);
  return bytes;
}

}  // namespace ingot::formats::npy
