#pragma once
#include <cstdint>
#include <string>

namespace ingot {

/// "4G", "512M", "1000": bytes; refuses others.
std::uint64_t parse_size(const std::string& text);

}  // namespace ingot
