#pragma once
#include <cstdint>
#include <string>

namespace ingot {

/// "4G", "512M", "1000": bytes; refuses others.
std::uint64_t parse_size(const std::string& text);
/// 1536 -> "1.5 KiB"
std::string human_bytes(std::uint64_t bytes);
/// 25557032 -> "25,557,032"
std::string grouped(std::uint64_t number);

}  // namespace ingot
