// Resizing as ONNX asks for it and as TensorFlow's operators do it, element by element.
#include "ingot/backends/resize_flags.h"

#include <algorithm>
#include <cmath>

#include "ingot/base/current_budget.h"
#include "ingot/ops/infer.h"

namespace ingot::backends {
namespace {

using Axis = passes::legalize::ResizeAxis;
using passes::legalize::resize_source;

constexpr ResizeFlags kFlags[] = {{false, false}, {false, true}, {true, false}};

double source_by_flags(const ResizeFlags& f, const Axis& a, std::int64_t i) {
  const double scale = f.aligns && a.out > 1 ? static_cast<double>(a.in - 1) / static_cast<double>(a.out - 1)
                                             : static_cast<double>(a.in) / static_cast<double>(a.out);
  const auto x = static_cast<double>(i);
  return f.half ? (x + 0.5) * scale : x * scale;
}

bool fits_nearest(const Node& n, const ResizeFlags& f, const Axis& a, bool avoids_borders) {
  const bool has_borders = avoids_borders && !f.aligns && a.out % a.in && a.in % a.out;
  for (std::int64_t i = 0; i < a.out; ++i) {
    count_step();
    const double x = source_by_flags(f, a, i);
    if (has_borders && std::abs(x - std::round(x)) < 1e-5 && std::round(x) != 0) return false;
    const auto at = static_cast<std::int64_t>(f.aligns ? std::round(x) : std::floor(x + 1e-9));
    if (std::clamp<std::int64_t>(at, 0, a.in - 1) != nearest_element(n, a, i)) return false;
  }
  return true;
}

bool fits_linear(const Node& n, const ResizeFlags& f, const Axis& a) {
  const std::string mode = n.attributes.string_or("coordinate_transformation_mode", "half_pixel");
  const auto last = static_cast<double>(a.in - 1);
  for (std::int64_t i = 0; i < a.out; ++i) {
    count_step();
    const double ours = std::clamp(resize_source(mode, a, i), 0.0, last);
    const double theirs = std::clamp(source_by_flags(f, a, i) - (f.half ? 0.5 : 0), 0.0, last);
    if (std::abs(ours - theirs) > 1e-6 * std::max(1.0, ours)) return false;
  }
  return true;
}

}  // namespace

std::int64_t nearest_element(const Node& resize, const Axis& axis, std::int64_t i) {
  const double x = resize_source(resize.attributes.string_or("coordinate_transformation_mode", "half_pixel"), axis, i);
  const std::string rounding = resize.attributes.string_or("nearest_mode", "round_prefer_floor");
  double r = std::floor(x);
  if (rounding == "ceil") r = std::ceil(x);
  if (rounding == "round_prefer_floor") r = std::ceil(x - 0.5);
  if (rounding == "round_prefer_ceil") r = std::floor(x + 0.5);
  return std::clamp<std::int64_t>(static_cast<std::int64_t>(r), 0, axis.in - 1);
}

const ResizeFlags* resize_flags(const Node& resize, const std::vector<Axis>& axes, std::size_t first, bool is_linear,
                                bool avoids_borders) {
  for (std::size_t i = 0; i < axes.size(); ++i)
    if ((i < first || i >= first + axes.size() - 2) && (axes[i].in != axes[i].out || axes[i].scale != 1))
      return nullptr;
  for (const ResizeFlags& f : kFlags) {
    bool fits = true;
    for (std::size_t i = first; i < first + axes.size() - 2; ++i)
      fits &= is_linear ? fits_linear(resize, f, axes[i]) : fits_nearest(resize, f, axes[i], avoids_borders);
    if (fits) return &f;
  }
  return nullptr;
}

Refused refuse_resize_of(const Node& n, std::string_view framework, bool avoids_borders) {
  if (std::ranges::any_of(*n.input(0)->type.shape, [](const Dim& d) { return same(d, 0); }))
    return Refusal{Kind::dimensions, "there is nothing to resize"};
  if (n.input(2) && !ops::constant_of(n.input(2)) && !n.input(3))
    return Refusal{Kind::not_constant, "scales that are computed"};
  if (n.attributes.int_or("antialias", 0)) return Refusal{Kind::attribute_value, "antialias"};
  const std::string mode = n.attributes.string_or("mode", "nearest");
  if (n.attributes.string_or("coordinate_transformation_mode", "half_pixel") == "tf_crop_and_resize")
    return Refusal{Kind::attribute_value, "tf_crop_and_resize"};
  if (mode == "nearest") return {};
  if (mode != "linear") return Refusal{Kind::attribute_value, "mode " + mode};
  const std::size_t rank = n.output(0)->type.shape->size();
  if (rank != 3 && rank != 4)
    return Refusal{Kind::dimensions, "linear resizing of other than 1 or 2 spatial dimensions"};
  // Channels first or last: either may be the case when this is asked.
  const std::vector<passes::legalize::ResizeAxis> axes = passes::legalize::resize_axes(n);
  if (!resize_flags(n, axes, 1, true, avoids_borders) && !resize_flags(n, axes, 2, true, avoids_borders))
    return Refusal{Kind::attribute_value, "coordinates that " + std::string(framework) + " does not have"};
  return {};
}

}  // namespace ingot::backends
