// ai.onnx.contrib: DecodeImage, EncodeImage, ImageDecoder, ImageReader.
#include <algorithm>

#include "ingot/formats/image/encode.h"
#include "ingot/formats/image/image.h"
#include "ingot/ops/contrib/texts.h"
#include "ingot/ops/infer.h"
#include "ingot/ops/vendor/catalog.h"

namespace ingot::ops {
namespace {

namespace image = formats::image;

bool is_bgr(KernelContext& c) {
  const std::string order = c.attr("color_space", "bgr");
  if (order != "bgr" && order != "rgb") c.fail("the color space is '" + order + "'");
  return order == "bgr";
}

void infer_decoded(InferContext& c) { c.out_shape(0, {c.data_dim(0, 0), c.data_dim(0, 1), 3}); }

void decode_into(KernelContext& c, image::PixelFormat format) {
  constexpr std::int64_t kMostSide = 16384;
  const Array& bytes = c.in(0);
  if (bytes.rank() != 1) c.fail("the encoded image must be a vector of bytes");
  const auto place = [&](std::int64_t height, std::int64_t width, std::int64_t channels) {
    if (height > kMostSide || width > kMostSide) c.fail("an image has at most 16384 rows and columns");
    return c.make(0, DType::u8, {height, width, channels}).mutable_data<std::uint8_t>().data();
  };
  image::decode(std::as_bytes(bytes.data<std::uint8_t>()), format, place, c.host().budget());
}

void run_decode(KernelContext& c) { decode_into(c, is_bgr(c) ? image::PixelFormat::bgr : image::PixelFormat::rgb); }
void run_decode_bgr(KernelContext& c) { decode_into(c, image::PixelFormat::bgr); }

void infer_encoded(InferContext& c) { c.out_shape(0, {c.data_dim(0, 0)}); }

void run_encode(KernelContext& c) {
  const Array& x = c.in(0);
  if (x.rank() != 3 || x.dims()[2] != 3) c.fail("the image must have the shape [height, width, 3]");
  const std::string format = c.attr("format", "png");
  if (format != "png" && format != "jpg") c.fail("the format is '" + format + "'");
  const image::Picture picture{x.data<std::uint8_t>(), x.dims()[0], x.dims()[1], is_bgr(c)};
  const std::vector<std::uint8_t> bytes =
      format == "png" ? image::encode_png(picture, c.host().budget()) : image::encode_jpeg(picture, c.host().budget());
  std::ranges::copy(bytes, c.make(0, DType::u8, {std::ssize(bytes)}).mutable_data<std::uint8_t>().begin());
}

void infer_read(InferContext& c) { c.out_shape(0, {1, c.data_dim(0, 1), c.data_dim(0, 2), 3}); }

}  // namespace

constinit const OpDef defs::contrib::DecodeImage = {
    .name = "DecodeImage", .domain = kContrib, .infer = infer_decoded, .kernel = run_decode};
constinit const OpDef defs::contrib::EncodeImage = {
    .name = "EncodeImage", .domain = kContrib, .infer = infer_encoded, .kernel = run_encode};
constinit const OpDef defs::contrib::ImageDecoder = {
    .name = "ImageDecoder", .domain = kContrib, .infer = infer_decoded, .kernel = run_decode_bgr};

/// It has no kernel: a model does not decide which files are read.
constinit const OpDef defs::contrib::ImageReader = {.name = "ImageReader", .domain = kContrib, .infer = infer_read};

}  // namespace ingot::ops
