// Code points as UTF-8.
#include "ingot/base/utf8.h"

namespace ingot {

void append_utf8(std::string& text, std::uint32_t code) {
  const auto put = [&](std::uint32_t bits) { text += static_cast<char>(static_cast<unsigned char>(bits)); };
  if (code < 0x80) return put(code);
  if (code < 0x800) {
    put(0xc0 | code >> 6);
  } else {
    if (code < 0x10000) {
      put(0xe0 | code >> 12);
    } else {
      put(0xf0 | (code >> 18 & 7));
      put(0x80 | (code >> 12 & 63));
    }
    put(0x80 | (code >> 6 & 63));
  }
  put(0x80 | (code & 63));
}

}  // namespace ingot
