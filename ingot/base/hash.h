#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace ingot {

/// A fast 64-bit hash of content (XXH64 with seed 0): the same on every machine and for any division into pieces. Not
/// for secrets.
class Hasher {
 public:
  void update(std::span<const std::byte> bytes);
  std::uint64_t digest() const;

 private:
  void stripe(const std::byte* data);

  static constexpr std::size_t kStripe = 32;
  std::array<std::uint64_t, 4> lanes_ = {0x60EA27EEADC0B5D6u, 0xC2B2AE3D27D4EB4Fu, 0, 0x61C8864E7A143579u};
  std::array<std::byte, kStripe> rest_ = {};
  std::uint64_t total_ = 0;
};

std::uint64_t hash64(std::span<const std::byte> bytes);
/// 16 lower-case hexadecimal digits.
std::string hash_text(std::uint64_t hash);

/// The Castagnoli checksum; `crc` continues one of the bytes before.
std::uint32_t crc32c(std::span<const std::byte> bytes, std::uint32_t crc = 0);

}  // namespace ingot
