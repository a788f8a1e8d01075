#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

namespace ingot {
class Budget;
}

namespace ingot::formats::image {

enum class PixelFormat { rgb, bgr, gray };

/// Gives the memory for pixels [height, width, channels] of 8 bits once the size is known, or throws.
using Place = std::function<std::uint8_t*(std::int64_t height, std::int64_t width, std::int64_t channels)>;

/// Decodes BMP, JPEG, JPEG 2000, PNG, PNM (PBM, PGM, PPM), TIFF or WebP, told by its first bytes. Transparency is
/// dropped, samples of more than 8 bits are cut to 8. Memory that decoding needs beside the pixels is charged to the
/// budget. Throws Error(Code::bad_image) for what is damaged, cut short or of another format.
void decode(std::span<const std::byte> data, PixelFormat format, const Place& place, Budget& budget);

}  // namespace ingot::formats::image
