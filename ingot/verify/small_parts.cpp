// What an output's largest numbers would hide.
#include "ingot/verify/small_parts.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace ingot::verify {
namespace {

constexpr double kOfItsScale = 1e-3;
constexpr double kOfItsNoise = 8;
constexpr double kOfFewElements = 100;               // whose noise may be small by chance
constexpr double kOtherFactor = 8;                   // how much noisier than Ingot another runtime may be
constexpr double kSmall = 1e-2;                      // of the whole scale; larger parts are judged with the whole
constexpr std::int64_t kFew = 4, kManyParts = 1024;  // of many parts, some of few elements are near zero by chance

struct Part {
  double scale = 0, value = 0, noise_a = 0, noise_b = 0;
  std::int64_t worst = 0;
};

std::string place_of(std::size_t rank, std::size_t axis, std::int64_t index) {
  std::string text;
  for (std::size_t i = 0; i < rank; ++i) text += (i ? "," : "[") + (i == axis ? std::to_string(index) : ":");
  return text + "]";
}

class Search {
 public:
  explicit Search(const ValueOfBoth& value)
      : dims_(value.a.dims()),
        a_(value.a.to_doubles()),
        b_(value.b.to_doubles()),
        a_exact_(value.a_exact.to_doubles()),
        b_exact_(value.b_exact.to_doubles()),
        least_(static_cast<double>(std::numeric_limits<float>::epsilon()) * value.range) {
    for (const double x : a_)
      if (std::isfinite(x)) scale_ = std::max(scale_, std::abs(x));
  }

  std::optional<PartThatDiffers> along(std::size_t axis) const {
    const auto count = dims_[axis], each = static_cast<std::int64_t>(a_.size()) / count;
    if (count < 2 || (each < kFew && count > kManyParts)) return std::nullopt;
    const std::vector<Part> parts = parts_along(axis);
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const Part& part = parts[i];
      if (part.scale >= kSmall * scale_) continue;
      const double allowed = allowed_in(part, each);
      if (part.value > allowed)
        return PartThatDiffers{place_of(dims_.size(), axis, static_cast<std::int64_t>(i)), part.scale, part.value,
                               allowed, part.worst};
    }
    return std::nullopt;
  }

 private:
  std::vector<Part> parts_along(std::size_t axis) const {
    std::size_t stride = 1;
    for (std::size_t i = axis + 1; i < dims_.size(); ++i) stride *= static_cast<std::size_t>(dims_[i]);
    const auto count = static_cast<std::size_t>(dims_[axis]);
    std::vector<Part> parts(count);
    for (std::size_t i = 0; i < a_.size(); ++i) {
      if (!std::isfinite(a_[i]) || !std::isfinite(b_[i])) continue;
      Part& part = parts[i / stride % count];
      part.scale = std::max(part.scale, std::abs(a_[i]));
      part.noise_a = std::max(part.noise_a, std::abs(a_[i] - a_exact_[i]));
      part.noise_b = std::max(part.noise_b, std::abs(b_[i] - b_exact_[i]));
      if (const double apart = std::abs(a_[i] - b_[i]); apart > part.value) {
        part.value = apart;
        part.worst = static_cast<std::int64_t>(i);
      }
    }
    return parts;
  }

  double allowed_in(const Part& part, std::int64_t elements) const {
    // Functions are computed to so much of 1, whatever they give.
    const double least = 4 * static_cast<double>(std::numeric_limits<float>::epsilon()) * std::min(1.0, scale_);
    const double own = std::max(part.noise_b, least);
    const double noise = own + std::min(part.noise_a, kOtherFactor * own);
    return std::max({kOfItsScale * part.scale, (elements < kFew ? kOfFewElements : kOfItsNoise) * noise, least_});
  }

  const Dims& dims_;
  std::vector<double> a_, b_, a_exact_, b_exact_;
  double least_, scale_ = 0;
};

}  // namespace

std::optional<PartThatDiffers> find_small_part(const ValueOfBoth& value) {
  if (value.a.size() < 2) return std::nullopt;
  const Search search(value);
  for (std::size_t axis = value.a.dims().size(); axis-- > 0;)
    if (auto found = search.along(axis)) return found;
  return std::nullopt;
}

}  // namespace ingot::verify
