// WebP through libwebp: still images.
#include <webp/decode.h>

#include "ingot/formats/image/canvas.h"

namespace ingot::formats::image {

void decode_webp(Bytes data, Canvas& canvas) {
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(data.data());
  WebPBitstreamFeatures features;
  if (WebPGetFeatures(bytes, data.size(), &features) != VP8_STATUS_OK) refuse("it is no WebP image");
  if (features.has_animation) refuse("it is an animation");
  const std::int64_t width = features.width, height = features.height;
  canvas.begin(height, width);
  // libwebp has about as much of its own, for lossless images.
  const Budget::MemoryGuard own(canvas.budget, static_cast<std::uint64_t>(width * height) * 4);
  Buffer pixels(canvas.budget, height, width, 3);
  if (!WebPDecodeRGBInto(bytes, data.size(), pixels.data(), static_cast<std::size_t>(width * height * 3),
                         features.width * 3))
    refuse("its data is damaged");
  for (std::int64_t y = 0; y < height; ++y) canvas.write_row(y, pixels.data() + y * width * 3);
}

}  // namespace ingot::formats::image
