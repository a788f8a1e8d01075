// Pictures from files, as large as a model takes them.
#include "ingot/train/image_files.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <unordered_map>

#include "ingot/base/budget.h"
#include "ingot/base/error.h"
#include "ingot/base/mapped_file.h"
#include "ingot/formats/image/image.h"
#include "ingot/ir/graph.h"

namespace ingot::train {
namespace {

constexpr std::uint64_t kMostCached = std::uint64_t{256} << 20;  // bytes

bool is_channel_count(std::int64_t n) { return n == 1 || n == 3 || n == 4; }

/// What of a line of pixels makes one pixel of a longer or shorter line.
struct Tap {
  std::int64_t first = 0;
  std::vector<float> weights;
};

/// A triangle as wide as two of the larger pixels, from `begin` over `length` of `from` pixels to `to`.
std::vector<Tap> taps(std::int64_t from, double begin, double length, std::int64_t to) {
  const double step = length / static_cast<double>(to), reach = std::max(step, 1.0);
  std::vector<Tap> all(static_cast<std::size_t>(to));
  for (std::int64_t i = 0; i < to; ++i) {
    const double centre = begin + (static_cast<double>(i) + 0.5) * step;
    const auto bound = [&](double v) {
      return std::clamp<std::int64_t>(static_cast<std::int64_t>(std::floor(v)), 0, from - 1);
    };
    Tap& tap = all[static_cast<std::size_t>(i)];
    tap.first = bound(centre - reach);
    const std::int64_t last = bound(centre + reach);
    double sum = 0;
    std::vector<double> weights;
    for (std::int64_t p = tap.first; p <= last; ++p) {
      weights.push_back(std::max(0.0, 1 - std::abs(static_cast<double>(p) + 0.5 - centre) / reach));
      sum += weights.back();
    }
    if (sum <= 0) weights.assign(1, sum = 1);
    for (const double w : weights) tap.weights.push_back(static_cast<float>(w / sum));
  }
  return all;
}

/// Part of a picture, in its pixels.
struct Box {
  double top = 0, left = 0, height = 0, width = 0;
};

void resample(const Array& image, const Box& box, std::uint8_t* out, std::int64_t height, std::int64_t width,
              std::int64_t out_row) {
  const std::int64_t from_height = image.dims()[0], from_width = image.dims()[1], channels = image.dims()[2];
  const std::vector<Tap> down = taps(from_height, box.top, box.height, height);
  const std::vector<Tap> across = taps(from_width, box.left, box.width, width);
  const std::uint8_t* pixels = image.data<std::uint8_t>().data();
  std::vector<float> line(static_cast<std::size_t>(from_width * channels));
  for (std::int64_t y = 0; y < height; ++y) {
    const Tap& rows = down[static_cast<std::size_t>(y)];
    std::ranges::fill(line, 0.0f);
    for (std::size_t k = 0; k < rows.weights.size(); ++k) {
      const std::uint8_t* row = pixels + (rows.first + static_cast<std::int64_t>(k)) * from_width * channels;
      for (std::size_t i = 0; i < line.size(); ++i) line[i] += rows.weights[k] * static_cast<float>(row[i]);
    }
    for (std::int64_t x = 0; x < width; ++x) {
      const Tap& columns = across[static_cast<std::size_t>(x)];
      for (std::int64_t c = 0; c < channels; ++c) {
        float sum = 0;
        for (std::size_t k = 0; k < columns.weights.size(); ++k)
          sum += columns.weights[k] *
                 line[static_cast<std::size_t>((columns.first + static_cast<std::int64_t>(k)) * channels + c)];
        out[y * out_row + x * channels + c] = static_cast<std::uint8_t>(std::clamp(sum + 0.5f, 0.0f, 255.0f));
      }
    }
  }
}

}  // namespace

ImageSize parse_image_size(const std::string& text) {
  ImageSize size;
  std::string rest = text;
  const auto refuse = [&]() {
    throw Error(Code::bad_usage, "'" + text + "' does not say how pictures are resized")
        .hint("stretch, crop or pad, and a size where the model leaves it open: 'crop 224x224'");
  };
  if (!rest.empty() && (rest[0] < '0' || rest[0] > '9')) {
    size.how = rest.substr(0, rest.find_first_of(" :"));
    rest.erase(0, std::min(size.how.size() + 1, rest.size()));
    if (size.how != "stretch" && size.how != "crop" && size.how != "pad") refuse();
  }
  if (rest.empty()) return size;
  const char* end = rest.data() + rest.size();
  const auto high = std::from_chars(rest.data(), end, size.height);
  size.width = size.height;
  bool is_right = high.ec == std::errc();
  if (is_right && high.ptr != end) {
    const auto wide = std::from_chars(high.ptr + 1, end, size.width);
    is_right = *high.ptr == 'x' && wide.ec == std::errc() && wide.ptr == end;
  }
  constexpr std::int64_t kLargest = 1 << 15;
  if (!is_right || size.height < 1 || size.width < 1 || size.height > kLargest || size.width > kLargest) refuse();
  return size;
}

std::optional<ImageAxes> image_axes(const std::vector<std::int64_t>& d) {
  if (d.size() == 2) return ImageAxes{d[0], d[1], 1, d[1], 1, d[0] * d[1]};
  if (d.size() != 3) return std::nullopt;
  if (is_channel_count(d[0])) return ImageAxes{d[1], d[2], d[0], d[2], 1, d[1] * d[2]};
  if (is_channel_count(d[2])) return ImageAxes{d[0], d[1], d[2], d[1] * d[2], d[2], 1};
  return std::nullopt;
}

Array read_image(const std::string& path, std::int64_t channels, Budget* budget) try {
  const Bytes file = map_file(path);
  Array pixels;
  Budget& charged = budget ? *budget : Budget::unlimited();
  std::optional<Budget::MemoryGuard> guard;
  const formats::image::Place place = [&](std::int64_t height, std::int64_t width, std::int64_t depth) {
    guard.emplace(charged, static_cast<std::uint64_t>(height * width * depth));
    pixels = Array(DType::u8, {height, width, depth});
    return pixels.mutable_data<std::uint8_t>().data();
  };
  using formats::image::PixelFormat;
  formats::image::decode(file.span(), channels == 1 ? PixelFormat::gray : PixelFormat::rgb, place, charged);
  check_mapped_files();
  return pixels;
} catch (Error& error) {
  error.in_file(path);
  throw;
}

Array resized(const Array& image, const ImageSize& size) {
  const auto height = static_cast<double>(image.dims()[0]), width = static_cast<double>(image.dims()[1]);
  const std::int64_t channels = image.dims()[2];
  Array made(DType::u8, {size.height, size.width, channels});
  Box box{0, 0, height, width};
  std::int64_t top = 0, left = 0, out_height = size.height, out_width = size.width;
  const double tall = static_cast<double>(size.height) / height, wide = static_cast<double>(size.width) / width;
  if (size.how == "crop") {
    const double scale = std::max(tall, wide);
    box.height = static_cast<double>(size.height) / scale;
    box.width = static_cast<double>(size.width) / scale;
    box.top = (height - box.height) / 2;
    box.left = (width - box.width) / 2;
  } else if (size.how == "pad") {
    const double scale = std::min(tall, wide);
    out_height = std::clamp<std::int64_t>(std::llround(height * scale), 1, size.height);
    out_width = std::clamp<std::int64_t>(std::llround(width * scale), 1, size.width);
    top = (size.height - out_height) / 2;
    left = (size.width - out_width) / 2;
  }
  std::uint8_t* out = made.mutable_data<std::uint8_t>().data() + (top * size.width + left) * channels;
  resample(image, box, out, out_height, out_width, size.width * channels);
  return made;
}

struct ImageFiles::Cache {
  std::unordered_map<std::string, Array> images;
};

ImageFiles::ImageFiles(std::vector<std::string> paths, std::int64_t channels, ImageSize size, Budget* budget)
    : paths_(std::move(paths)), channels_(channels), size_(std::move(size)), budget_(budget) {
  const auto each = static_cast<std::uint64_t>(size_.height * size_.width * channels_);
  if (each * paths_.size() <= kMostCached) cache_ = std::make_shared<Cache>();
}

Array ImageFiles::one(const std::string& path) const {
  if (cache_)
    if (const auto found = cache_->images.find(path); found != cache_->images.end()) return found->second;
  Array image = resized(read_image(path, channels_, budget_), size_);
  if (cache_) cache_->images.emplace(path, image);
  return image;
}

Array ImageFiles::read(const std::vector<std::int64_t>& examples) const {
  Array batch(DType::u8, {static_cast<std::int64_t>(examples.size()), size_.height, size_.width, channels_});
  std::byte* out = batch.bytes();
  for (const std::int64_t example : examples) {
    if (budget_) budget_->poll();
    const Array image = one(paths_[static_cast<std::size_t>(example)]);
    std::memcpy(out, image.bytes(), image.byte_size());
    out += image.byte_size();
  }
  return batch;
}

ImageFiles ImageFiles::picked(const std::vector<std::int64_t>& examples) const {
  ImageFiles some = *this;
  some.paths_.clear();
  for (const std::int64_t example : examples) some.paths_.push_back(paths_[static_cast<std::size_t>(example)]);
  return some;
}

ImageInput image_input(const Value& input, ImageSize size) {
  const Type& type = input.type;
  const auto refuse = [&](const std::string& why) -> Error {
    return Error(Code::bad_input, "input '" + input.name() + "' is " + type.str() + ": " + why);
  };
  if (!type.is_tensor() || !type.shape || type.shape->size() != 4)
    throw refuse("a picture needs an input [batch, channels, height, width] or [batch, height, width, channels]");
  std::vector<std::int64_t> dims;
  for (std::size_t i = 1; i < 4; ++i) dims.push_back((*type.shape)[i].is_known() ? (*type.shape)[i].value() : -1);
  const auto axes = image_axes(dims);
  if (!axes) throw refuse("it has no axis of 1, 3 or 4 channels for a picture");
  if (axes->channels == 4) throw refuse("pictures are read with 1 or 3 channels");
  if (axes->height > 0) size.height = axes->height;
  if (axes->width > 0) size.width = axes->width;
  if (size.height < 1 || size.width < 1)
    throw refuse("the size of a picture is open").hint("--resize 'stretch 224x224' says how large it becomes");
  return {axes->channels, size};
}

bool is_image_name(const std::string& path) {
  constexpr std::string_view kEndings[] = {"bmp", "jpeg", "jpg", "jp2",  "pbm", "pgm",
                                           "png", "ppm",  "tif", "tiff", "webp"};
  const std::size_t dot = path.rfind('.');
  if (dot == std::string::npos) return false;
  std::string ending = path.substr(dot + 1);
  std::ranges::transform(ending, ending.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? char(c + 32) : c; });
  return std::ranges::find(kEndings, ending) != std::end(kEndings);
}

}  // namespace ingot::train
