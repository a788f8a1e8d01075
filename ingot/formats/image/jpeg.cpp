// JPEG through libjpeg-turbo, with its default transform and smooth chroma.
#include <csetjmp>
#include <cstdio>
#include <exception>

// libjpeg's headers use what <cstdio> declares.
#include <jerror.h>
#include <jpeglib.h>

#include "ingot/formats/image/canvas.h"

// libjpeg reports errors by a jump, as libpng does: see png.cpp.

namespace ingot::formats::image {
namespace {

struct Reader {
  jpeg_decompress_struct info{};
  jpeg_error_mgr errors{};
  jpeg_progress_mgr progress{};
  std::jmp_buf jump{};
  char message[JMSG_LENGTH_MAX] = "";
  Budget& budget;
  std::exception_ptr stopped;  // by the budget

  explicit Reader(Budget& b);
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;
  ~Reader() { jpeg_destroy_decompress(&info); }

  [[noreturn]] void give_up() const {
    if (stopped) std::rethrow_exception(stopped);
    refuse(message);
  }
};

void on_error(j_common_ptr info) {
  auto* reader = static_cast<Reader*>(info->client_data);
  info->err->format_message(info, reader->message);
  std::longjmp(reader->jump, 1);
}

/// Warnings are kept quiet, but what is cut short is not made up.
void on_message(j_common_ptr info, int level) {
  const int code = info->err->msg_code;
  if (level < 0 && (code == JWRN_JPEG_EOF || code == JWRN_HIT_MARKER)) on_error(info);
}

void on_progress(j_common_ptr info) {
  auto* reader = static_cast<Reader*>(info->client_data);
  try {
    reader->budget.poll();
  } catch (...) {
    reader->stopped = std::current_exception();
  }
  if (reader->stopped) std::longjmp(reader->jump, 1);
}

Reader::Reader(Budget& b) : budget(b) {
  info.err = jpeg_std_error(&errors);
  errors.error_exit = on_error;
  errors.emit_message = on_message;
  errors.output_message = [](j_common_ptr) {};
  progress.progress_monitor = on_progress;
}

bool read_header(Reader& r, Bytes data) {
  if (setjmp(r.jump)) return false;
  r.info.client_data = &r;
  jpeg_create_decompress(&r.info);
  r.info.client_data = &r;
  r.info.progress = &r.progress;
  jpeg_mem_src(&r.info, reinterpret_cast<const unsigned char*>(data.data()), static_cast<unsigned long>(data.size()));
  jpeg_read_header(&r.info, TRUE);
  return true;
}

bool start(Reader& r) {
  if (setjmp(r.jump)) return false;
  return jpeg_start_decompress(&r.info) != 0;
}

bool read_row(Reader& r, std::uint8_t* row) {
  if (setjmp(r.jump)) return false;
  return jpeg_read_scanlines(&r.info, &row, 1) == 1;
}

/// Cyan, magenta, yellow and black as red, green and blue; Adobe's programs write them inverted.
void to_rgb(const std::uint8_t* cmyk, std::uint8_t* rgb, bool is_inverted) {
  const unsigned light = is_inverted ? cmyk[3] : 255u - cmyk[3];
  for (int i = 0; i < 3; ++i) {
    const unsigned ink = is_inverted ? 255u - cmyk[i] : cmyk[i];
    rgb[i] = static_cast<std::uint8_t>(light - (ink * light + 127) / 255);
  }
}

}  // namespace

void decode_jpeg(Bytes data, Canvas& canvas) {
  Reader r(canvas.budget);
  if (!read_header(r, data)) r.give_up();
  const bool is_cmyk = r.info.jpeg_color_space == JCS_CMYK || r.info.jpeg_color_space == JCS_YCCK;
  r.info.out_color_space = is_cmyk ? JCS_CMYK : JCS_RGB;
  const std::int64_t width = r.info.image_width, height = r.info.image_height;
  canvas.begin(height, width);
  // Several scans: libjpeg keeps all coefficients, 16 bits each.
  const std::int64_t kept = r.info.progressive_mode || r.info.num_components > 1 ? 2 * r.info.num_components : 0;
  const Budget::MemoryGuard coefficients(canvas.budget, static_cast<std::uint64_t>(width * height * kept));
  if (!start(r)) r.give_up();
  Buffer row(canvas.budget, 1, width, 4), rgb(canvas.budget, 1, width, 3);
  for (std::int64_t y = 0; y < height; ++y) {
    if (!read_row(r, row.data())) r.give_up();
    if (!is_cmyk) {
      canvas.write_row(y, row.data());
      continue;
    }
    for (std::int64_t x = 0; x < width; ++x)
      to_rgb(row.data() + 4 * x, rgb.data() + 3 * x, r.info.saw_Adobe_marker != 0);
    canvas.write_row(y, rgb.data());
  }
}

}  // namespace ingot::formats::image
