#pragma once
#include <bit>
#include <cstdint>

namespace ingot::formats::protobuf {

/// How a field's payload is laid out; the low three bits of its tag.
enum class WireType : std::uint8_t { varint = 0, fixed64 = 1, length = 2, start_group = 3, end_group = 4, fixed32 = 5 };

inline constexpr std::uint32_t kMaxField = (1u << 29) - 1;

/// Messages may be nested this deeply, as in protobuf's own readers.
inline constexpr int kMaxDepth = 100;

/// Bytes that a number takes as a varint: 1 to 10.
constexpr unsigned varint_size(std::uint64_t value) {
  return (static_cast<unsigned>(64 - std::countl_zero(value | 1)) + 6) / 7;
}

}  // namespace ingot::formats::protobuf
