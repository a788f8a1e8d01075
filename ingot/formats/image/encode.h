#pragma once
#include <cstdint>
#include <span>
#include <vector>

namespace ingot {
class Budget;
}

namespace ingot::formats::image {

/// Pixels [height, width, 3] of 8 bits.
struct Picture {
  std::span<const std::uint8_t> pixels;
  std::int64_t height, width;
  bool is_bgr;
};

/// Throws Error(Code::bad_image) for a picture without pixels or of more than the format can hold.
std::vector<std::uint8_t> encode_png(const Picture& picture, Budget& budget);
/// Quality 95, chroma at half the resolution.
std::vector<std::uint8_t> encode_jpeg(const Picture& picture, Budget& budget);

}  // namespace ingot::formats::image
