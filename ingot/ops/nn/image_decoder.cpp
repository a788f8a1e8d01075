// ImageDecoder: the pixels of an encoded image; the data decides its size.
#include "ingot/base/error.h"
#include "ingot/formats/image/image.h"
#include "ingot/ops/catalog.h"
#include "ingot/ops/kernel.h"
#include "ingot/ops/nn/agree.h"

namespace ingot::ops {
namespace {

void infer(InferContext& c) {
  const std::string format = c.attr("pixel_format", "RGB");
  if (format != "RGB" && format != "BGR" && format != "Grayscale")
    c.fail("attribute 'pixel_format' is '" + format + "'");
  require_rank(c, 0, 1, "the encoded stream");
  c.out_shape(0, {c.data_dim(0, 0), c.data_dim(0, 1), format == "Grayscale" ? 1 : 3});
}

using formats::image::PixelFormat;

void run(KernelContext& c) {
  const std::string name = c.attr("pixel_format", "RGB");
  if (name != "RGB" && name != "BGR" && name != "Grayscale") c.fail("attribute 'pixel_format' is '" + name + "'");
  const PixelFormat format = name == "RGB" ? PixelFormat::rgb : name == "BGR" ? PixelFormat::bgr : PixelFormat::gray;
  const Array& stream = c.in(0);
  if (stream.rank() != 1) c.fail("the encoded stream must have rank 1");
  const auto place = [&](std::int64_t height, std::int64_t width, std::int64_t channels) {
    return c.make(0, DType::u8, {height, width, channels}).mutable_data<std::uint8_t>().data();
  };
  try {
    decode(std::as_bytes(stream.data<std::uint8_t>()), format, place, c.host().budget());
  } catch (const Error& error) {
    // The operator's answer to a stream that cannot be decoded is a matrix without elements. Limits stay errors.
    if (error.code() != Code::bad_image) throw;
    place(0, 0, format == PixelFormat::gray ? 1 : 3);
  }
}

}  // namespace

constinit const OpDef defs::ImageDecoder = {
    .name = "ImageDecoder",
    .infer = infer,
    .kernel = run,
};

}  // namespace ingot::ops
