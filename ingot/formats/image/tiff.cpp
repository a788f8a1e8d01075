// TIFF through libtiff: the first image of the file.
#include <tiffio.h>

#include <algorithm>
#include <cstdarg>
#include <cstring>
#include <limits>

#include "ingot/formats/image/canvas.h"

namespace ingot::formats::image {
namespace {

struct Source {
  Bytes data;
  std::uint64_t position = 0;
};

Source& source_of(thandle_t handle) { return *static_cast<Source*>(handle); }

tmsize_t on_read(thandle_t handle, void* out, tmsize_t count) {
  Source& s = source_of(handle);
  if (s.position >= s.data.size() || count < 0) return 0;
  const std::size_t n = std::min(static_cast<std::size_t>(count), s.data.size() - static_cast<std::size_t>(s.position));
  std::memcpy(out, s.data.data() + s.position, n);
  s.position += n;
  return static_cast<tmsize_t>(n);
}

tmsize_t on_write(thandle_t, void*, tmsize_t) { return 0; }

toff_t on_seek(thandle_t handle, toff_t offset, int whence) {
  Source& s = source_of(handle);
  const std::uint64_t from = whence == SEEK_CUR ? s.position : whence == SEEK_END ? s.data.size() : 0;
  s.position = from + offset;  // wraps for steps back; a place outside reads nothing
  return s.position;
}

int on_close(thandle_t) { return 0; }
toff_t on_size(thandle_t handle) { return source_of(handle).data.size(); }
int on_message(TIFF*, void*, const char*, const char*, va_list) { return 1; }  // handled: nothing is printed

struct Options {
  TIFFOpenOptions* options = TIFFOpenOptionsAlloc();
  Options() {
    if (!options) refuse("libtiff cannot be started");
    constexpr tmsize_t kLargest = tmsize_t{1} << 30;  // bytes of one strip or directory
    TIFFOpenOptionsSetMaxSingleMemAlloc(options, kLargest);
    TIFFOpenOptionsSetErrorHandlerExtR(options, on_message, nullptr);
    TIFFOpenOptionsSetWarningHandlerExtR(options, on_message, nullptr);
  }
  Options(const Options&) = delete;
  Options& operator=(const Options&) = delete;
  ~Options() { TIFFOpenOptionsFree(options); }
};

struct Close {
  void operator()(TIFF* tiff) const { TIFFClose(tiff); }
};

}  // namespace

void decode_tiff(Bytes data, Canvas& canvas) {
  Source source{data};
  const Options options;
  const std::unique_ptr<TIFF, Close> tiff(TIFFClientOpenExt("image", "rm", &source, on_read, on_write, on_seek,
                                                            on_close, on_size, nullptr, nullptr, options.options));
  if (!tiff) refuse("it is no TIFF image");
  std::uint32_t width = 0, height = 0;
  if (!TIFFGetField(tiff.get(), TIFFTAG_IMAGEWIDTH, &width) || !TIFFGetField(tiff.get(), TIFFTAG_IMAGELENGTH, &height))
    refuse("its size is missing");
  canvas.begin(height, width);
  Buffer raster(canvas.budget, height, width, 4), row(canvas.budget, 1, width, 3);
  auto* pixels = reinterpret_cast<std::uint32_t*>(raster.data());
  if (!TIFFReadRGBAImageOriented(tiff.get(), width, height, pixels, ORIENTATION_TOPLEFT, 1))
    refuse("its data is damaged or of a kind that libtiff does not convert");
  for (std::int64_t y = 0; y < height; ++y) {
    for (std::int64_t x = 0; x < width; ++x) {
      const std::uint32_t pixel = pixels[y * width + x];
      row.data()[3 * x] = static_cast<std::uint8_t>(TIFFGetR(pixel));
      row.data()[3 * x + 1] = static_cast<std::uint8_t>(TIFFGetG(pixel));
      row.data()[3 * x + 2] = static_cast<std::uint8_t>(TIFFGetB(pixel));
    }
    canvas.write_row(y, row.data());
  }
}

}  // namespace ingot::formats::image
