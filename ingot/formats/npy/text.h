#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ingot/base/bytes.h"

namespace ingot::formats::npy {

/// Strings of fixed width as NumPy stores them, without the zeros that fill them up.
std::vector<std::string> texts_of_utf32(const Bytes& data, std::uint64_t count, std::uint64_t width);
std::vector<std::string> texts_of_bytes(const Bytes& data, std::uint64_t count, std::uint64_t width);

/// How many characters a UTF-8 text has; refuses others.
std::size_t code_points(std::string_view utf8);
/// Four bytes for each of `width` characters, filled up with zeros.
std::string utf32_of(std::string_view utf8, std::size_t width);

}  // namespace ingot::formats::npy
