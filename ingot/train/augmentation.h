#pragma once
#include <cstdint>
#include <string>

#include "ingot/train/image_files.h"

namespace ingot::train {

/// Changes that leave a picture what it is, another one each time it is seen.
struct Augmentation {
  bool flip = false, flip_vertically = false;  // every other time
  double crop = 1;                             // the least part of each side that stays
  double shift = 0;                            // the largest part of a side
  double rotate = 0;                           // the largest angle, in degrees
  double brightness = 0, contrast = 0;         // the largest change: 0.2 is 0.8 to 1.2 times

  bool is_none() const;
};

/// "flip,crop:0.8,shift:0.1,rotate:15,vflip,brightness:0.2,contrast:0.2"; numbers may be left out.
Augmentation parse_augmentation(const std::string& text);

/// One example, changed as `draw` decides: the same number gives the same picture everywhere.
void augment(const float* from, float* to, const ImageAxes& axes, const Augmentation& how, std::uint64_t draw);

}  // namespace ingot::train
