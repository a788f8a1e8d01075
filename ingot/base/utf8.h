#pragma once
#include <cstdint>
#include <string>

namespace ingot {

/// A code point of at most 21 bits as UTF-8; surrogates too, which have no right to be there.
void append_utf8(std::string& text, std::uint32_t code);

}  // namespace ingot
