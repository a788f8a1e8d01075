// JPEG 2000 through OpenJPEG: JP2 files and bare codestreams.
#include <openjpeg.h>

#include <algorithm>
#include <cstring>

#include "ingot/formats/image/canvas.h"

namespace ingot::formats::image {
namespace {

struct Source {
  Bytes data;
  std::size_t position = 0;
};

OPJ_SIZE_T on_read(void* out, OPJ_SIZE_T count, void* user) {
  auto* s = static_cast<Source*>(user);
  const std::size_t n = std::min(count, s->data.size() - s->position);
  if (n == 0) return static_cast<OPJ_SIZE_T>(-1);
  std::memcpy(out, s->data.data() + s->position, n);
  s->position += n;
  return n;
}

OPJ_OFF_T on_skip(OPJ_OFF_T count, void* user) {
  auto* s = static_cast<Source*>(user);
  if (count < 0) return -1;
  const auto left = static_cast<OPJ_OFF_T>(s->data.size() - s->position);
  const OPJ_OFF_T n = std::min(count, left);
  s->position += static_cast<std::size_t>(n);
  return n;
}

OPJ_BOOL on_seek(OPJ_OFF_T to, void* user) {
  auto* s = static_cast<Source*>(user);
  if (to < 0 || static_cast<std::uint64_t>(to) > s->data.size()) return OPJ_FALSE;
  s->position = static_cast<std::size_t>(to);
  return OPJ_TRUE;
}

// The types of codec and stream are one to the compiler.
struct FreeCodec {
  void operator()(opj_codec_t* codec) const { opj_destroy_codec(codec); }
};
struct FreeStream {
  void operator()(opj_stream_t* stream) const { opj_stream_destroy(stream); }
};
struct FreeImage {
  void operator()(opj_image_t* image) const { opj_image_destroy(image); }
};

/// A sample as 8 bits.
int sample(const opj_image_t& image, std::uint32_t component, std::int64_t x, std::int64_t y) {
  const opj_image_comp_t& c = image.comps[component];
  const std::int64_t column = std::min<std::int64_t>(x / c.dx, c.w - 1),
                     row = std::min<std::int64_t>(y / c.dy, c.h - 1);
  std::int64_t value = c.data[row * c.w + column];
  if (c.sgnd) value += std::int64_t{1} << (c.prec - 1);
  value = c.prec > 8 ? value >> (c.prec - 8) : value << (8 - c.prec);
  return static_cast<int>(std::clamp<std::int64_t>(value, 0, 255));
}

std::uint8_t clamped(double value) { return static_cast<std::uint8_t>(std::clamp(value + 0.5, 0.0, 255.0)); }

void to_pixel(const opj_image_t& image, std::int64_t x, std::int64_t y, std::uint8_t* rgb) {
  const bool is_coloured = image.numcomps >= 3;
  for (std::uint32_t i = 0; i < 3; ++i) rgb[i] = static_cast<std::uint8_t>(sample(image, is_coloured ? i : 0, x, y));
  if (!is_coloured || image.color_space != OPJ_CLRSPC_SYCC) return;
  const double luma = rgb[0], blue = rgb[1] - 128.0, red = rgb[2] - 128.0;
  rgb[0] = clamped(luma + 1.402 * red);
  rgb[1] = clamped(luma - 0.344136 * blue - 0.714136 * red);
  rgb[2] = clamped(luma + 1.772 * blue);
}

}  // namespace

void decode_jpeg2000(Bytes data, Canvas& canvas) {
  const bool is_bare = data[0] == std::byte{0xFF};
  Source source{data};
  const std::unique_ptr<opj_stream_t, FreeStream> stream(opj_stream_default_create(OPJ_TRUE));
  const std::unique_ptr<opj_codec_t, FreeCodec> codec(opj_create_decompress(is_bare ? OPJ_CODEC_J2K : OPJ_CODEC_JP2));
  if (!stream || !codec) refuse("OpenJPEG cannot be started");
  opj_stream_set_user_data(stream.get(), &source, nullptr);
  opj_stream_set_user_data_length(stream.get(), data.size());
  opj_stream_set_read_function(stream.get(), on_read);
  opj_stream_set_skip_function(stream.get(), on_skip);
  opj_stream_set_seek_function(stream.get(), on_seek);
  opj_dparameters_t parameters;
  opj_set_default_decoder_parameters(&parameters);
  opj_image_t* header = nullptr;
  const bool is_read =
      opj_setup_decoder(codec.get(), &parameters) != 0 && opj_read_header(stream.get(), codec.get(), &header) != 0;
  const std::unique_ptr<opj_image_t, FreeImage> image(header);
  if (!is_read || !image || image->numcomps < 1) refuse("its header is damaged");
  const std::int64_t width = std::int64_t{image->x1} - image->x0, height = std::int64_t{image->y1} - image->y0;
  canvas.begin(height, width);
  // Samples are 32 bits wide, once in the image and once in its tiles.
  const std::uint64_t bytes = static_cast<std::uint64_t>(height) * static_cast<std::uint64_t>(width);
  const Budget::MemoryGuard guard(canvas.budget,
                                  bytes > (std::uint64_t{1} << 40) ? bytes : bytes * image->numcomps * 8);
  if (!opj_decode(codec.get(), stream.get(), image.get())) refuse("its data is damaged");
  for (std::uint32_t i = 0; i < std::min<std::uint32_t>(image->numcomps, 3); ++i) {
    const opj_image_comp_t& c = image->comps[i];
    if (!c.data || c.w < 1 || c.h < 1 || c.dx < 1 || c.dy < 1 || c.prec < 1 || c.prec > 31)
      refuse("a component is empty or of unknown precision");
  }
  Buffer row(canvas.budget, 1, width, 3);
  for (std::int64_t y = 0; y < height; ++y) {
    for (std::int64_t x = 0; x < width; ++x) to_pixel(*image, x, y, row.data() + 3 * x);
    canvas.write_row(y, row.data());
  }
}

}  // namespace ingot::formats::image
