#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ingot/ir/array.h"

namespace ingot {
class Budget;
class Value;
}  // namespace ingot

namespace ingot::train {

/// How large pictures become, and how: "stretch" to the size, "crop" the middle of the right proportions, or "pad"
/// with black. Written as "crop" or, with a size, "crop 224x320" (height first).
struct ImageSize {
  std::int64_t height = 0, width = 0;
  std::string how = "stretch";
};
ImageSize parse_image_size(const std::string& text);

/// Where height, width and channels stand in one example of images, and how far apart.
struct ImageAxes {
  std::int64_t height = 0, width = 0, channels = 1;
  std::int64_t row = 0, column = 0, channel = 0;  // steps in elements

  std::int64_t size() const { return height * width * channels; }
};
/// Of [C,H,W], [H,W,C] (1, 3 or 4 channels) or [H,W]; nothing for others. Where both may be, the first.
std::optional<ImageAxes> image_axes(const std::vector<std::int64_t>& example);

/// Pixels [height, width, channels] of 8 bits.
Array read_image(const std::string& path, std::int64_t channels, Budget* budget);
/// The same scene in another size. Pictures that shrink are averaged.
Array resized(const Array& image, const ImageSize& size);

/// Pictures that are read when they are needed; small sets stay in memory.
class ImageFiles {
 public:
  ImageFiles(std::vector<std::string> paths, std::int64_t channels, ImageSize size, Budget* budget);

  const std::vector<std::string>& paths() const { return paths_; }
  /// [examples, height, width, channels] of 8 bits. Errors name the file.
  Array read(const std::vector<std::int64_t>& examples) const;
  /// Those with these numbers.
  ImageFiles picked(const std::vector<std::int64_t>& examples) const;

 private:
  struct Cache;
  Array one(const std::string& path) const;

  std::vector<std::string> paths_;
  std::int64_t channels_;
  ImageSize size_;
  Budget* budget_;
  std::shared_ptr<Cache> cache_;
};

/// Of a model's input that takes pictures: its channels, and its size where `size` leaves it open. Refuses inputs that
/// take none.
struct ImageInput {
  std::int64_t channels = 3;
  ImageSize size;
};
ImageInput image_input(const Value& input, ImageSize size);

/// PNG, JPEG, BMP and others, by the name of a file.
bool is_image_name(const std::string& path);

}  // namespace ingot::train
