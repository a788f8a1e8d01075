// PNG through libpng.
#include <png.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "ingot/formats/image/canvas.h"

// libpng reports errors by a jump. It may only pass over functions without destructors: those that set the jump here
// call nothing but libpng and return whether it came through.

namespace ingot::formats::image {
namespace {

struct Reader {
  Bytes data;
  std::size_t position = 0;
  char message[128] = "";
  png_structp png = nullptr;
  png_infop info = nullptr;

  explicit Reader(Bytes bytes);
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;
  ~Reader() { png_destroy_read_struct(&png, &info, nullptr); }
};

void on_error(png_structp png, png_const_charp message) {
  auto* reader = static_cast<Reader*>(png_get_error_ptr(png));
  std::strncpy(reader->message, message, sizeof reader->message - 1);
  png_longjmp(png, 1);
}

void on_warning(png_structp, png_const_charp) {}

void on_read(png_structp png, png_bytep out, std::size_t count) {
  auto* reader = static_cast<Reader*>(png_get_io_ptr(png));
  if (count > reader->data.size() - reader->position) png_error(png, "it is cut short");
  std::memcpy(out, reader->data.data() + reader->position, count);
  reader->position += count;
}

Reader::Reader(Bytes bytes) : data(bytes) {
  png = png_create_read_struct(PNG_LIBPNG_VER_STRING, this, on_error, on_warning);
  if (png) info = png_create_info_struct(png);
  if (!info) refuse("libpng cannot be started");
}

bool read_header(Reader& r) {
  if (setjmp(png_jmpbuf(r.png))) return false;
  png_set_read_fn(r.png, &r, on_read);
  png_read_info(r.png, r.info);
  png_set_palette_to_rgb(r.png);
  png_set_expand_gray_1_2_4_to_8(r.png);
  png_set_strip_16(r.png);
  png_set_strip_alpha(r.png);
  png_set_gray_to_rgb(r.png);
  png_set_interlace_handling(r.png);
  png_read_update_info(r.png, r.info);
  return true;
}

bool read_row(Reader& r, std::uint8_t* row) {
  if (setjmp(png_jmpbuf(r.png))) return false;
  png_read_row(r.png, row, nullptr);
  return true;
}

bool read_rows(Reader& r, std::uint8_t** rows) {
  if (setjmp(png_jmpbuf(r.png))) return false;
  png_read_image(r.png, rows);
  return true;
}

}  // namespace

void decode_png(Bytes data, Canvas& canvas) {
  Reader r(data);
  if (!read_header(r)) refuse(r.message);
  const std::int64_t width = png_get_image_width(r.png, r.info), height = png_get_image_height(r.png, r.info);
  if (png_get_rowbytes(r.png, r.info) != static_cast<std::size_t>(width) * 3) refuse("its rows have an unknown form");
  canvas.begin(height, width);
  const bool is_whole = png_get_interlace_type(r.png, r.info) != PNG_INTERLACE_NONE;
  Buffer pixels(canvas.budget, is_whole ? height : 1, width, 3);
  if (is_whole) {
    const Budget::MemoryGuard guard(canvas.budget, static_cast<std::uint64_t>(height) * sizeof(std::uint8_t*));
    std::vector<std::uint8_t*> rows;
    for (std::int64_t y = 0; y < height; ++y) rows.push_back(pixels.data() + y * width * 3);
    if (!read_rows(r, rows.data())) refuse(r.message);
    for (std::int64_t y = 0; y < height; ++y) canvas.write_row(y, rows[static_cast<std::size_t>(y)]);
    return;
  }
  for (std::int64_t y = 0; y < height; ++y) {
    if (!read_row(r, pixels.data())) refuse(r.message);
    canvas.write_row(y, pixels.data());
  }
}

}  // namespace ingot::formats::image
