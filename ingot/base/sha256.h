#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace ingot {

/// SHA-256 (FIPS 180-4), for what others check: hashes of scripts in a page's policy.
std::array<std::uint8_t, 32> sha256(std::span<const std::byte> bytes);

/// RFC 4648, with padding.
std::string base64(std::span<const std::uint8_t> bytes);

}  // namespace ingot
