// ai.onnx.contrib: DrawBoundingBoxes, GaussianBlur.
#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "ingot/ops/contrib/texts.h"
#include "ingot/ops/infer.h"
#include "ingot/ops/pace.h"
#include "ingot/ops/vendor/catalog.h"

namespace ingot::ops {
namespace {

using Color = std::array<std::uint8_t, 3>;

// Blue, green, red.
constexpr Color kColors[] = {{0, 0, 255},   {0, 255, 255}, {0, 255, 0}, {255, 0, 0}, {255, 255, 0},
                             {255, 0, 255}, {0, 128, 255}, {0, 0, 128}, {0, 128, 0}, {128, 0, 0}};
constexpr std::size_t kColorCount = std::size(kColors);
constexpr std::size_t kBoxSize = 6;  // four numbers of the place, score, class

struct Image {
  std::span<std::uint8_t> pixels;
  std::int64_t height, width;

  /// Fills rows and columns from begin to before end, as far as they are inside.
  void fill(std::int64_t y0, std::int64_t y1, std::int64_t x0, std::int64_t x1, const Color& color) const {
    for (std::int64_t y = std::max<std::int64_t>(y0, 0); y < std::min(y1, height); ++y)
      for (std::int64_t x = std::max<std::int64_t>(x0, 0); x < std::min(x1, width); ++x)
        std::ranges::copy(color, pixels.begin() + static_cast<std::ptrdiff_t>(3 * (y * width + x)));
  }
};

/// A number within limits; what is no number is the least.
std::int64_t within(float v, std::int64_t most) {
  const float rounded = std::round(v);
  if (!(rounded > 0)) return 0;
  return rounded < static_cast<float>(most) ? static_cast<std::int64_t>(rounded) : most;
}

void draw(const Image& image, std::span<const float> box, const std::string& mode, const Color& color,
          std::int64_t thickness) {
  float x0 = box[0], y0 = box[1], x1 = box[2], y1 = box[3];
  if (mode == "CENTER_XYWH") {
    x0 = box[0] - box[2] / 2, y0 = box[1] - box[3] / 2;
    x1 = box[0] + box[2] / 2, y1 = box[1] + box[3] / 2;
  } else if (mode == "XYWH") {
    x1 = box[0] + box[2], y1 = box[1] + box[3];
  }
  std::int64_t right = within(x1, image.width - 1), bottom = within(y1, image.height - 1);
  std::int64_t left = within(x0, right), top = within(y0, bottom);
  const std::int64_t least = std::min(right - left, bottom - top);
  thickness = std::min(thickness, least);
  if (thickness < 1) return;
  if (thickness != least) {  // lines stand on both sides of the box's edge
    left -= thickness / 2, top -= thickness / 2;
    right += thickness - thickness / 2, bottom += thickness - thickness / 2;
  }
  right = std::clamp<std::int64_t>(right, 0, image.width - 1);
  bottom = std::clamp<std::int64_t>(bottom, 0, image.height - 1);
  left = std::clamp<std::int64_t>(left, 0, right);
  top = std::clamp<std::int64_t>(top, 0, bottom);
  image.fill(top, top + thickness, left, right, color);
  image.fill(top, bottom, left, left + thickness, color);
  image.fill(bottom - thickness, bottom, left, right, color);
  image.fill(top, bottom, right - thickness, right, color);
}

/// The boxes to draw, in order, with their colors: those of the best scores lie on top.
std::vector<std::pair<std::size_t, std::size_t>> plan(std::span<const float> boxes, bool by_class) {
  std::vector<std::size_t> order(boxes.size() / kBoxSize);
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::ranges::stable_sort(order, std::greater<>(), [&](std::size_t i) { return boxes[i * kBoxSize + 4]; });
  std::vector<std::pair<std::size_t, std::size_t>> drawn;
  std::map<float, std::size_t> colors;
  for (std::size_t place = 0; place < order.size(); ++place) {
    if (!by_class && place < kColorCount) drawn.emplace_back(order[place], place);
    if (!by_class) continue;
    const float kind = boxes[order[place] * kBoxSize + 5];
    const auto known = colors.find(kind);
    if (known == colors.end() && colors.size() >= kColorCount) continue;  // there are no more colors
    drawn.emplace_back(order[place], colors.try_emplace(kind, colors.size()).first->second);
  }
  if (by_class) std::ranges::stable_sort(drawn, {}, [](const auto& d) { return d.second; });
  std::ranges::reverse(drawn);
  return drawn;
}

void run_draw(KernelContext& c) {
  const Array &x = c.in(0), &boxes = c.in(1);
  if (x.rank() != 3 || x.dims()[2] != 3) c.fail("the image must have the shape [height, width, 3]");
  if (boxes.rank() != 2 || boxes.dims()[1] != static_cast<std::int64_t>(kBoxSize))
    c.fail("the boxes must have the shape [n, 6]");
  const std::string mode = c.attr("mode", "XYXY");
  if (mode != "XYXY" && mode != "XYWH" && mode != "CENTER_XYWH") c.fail("the mode is '" + mode + "'");
  const auto out = c.make(0, DType::u8, x.dims()).mutable_data<std::uint8_t>();
  std::ranges::copy(x.data<std::uint8_t>(), out.begin());
  const Image image{out, x.dims()[0], x.dims()[1]};
  if (image.height == 0 || image.width == 0) return;
  const auto data = boxes.data<float>();
  if (std::ranges::any_of(data, [](float v) { return std::isnan(v); })) c.fail("a box has a number that is none");
  Pace pace(c.host().budget());
  for (const auto& [box, color] : plan(data, c.attr("colour_by_classes", std::int64_t{1}) != 0)) {
    draw(image, data.subspan(box * kBoxSize, kBoxSize), mode, kColors[color], c.attr("thickness", std::int64_t{4}));
    pace.step(x.size() + 1);
  }
}

/// Weights of OpenCV's Gaussian kernel.
std::vector<double> gaussian(KernelContext& c, std::int64_t size, double sigma) {
  constexpr std::int64_t kMost = 1 << 14;
  if (size <= 0 && sigma > 0) size = static_cast<std::int64_t>(std::nearbyint(std::min(sigma, 1e4) * 8 + 1)) | 1;
  if (size <= 0 || size % 2 == 0 || size > kMost) c.fail("the kernel's size must be odd, positive and small");
  constexpr double kSmall[4][7] = {
      {1}, {.25, .5, .25}, {.0625, .25, .375, .25, .0625}, {.03125, .109375, .21875, .28125, .21875, .109375, .03125}};
  if (size <= 7 && sigma <= 0) return {kSmall[size / 2], kSmall[size / 2] + size};
  if (sigma <= 0) sigma = (static_cast<double>(size - 1) * .5 - 1) * .3 + .8;
  std::vector<double> weights;
  double sum = 0;
  for (std::int64_t i = 0; i < size; ++i) {
    const double d = static_cast<double>(i) - static_cast<double>(size - 1) * .5;
    sum += weights.emplace_back(std::exp(-.5 * d * d / (sigma * sigma)));
  }
  for (double& w : weights) w /= sum;
  return weights;
}

/// Beyond the edge an axis goes back, without the edge itself.
std::int64_t reflected(std::int64_t i, std::int64_t size) {
  if (size == 1) return 0;
  const std::int64_t period = 2 * (size - 1);
  i = ((i % period) + period) % period;
  return i < size ? i : period - i;
}

/// Along an axis of `size` steps of `stride` elements.
void blur_axis(std::vector<double>& x, std::int64_t size, std::int64_t stride, const std::vector<double>& weights,
               Pace& pace) {
  const std::int64_t half = std::ssize(weights) / 2;
  std::vector<double> line(static_cast<std::size_t>(size));
  for (std::int64_t first = 0; first < std::ssize(x);
       first += first % stride == stride - 1 ? (size - 1) * stride + 1 : 1) {
    for (std::int64_t i = 0; i < size; ++i) {
      double sum = 0;
      for (std::int64_t k = 0; k < std::ssize(weights); ++k)
        sum += weights[static_cast<std::size_t>(k)] *
               x[static_cast<std::size_t>(first + reflected(i + k - half, size) * stride)];
      line[static_cast<std::size_t>(i)] = sum;
      pace.step(std::ssize(weights));
    }
    for (std::int64_t i = 0; i < size; ++i)
      x[static_cast<std::size_t>(first + i * stride)] = line[static_cast<std::size_t>(i)];
  }
}

void run_blur(KernelContext& c) {
  const Array& x = c.in(0);
  if (x.rank() != 4) c.fail("the image must have the shape [n, height, width, channels]");
  const auto sizes = c.in(1).data<std::int64_t>();
  const auto sigmas = c.in(2).data<double>();
  if (sizes.size() != 2 || sigmas.size() != 2) c.fail("ksize and sigma must have two numbers");
  const auto in = x.data<float>();
  const auto out = c.make(0, DType::f32, x.dims()).mutable_data<float>();
  if (in.empty()) return;
  std::vector<double> pixels(in.begin(), in.end());
  Pace pace(c.host().budget());
  const std::int64_t channels = x.dims()[3], width = x.dims()[2];
  blur_axis(pixels, width, channels, gaussian(c, sizes[1], sigmas[0]), pace);
  const auto down = gaussian(c, sizes[0], sigmas[1] > 0 ? sigmas[1] : sigmas[0]);
  blur_axis(pixels, x.dims()[1], channels * width, down, pace);
  std::ranges::transform(pixels, out.begin(), [](double v) { return static_cast<float>(v); });
}

}  // namespace

constinit const OpDef defs::contrib::DrawBoundingBoxes = {
    .name = "DrawBoundingBoxes", .domain = kContrib, .infer = infer_same_shape, .kernel = run_draw};
constinit const OpDef defs::contrib::GaussianBlur = {
    .name = "GaussianBlur", .domain = kContrib, .infer = infer_same_shape, .kernel = run_blur};

}  // namespace ingot::ops
