// Pictures seen a little differently each time.
#include "ingot/train/augmentation.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "ingot/base/error.h"

namespace ingot::train {
namespace {

/// Numbers from -1 to 1, by SplitMix64.
class Draws {
 public:
  explicit Draws(std::uint64_t seed) : state_(seed) {}
  double operator()() {
    state_ += 0x9e3779b97f4a7c15;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return static_cast<double>((z ^ (z >> 31)) >> 11) * 0x1p-52 - 1;
  }

 private:
  std::uint64_t state_;
};

/// Where a pixel of the result lies in the source: both measured from the middle.
struct Affine {
  double xx = 1, xy = 0, yx = 0, yy = 1, x = 0, y = 0;
};

/// Draws everything, whatever is wanted: so one wish does not change what another draws.
Affine drawn_map(const Augmentation& how, const ImageAxes& axes, Draws& draw) {
  const double across = draw(), down = draw(), turn = draw(), size = draw(), right = draw(), below = draw();
  const double pi = 3.14159265358979323846;
  const double angle = how.rotate * turn * pi / 180;
  const double part = how.crop + (1 - how.crop) * (size + 1) / 2;
  const double mirror = how.flip && across < 0 ? -1 : 1, stand = how.flip_vertically && down < 0 ? -1 : 1;
  Affine m;
  m.xx = mirror * part * std::cos(angle);
  m.xy = -part * std::sin(angle);
  m.yx = part * std::sin(angle);
  m.yy = stand * part * std::cos(angle);
  const double room = (1 - part) / 2 + how.shift;
  m.x = right * room * static_cast<double>(axes.width);
  m.y = below * room * static_cast<double>(axes.height);
  return m;
}

/// Between the four pixels around; beyond the edge the edge goes on.
float sample(const float* from, const ImageAxes& axes, double x, double y, std::int64_t channel) {
  const double px = std::clamp(x, 0.0, static_cast<double>(axes.width - 1));
  const double py = std::clamp(y, 0.0, static_cast<double>(axes.height - 1));
  const auto x0 = static_cast<std::int64_t>(px), y0 = static_cast<std::int64_t>(py);
  const std::int64_t x1 = std::min(x0 + 1, axes.width - 1), y1 = std::min(y0 + 1, axes.height - 1);
  const auto at = [&](std::int64_t row, std::int64_t column) {
    return from[row * axes.row + column * axes.column + channel * axes.channel];
  };
  const auto fx = static_cast<float>(px - static_cast<double>(x0)),
             fy = static_cast<float>(py - static_cast<double>(y0));
  const float top = at(y0, x0) + fx * (at(y0, x1) - at(y0, x0));
  const float bottom = at(y1, x0) + fx * (at(y1, x1) - at(y1, x0));
  return top + fy * (bottom - top);
}

}  // namespace

bool Augmentation::is_none() const {
  return !flip && !flip_vertically && crop == 1 && shift == 0 && rotate == 0 && brightness == 0 && contrast == 0;
}

Augmentation parse_augmentation(const std::string& text) {
  Augmentation how;
  struct Word {
    std::string_view name;
    double Augmentation::*value;
    double usual, most;
  };
  constexpr Word kWords[] = {{"crop", &Augmentation::crop, 0.8, 1},
                             {"shift", &Augmentation::shift, 0.1, 1},
                             {"rotate", &Augmentation::rotate, 15, 180},
                             {"brightness", &Augmentation::brightness, 0.2, 1},
                             {"contrast", &Augmentation::contrast, 0.2, 1}};
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    const std::string entry = text.substr(at, end - at);
    const std::string name = entry.substr(0, entry.find(':'));
    at = end + 1;
    const auto word = std::ranges::find(kWords, name, &Word::name);
    const bool has_number = name.size() < entry.size();
    if ((name == "flip" || name == "vflip") && !has_number) {
      (name == "flip" ? how.flip : how.flip_vertically) = true;
      continue;
    }
    double number = word == std::end(kWords) ? -1 : word->usual;
    if (has_number) {
      const char *first = entry.data() + name.size() + 1, *last = entry.data() + entry.size();
      const auto [stop, error] = std::from_chars(first, last, number);
      if (error != std::errc() || stop != last) number = -1;
    }
    if (word == std::end(kWords) || !(number >= 0 && number <= word->most) || (name == "crop" && number == 0))
      throw Error(Code::bad_usage, "'" + entry + "' is no augmentation")
          .hint("flip, vflip, crop:0.8, shift:0.1, rotate:15, brightness:0.2, contrast:0.2; several between commas");
    how.*(word->value) = number;
  }
  return how;
}

void augment(const float* from, float* to, const ImageAxes& axes, const Augmentation& how, std::uint64_t seed) {
  Draws draw(seed);
  const Affine m = drawn_map(how, axes, draw);
  const double mx = static_cast<double>(axes.width - 1) / 2, my = static_cast<double>(axes.height - 1) / 2;
  const double light = 1 + how.brightness * draw(), span = 1 + how.contrast * draw();
  double sum = 0;
  for (std::int64_t y = 0; y < axes.height; ++y)
    for (std::int64_t x = 0; x < axes.width; ++x) {
      const double dx = static_cast<double>(x) - mx, dy = static_cast<double>(y) - my;
      const double sx = mx + m.x + m.xx * dx + m.xy * dy, sy = my + m.y + m.yx * dx + m.yy * dy;
      for (std::int64_t c = 0; c < axes.channels; ++c) {
        const float v = sample(from, axes, sx, sy, c);
        sum += static_cast<double>(v);
        to[y * axes.row + x * axes.column + c * axes.channel] = v;
      }
    }
  if (how.brightness == 0 && how.contrast == 0) return;
  const double mean = sum / static_cast<double>(axes.size());
  for (std::int64_t i = 0; i < axes.size(); ++i)
    to[i] = static_cast<float>(((static_cast<double>(to[i]) - mean) * span + mean) * light);
}

}  // namespace ingot::train
