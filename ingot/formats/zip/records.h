#pragma once
#include <cstdint>

// The fixed parts of a zip file (APPNOTE 6.3.10): signatures and sizes.
namespace ingot::formats::zip {

inline constexpr std::uint32_t kLocal = 0x04034b50, kCentral = 0x02014b50, kEnd = 0x06054b50;
inline constexpr std::uint32_t kEnd64 = 0x06064b50, kLocator64 = 0x07064b50;
inline constexpr std::uint64_t kLocalSize = 30, kCentralSize = 46, kEndSize = 22, kEnd64Size = 56, kLocator64Size = 20;
inline constexpr std::uint32_t kFull32 = 0xffffffff;  // "see the zip64 field"
inline constexpr std::uint16_t kFull16 = 0xffff, kZip64Field = 1;
inline constexpr std::uint16_t kEncrypted = 1, kDescriptorFollows = 8, kStrongEncryption = 64, kUtf8 = 0x800,
                               kMaskedHeaders = 0x2000;

}  // namespace ingot::formats::zip
