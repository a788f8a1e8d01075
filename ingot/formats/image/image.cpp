// Tells image formats apart and brings their pixels into the form that was asked for.
#include "ingot/formats/image/image.h"

#include <array>
#include <cstring>
#include <limits>
#include <string_view>

#include "ingot/base/checked.h"
#include "ingot/base/error.h"
#include "ingot/formats/image/canvas.h"

namespace ingot::formats::image {
namespace {

using std::string_view_literals::operator""sv;

struct Format {
  std::string_view magic;
  void (*decode)(Bytes, Canvas&);
};

constexpr Format kFormats[] = {
    {"BM"sv, decode_bmp},
    {"\xFF\xD8\xFF"sv, decode_jpeg},
    {"\x00\x00\x00\x0CjP  \r\n\x87\n"sv, decode_jpeg2000},
    {"\xFF\x4F\xFF\x51"sv, decode_jpeg2000},
    {"\x89PNG\r\n\x1A\n"sv, decode_png},
    {"P1"sv, decode_pnm},
    {"P2"sv, decode_pnm},
    {"P3"sv, decode_pnm},
    {"P4"sv, decode_pnm},
    {"P5"sv, decode_pnm},
    {"P6"sv, decode_pnm},
    {"II\x2A\x00"sv, decode_tiff},
    {"MM\x00\x2A"sv, decode_tiff},
    {"II\x2B\x00"sv, decode_tiff},
    {"MM\x00\x2B"sv, decode_tiff},
    {"RIFF"sv, decode_webp},
};

std::uint64_t buffer_size(std::int64_t height, std::int64_t width, std::int64_t bytes_per_pixel) {
  const auto size = element_count(std::array{height, width, bytes_per_pixel});
  if (!size || *size > std::numeric_limits<std::int64_t>::max()) refuse("the size of the image overflows");
  return *size;
}

}  // namespace

void refuse(const std::string& why) { throw Error(Code::bad_image, "the image cannot be decoded: " + why); }

Buffer::Buffer(Budget& budget, std::int64_t height, std::int64_t width, std::int64_t bytes_per_pixel)
    : guard_(budget, buffer_size(height, width, bytes_per_pixel)),
      bytes_(std::make_unique<std::uint8_t[]>(static_cast<std::size_t>(buffer_size(height, width, bytes_per_pixel)))) {}

void Canvas::begin(std::int64_t height, std::int64_t width) {
  if (height < 1 || width < 1) refuse("it has no pixels");
  const std::int64_t channels = format_ == PixelFormat::gray ? 1 : 3;
  buffer_size(height, width, channels);
  pixels_ = place_(height, width, channels);
  height_ = height;
  width_ = width;
}

void Canvas::write_row(std::int64_t y, const std::uint8_t* rgb) {
  if (format_ == PixelFormat::rgb) {
    std::memcpy(pixels_ + y * width_ * 3, rgb, static_cast<std::size_t>(width_) * 3);
  } else if (format_ == PixelFormat::bgr) {
    std::uint8_t* out = pixels_ + y * width_ * 3;
    for (std::int64_t i = 0; i < width_ * 3; i += 3) {
      out[i] = rgb[i + 2];
      out[i + 1] = rgb[i + 1];
      out[i + 2] = rgb[i];
    }
  } else {
    // ITU-R 601 in 16 bits, rounded.
    constexpr std::uint32_t kRed = 19595, kGreen = 38470, kBlue = 7471, kHalf = 1 << 15;
    std::uint8_t* out = pixels_ + y * width_;
    for (std::int64_t i = 0; i < width_; ++i)
      out[i] = static_cast<std::uint8_t>(
          (rgb[3 * i] * kRed + rgb[3 * i + 1] * kGreen + rgb[3 * i + 2] * kBlue + kHalf) >> 16);
  }
  if (y % 64 == 0) budget.poll();
}

void decode(Bytes data, PixelFormat format, const Place& place, Budget& budget) {
  const std::string_view text(reinterpret_cast<const char*>(data.data()), data.size());
  Canvas canvas(format, place, budget);
  for (const Format& f : kFormats) {
    if (!text.starts_with(f.magic)) continue;
    try {
      return f.decode(data, canvas);
    } catch (const Error& error) {
      if (error.code() != Code::truncated && error.code() != Code::out_of_bounds) throw;
      refuse(error.message());
    }
  }
  refuse("its first bytes are of no format that is known");
}

}  // namespace ingot::formats::image
