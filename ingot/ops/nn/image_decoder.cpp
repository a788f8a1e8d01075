// ImageDecoder: the pixels of an encoded image; the data decides its size.
#include "ingot/ops/catalog.h"
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

}  // namespace

constinit const OpDef defs::ImageDecoder = {
    .name = "ImageDecoder",
    .infer = infer,
};

}  // namespace ingot::ops
