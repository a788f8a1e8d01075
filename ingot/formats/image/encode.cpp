// PNG through libpng, JPEG through libjpeg-turbo.
#include "ingot/formats/image/encode.h"

#include <png.h>

#include <csetjmp>
#include <cstdio>
#include <cstdlib>

// libjpeg's headers use what <cstdio> declares.
#include <jerror.h>
#include <jpeglib.h>

#include "ingot/formats/image/canvas.h"

namespace ingot::formats::image {
namespace {

void require_pixels(const Picture& picture) {
  constexpr std::int64_t kMostSide = JPEG_MAX_DIMENSION;
  if (picture.height <= 0 || picture.width <= 0 || picture.height > kMostSide || picture.width > kMostSide)
    refuse("a picture must have from 1 to " + std::to_string(kMostSide) + " rows and columns");
}

struct Writer {
  jpeg_compress_struct info{};
  jpeg_error_mgr errors{};
  std::jmp_buf jump{};
  unsigned char* bytes = nullptr;  // libjpeg's own
  unsigned long size = 0;
  char message[JMSG_LENGTH_MAX] = "";

  Writer() = default;
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;
  ~Writer() {
    jpeg_destroy_compress(&info);
    std::free(bytes);
  }
};

/// libjpeg reports errors by a jump, which passes over nothing here: see png.cpp.
void on_error(j_common_ptr info) {
  auto* writer = static_cast<Writer*>(info->client_data);
  info->err->format_message(info, writer->message);
  std::longjmp(writer->jump, 1);
}

bool start(Writer& w, const Picture& picture) {
  constexpr int kQuality = 95;
  w.info.err = jpeg_std_error(&w.errors);
  w.errors.error_exit = on_error;
  w.info.client_data = &w;
  if (setjmp(w.jump)) return false;
  jpeg_create_compress(&w.info);
  w.info.client_data = &w;
  jpeg_mem_dest(&w.info, &w.bytes, &w.size);
  w.info.image_width = static_cast<JDIMENSION>(picture.width);
  w.info.image_height = static_cast<JDIMENSION>(picture.height);
  w.info.input_components = 3;
  w.info.in_color_space = picture.is_bgr ? JCS_EXT_BGR : JCS_EXT_RGB;
  jpeg_set_defaults(&w.info);
  jpeg_set_quality(&w.info, kQuality, TRUE);
  jpeg_start_compress(&w.info, TRUE);
  return true;
}

bool write_row(Writer& w, const std::uint8_t* row) {
  if (setjmp(w.jump)) return false;
  auto* line = const_cast<JSAMPROW>(row);  // libjpeg only reads it
  return jpeg_write_scanlines(&w.info, &line, 1) == 1;
}

bool finish(Writer& w) {
  if (setjmp(w.jump)) return false;
  jpeg_finish_compress(&w.info);
  return true;
}

}  // namespace

std::vector<std::uint8_t> encode_jpeg(const Picture& picture, Budget& budget) {
  require_pixels(picture);
  const Budget::MemoryGuard memory(budget, picture.pixels.size());
  Writer w;
  bool is_good = start(w, picture);
  for (std::int64_t y = 0; is_good && y < picture.height; ++y) {
    is_good = write_row(w, picture.pixels.data() + 3 * y * picture.width);
    budget.poll();
  }
  if (!is_good || !finish(w)) refuse(w.message);
  return {w.bytes, w.bytes + w.size};
}

std::vector<std::uint8_t> encode_png(const Picture& picture, Budget& budget) {
  require_pixels(picture);
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  image.width = static_cast<png_uint_32>(picture.width);
  image.height = static_cast<png_uint_32>(picture.height);
  image.format = picture.is_bgr ? PNG_FORMAT_BGR : PNG_FORMAT_RGB;
  image.flags = PNG_IMAGE_FLAG_FAST;
  const std::size_t most = PNG_IMAGE_PNG_SIZE_MAX(image);
  const Budget::MemoryGuard memory(budget, most);
  std::vector<std::uint8_t> bytes(most);
  png_alloc_size_t size = most;
  if (!png_image_write_to_memory(&image, bytes.data(), &size, 0, picture.pixels.data(), 0, nullptr))
    refuse(image.message);
  bytes.resize(size);
  return bytes;
}

}  // namespace ingot::formats::image
