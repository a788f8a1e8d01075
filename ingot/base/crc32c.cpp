// CRC-32C: eight bytes a step from tables, or the processor's instruction where there is one.
#include <array>
#include <bit>
#include <cstring>

#include "ingot/base/hash.h"

namespace ingot {
namespace {

using Tables = std::array<std::array<std::uint32_t, 256>, 8>;

constexpr Tables make_tables() {
  Tables tables{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint32_t crc = byte;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0x82F63B78u : 0);
    tables[0][byte] = crc;
  }
  for (std::size_t k = 1; k < tables.size(); ++k)
    for (std::size_t byte = 0; byte < 256; ++byte) {
      const std::uint32_t before = tables[k - 1][byte];
      tables[k][byte] = (before >> 8) ^ tables[0][before & 0xFF];
    }
  return tables;
}

constexpr Tables kTables = make_tables();

std::uint64_t load_eight(const std::byte* data) {
  static_assert(std::endian::native == std::endian::little);
  std::uint64_t value;
  std::memcpy(&value, data, sizeof(value));
  return value;
}

std::uint32_t crc_by_tables(std::span<const std::byte> bytes, std::uint32_t crc) {
  for (; bytes.size() >= 8; bytes = bytes.subspan(8)) {
    const std::uint64_t x = load_eight(bytes.data()) ^ crc;
    crc = 0;
    for (std::size_t k = 0; k < 8; ++k) crc ^= kTables[7 - k][x >> (8 * k) & 0xFF];
  }
  for (const std::byte byte : bytes) crc = (crc >> 8) ^ kTables[0][(crc ^ static_cast<std::uint32_t>(byte)) & 0xFF];
  return crc;
}

#if defined(__x86_64__)
__attribute__((target("sse4.2"))) std::uint32_t crc_by_instruction(std::span<const std::byte> bytes,
                                                                   std::uint32_t crc) {
  std::uint64_t wide = crc;
  for (; bytes.size() >= 8; bytes = bytes.subspan(8)) wide = __builtin_ia32_crc32di(wide, load_eight(bytes.data()));
  crc = static_cast<std::uint32_t>(wide);
  for (const std::byte byte : bytes) crc = __builtin_ia32_crc32qi(crc, static_cast<unsigned char>(byte));
  return crc;
}
#endif

}  // namespace

std::uint32_t crc32c(std::span<const std::byte> bytes, std::uint32_t crc) {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("sse4.2")) return ~crc_by_instruction(bytes, ~crc);
#endif
  return ~crc_by_tables(bytes, ~crc);
}

}  // namespace ingot
