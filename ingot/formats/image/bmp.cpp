// BMP: uncompressed, palettes, bit fields and run lengths.
#include <algorithm>
#include <array>
#include <bit>
#include <vector>

#include "ingot/base/byte_reader.h"
#include "ingot/formats/image/canvas.h"

namespace ingot::formats::image {
namespace {

enum Compression : std::uint32_t { kPlain = 0, kRuns8 = 1, kRuns4 = 2, kFields = 3, kAlphaFields = 6 };

struct Header {
  std::int64_t width = 0, height = 0;
  bool is_top_down = false;
  unsigned bits = 0;
  std::uint32_t compression = kPlain;
  std::array<std::uint32_t, 3> masks{};  // red, green, blue
  std::vector<std::array<std::uint8_t, 3>> palette;
  std::uint32_t pixels_at = 0;
};

Header read_header(ByteReader& in) {
  Header h;
  in.skip(10);
  h.pixels_at = in.u32();
  const std::uint32_t size = in.u32();
  std::uint32_t colours = 0;
  const bool is_old = size == 12;
  if (is_old) {
    h.width = in.u16();
    h.height = in.u16();
    in.skip(2);
    h.bits = in.u16();
  } else {
    if (size < 40 || size > 1024) refuse("a header of unknown size");
    h.width = in.i32();
    h.height = in.i32();
    in.skip(2);
    h.bits = in.u16();
    h.compression = in.u32();
    in.skip(12);
    colours = in.u32();
    in.skip(4);
  }
  h.is_top_down = h.height < 0;
  if (h.is_top_down) h.height = -h.height;
  if (h.bits == 16) h.masks = {0x7C00, 0x03E0, 0x001F};
  if (h.bits == 32) h.masks = {0xFF0000, 0x00FF00, 0x0000FF};
  if (h.compression == kFields || h.compression == kAlphaFields) {
    for (std::uint32_t& mask : h.masks) mask = in.u32();
    if (size == 40 && h.compression == kAlphaFields) in.skip(4);
  }
  in.seek(std::max<std::uint64_t>(in.position(), std::uint64_t{14} + size));
  if (h.bits <= 8) {
    const std::uint32_t most = 1u << h.bits;
    const std::uint32_t count = colours == 0 || colours > most ? most : colours;
    for (std::uint32_t i = 0; i < count && in.position() + (is_old ? 3 : 4) <= h.pixels_at; ++i) {
      const std::uint8_t blue = in.u8(), green = in.u8(), red = in.u8();
      if (!is_old) in.skip(1);
      h.palette.push_back({red, green, blue});
    }
    if (h.palette.empty()) refuse("the palette is missing");
    h.palette.resize(256);  // an index beyond the palette is black
  }
  return h;
}

/// A field of some bits as 8 bits.
std::uint8_t field(std::uint32_t pixel, std::uint32_t mask) {
  if (mask == 0) return 0;
  const int shift = std::countr_zero(mask);
  const std::uint64_t value = (pixel & mask) >> shift, most = mask >> shift;
  return static_cast<std::uint8_t>((value * 255 + most / 2) / most);
}

/// Indices into the palette, a row of `width` after the other, from the bottom.
void read_runs(ByteReader& in, const Header& h, std::uint8_t* out) {
  const bool is_nibbles = h.compression == kRuns4;
  std::int64_t x = 0, y = 0;
  const auto put = [&](std::uint8_t index) {
    if (x < h.width && y < h.height) out[y * h.width + x] = index;
    ++x;
  };
  const auto nibble = [](std::uint8_t byte, unsigned i) {
    return static_cast<std::uint8_t>(i % 2 == 0 ? byte >> 4 : byte & 15);
  };
  while (y < h.height) {
    const unsigned count = in.u8();
    const std::uint8_t value = in.u8();
    if (count > 0) {
      for (unsigned i = 0; i < count; ++i) put(is_nibbles ? nibble(value, i) : value);
    } else if (value == 0) {
      x = 0;
      ++y;
    } else if (value == 1) {
      return;
    } else if (value == 2) {
      x += in.u8();
      y += in.u8();
    } else {
      std::uint8_t byte = 0;
      for (unsigned i = 0; i < value; ++i) {
        if (!is_nibbles || i % 2 == 0) byte = in.u8();
        put(is_nibbles ? nibble(byte, i) : byte);
      }
      const unsigned bytes = is_nibbles ? (value + 1u) / 2 : value;
      if (bytes % 2) in.skip(1);
    }
  }
}

}  // namespace

void decode_bmp(Bytes data, Canvas& canvas) {
  ByteReader in(data);
  const Header h = read_header(in);
  const bool is_runs = h.compression == kRuns8 || h.compression == kRuns4;
  const bool is_fields = h.compression == kFields || h.compression == kAlphaFields;
  const bool fits = h.compression == kPlain
                        ? h.bits == 1 || h.bits == 4 || h.bits == 8 || h.bits == 16 || h.bits == 24 || h.bits == 32
                    : is_fields ? h.bits == 16 || h.bits == 32
                                : is_runs && h.bits == (h.compression == kRuns8 ? 8u : 4u);
  if (!fits) refuse("bits and compression do not fit each other");
  in.seek(h.pixels_at);
  const std::uint64_t stride = (static_cast<std::uint64_t>(h.width) * h.bits + 31) / 32 * 4;
  if (h.width < 1 || h.height < 1) refuse("it has no pixels");
  if (!is_runs && in.remaining() / stride < static_cast<std::uint64_t>(h.height)) refuse("it is cut short");
  canvas.begin(h.height, h.width);
  Buffer row(canvas.budget, 1, h.width, 3);
  Buffer indices(canvas.budget, is_runs ? h.height : 0, h.width, 1);
  if (is_runs) read_runs(in, h, indices.data());
  for (std::int64_t y = 0; y < h.height; ++y) {
    const std::byte* from = is_runs ? nullptr : in.bytes(stride).data();
    const auto byte = [&](std::int64_t i) { return static_cast<std::uint32_t>(from[i]); };
    for (std::int64_t x = 0; x < h.width; ++x) {
      std::uint8_t* to = row.data() + 3 * x;
      if (h.bits <= 8) {
        const std::int64_t bit = x * h.bits;
        const std::uint32_t index =
            is_runs ? indices.data()[y * h.width + x]
                    : byte(bit / 8) >> (8 - h.bits - static_cast<unsigned>(bit % 8)) & ((1u << h.bits) - 1);
        std::ranges::copy(h.palette[index], to);
      } else if (h.bits == 24) {
        for (std::int64_t i = 0; i < 3; ++i) to[i] = static_cast<std::uint8_t>(byte(3 * x + 2 - i));
      } else {
        std::uint32_t pixel = 0;
        for (unsigned i = 0; i < h.bits / 8; ++i) pixel |= byte(x * (h.bits / 8) + i) << (8 * i);
        for (std::size_t i = 0; i < 3; ++i) to[i] = field(pixel, h.masks[i]);
      }
    }
    canvas.write_row(h.is_top_down ? y : h.height - 1 - y, row.data());
  }
}

}  // namespace ingot::formats::image
