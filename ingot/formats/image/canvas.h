#pragma once
#include <memory>
#include <string>

#include "ingot/base/budget.h"
#include "ingot/formats/image/image.h"

namespace ingot::formats::image {

[[noreturn]] void refuse(const std::string& why);

/// Memory for one image while it is decoded, zeroed and charged to a budget.
class Buffer {
 public:
  Buffer(Budget& budget, std::int64_t height, std::int64_t width, std::int64_t bytes_per_pixel);
  std::uint8_t* data() { return bytes_.get(); }

 private:
  Budget::MemoryGuard guard_;
  std::unique_ptr<std::uint8_t[]> bytes_;
};

/// Where a decoder puts its pixels: rows of RGB, in any order, become what the caller asked for.
class Canvas {
 public:
  Canvas(PixelFormat format, const Place& place, Budget& b) : budget(b), format_(format), place_(place) {}

  /// Once, before the first row.
  void begin(std::int64_t height, std::int64_t width);
  void write_row(std::int64_t y, const std::uint8_t* rgb);

  Budget& budget;

 private:
  PixelFormat format_;
  const Place& place_;
  std::int64_t height_ = 0, width_ = 0;
  std::uint8_t* pixels_ = nullptr;
};

using Bytes = std::span<const std::byte>;

void decode_bmp(Bytes data, Canvas& canvas);
void decode_jpeg(Bytes data, Canvas& canvas);
void decode_jpeg2000(Bytes data, Canvas& canvas);
void decode_png(Bytes data, Canvas& canvas);
void decode_pnm(Bytes data, Canvas& canvas);
void decode_tiff(Bytes data, Canvas& canvas);
void decode_webp(Bytes data, Canvas& canvas);

}  // namespace ingot::formats::image
