#pragma once
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "ingot/base/bytes.h"

namespace ingot {
class Budget;
}

namespace ingot::formats::tensorflow {

/// Whether a file ends like a table.
bool looks_like_table(const Bytes& file);

/// A sorted table of keys and values as LevelDB stores it. Checks every checksum.
std::map<std::string, Bytes> read_table(const Bytes& file, Budget& budget);

/// Snappy's block format; refuses what does not decompress to the size it states.
Bytes uncompress_snappy(std::span<const std::byte> compressed, Budget& budget);

/// The checksum as it is stored: rotated and shifted.
std::uint32_t masked_crc(std::uint32_t crc);

}  // namespace ingot::formats::tensorflow
