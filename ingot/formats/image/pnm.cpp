// PBM, PGM and PPM, in letters or bytes.
#include <algorithm>

#include "ingot/base/byte_reader.h"
#include "ingot/formats/image/canvas.h"

namespace ingot::formats::image {
namespace {

bool is_space(char ch) { return ch == ' ' || (ch >= '\t' && ch <= '\r'); }

/// Skips white space and comments, which end with their line.
char next_letter(ByteReader& in) {
  while (true) {
    char ch = static_cast<char>(in.u8());
    if (ch == '#')
      while (ch != '\n' && ch != '\r') ch = static_cast<char>(in.u8());
    else if (!is_space(ch))
      return ch;
  }
}

/// A number and the one white space after it.
std::uint32_t next_number(ByteReader& in, std::uint32_t most) {
  char ch = next_letter(in);
  std::uint32_t value = 0;
  while (true) {
    if (ch < '0' || ch > '9') refuse("a number is expected in its header or pixels");
    value = value * 10 + static_cast<std::uint32_t>(ch - '0');
    if (value > most) refuse("a number is too large");
    if (in.at_end()) return value;
    ch = static_cast<char>(in.u8());
    if (is_space(ch)) return value;
  }
}

}  // namespace

void decode_pnm(Bytes data, Canvas& canvas) {
  ByteReader in(data);
  in.skip(1);
  const unsigned kind = in.u8() - unsigned{'0'};  // 1 to 6
  const bool is_bits = kind == 1 || kind == 4, is_letters = kind <= 3;
  const std::int64_t samples = kind == 3 || kind == 6 ? 3 : 1;
  constexpr std::uint32_t kLargest = 100'000'000;
  const std::int64_t width = next_number(in, kLargest), height = next_number(in, kLargest);
  const std::uint32_t most = is_bits ? 1 : next_number(in, 65535);
  if (width < 1 || height < 1 || most < 1) refuse("it has no pixels");
  // At least so many bytes must follow: none is believed before.
  const std::uint64_t row_bytes =
      kind == 4 ? static_cast<std::uint64_t>(width + 7) / 8
                : static_cast<std::uint64_t>(width * samples * (most > 255 && !is_letters ? 2 : 1));
  if (in.remaining() / row_bytes < static_cast<std::uint64_t>(height)) refuse("it is cut short");
  canvas.begin(height, width);
  Buffer row(canvas.budget, 1, width, 3);
  for (std::int64_t y = 0; y < height; ++y) {
    std::uint32_t bits = 0;
    for (std::int64_t i = 0; i < width * samples; ++i) {
      std::uint32_t value = 0;
      if (kind == 4) {
        if (i % 8 == 0) bits = in.u8();
        value = 1 - (bits >> (7 - i % 8) & 1);  // 1 is black
      } else if (kind == 1) {
        const char ch = next_letter(in);
        if (ch != '0' && ch != '1') refuse("a pixel is neither 0 nor 1");
        value = ch == '0';
      } else if (is_letters) {
        value = next_number(in, most);
      } else {
        value = in.u8();
        if (most > 255) value = value << 8 | in.u8();
        value = std::min(value, most);
      }
      const auto byte = static_cast<std::uint8_t>((value * 255 + most / 2) / most);
      if (samples == 3)
        row.data()[i] = byte;
      else
        std::fill_n(row.data() + 3 * i, 3, byte);
    }
    canvas.write_row(y, row.data());
  }
}

}  // namespace ingot::formats::image
