// Resizing by weights of neighbours: a product with a constant matrix along each axis.
#include <algorithm>
#include <cmath>

#include "ingot/passes/legalize/resize_axis.h"
#include "ingot/passes/legalize/rewrites.h"

namespace ingot::passes::legalize {
namespace {

/// What the elements around a place add: from `first` on.
struct Taps {
  std::int64_t first;
  std::vector<double> weights;
};

Taps taps_at(double place, bool is_cubic, double a) {
  const double first = std::floor(place), t = place - first;
  const auto at = static_cast<std::int64_t>(first);
  if (!is_cubic) return {at, {1 - t, t}};
  const auto near = [&](double x) { return ((a + 2) * x - (a + 3)) * x * x + 1; };
  const auto far = [&](double x) { return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a; };
  return {at - 1, {far(1 + t), near(t), near(1 - t), far(2 - t)}};
}

/// [out, in]; elements outside count as those at the border, or not at all.
Tensor matrix(const Node& node, const ResizeAxis& axis) {
  const std::string mode = node.attributes.string_or("coordinate_transformation_mode", "half_pixel");
  const bool is_cubic = node.attributes.string_or("mode", "nearest") == "cubic";
  const auto a = static_cast<double>(node.attributes.float_or("cubic_coeff_a", -0.75f));
  const bool excludes = node.attributes.int_or("exclude_outside", 0) != 0;
  std::vector<float> all(static_cast<std::size_t>(axis.out * axis.in));
  for (std::int64_t o = 0; o < axis.out; ++o) {
    const Taps taps = taps_at(resize_source(mode, axis, o), is_cubic, a);
    std::vector<double> row(static_cast<std::size_t>(axis.in));
    double total = 0;
    for (std::size_t k = 0; k < taps.weights.size(); ++k) {
      const std::int64_t i = taps.first + static_cast<std::int64_t>(k);
      if (excludes && (i < 0 || i >= axis.in)) continue;
      row[static_cast<std::size_t>(std::clamp<std::int64_t>(i, 0, axis.in - 1))] += taps.weights[k];
      total += taps.weights[k];
    }
    for (std::int64_t i = 0; i < axis.in; ++i)
      all[static_cast<std::size_t>(o * axis.in + i)] =
          static_cast<float>(row[static_cast<std::size_t>(i)] / (excludes && total != 0 ? total : 1));
  }
  return Tensor::of<float>({axis.out, axis.in}, all);
}

}  // namespace

Values rewrite_known_resize(Rewriting& r) {
  const auto text = [&](const char* name, const char* fallback) { return r.node.attributes.string_or(name, fallback); };
  if (is_resized_by_run(r.node)) return {};
  if (r.rank() < 2 || r.elem() != DType::f32 || r.attr("antialias", 0)) return {};
  if (text("mode", "nearest") == "nearest") return {};
  if (text("keep_aspect_ratio_policy", "stretch") != "stretch") return {};
  const std::vector<ResizeAxis> axes = resize_axes(r.node);
  constexpr std::int64_t kMost = 1 << 22;
  for (const ResizeAxis& axis : axes)
    if (axis.in < 1 || axis.in * axis.out > kMost) return {};
  GraphBuilder& g = r.g;
  Value* x = r.in();
  for (std::size_t i = 0; i < axes.size(); ++i) {
    if (axes[i].in == axes[i].out && axes[i].scale == 1) continue;
    std::vector<std::int64_t> perm;
    for (std::size_t k = 0; k < axes.size(); ++k) perm.push_back(static_cast<std::int64_t>(k));
    std::swap(perm[i], perm.back());
    const bool is_last = i + 1 == axes.size();
    Value* weights = g.transpose(g.constant(matrix(r.node, axes[i])), {1, 0});
    Value* turned = is_last ? x : g.transpose(x, perm);
    Value* made = g.op("MatMul", {turned, weights});
    x = is_last ? made : g.transpose(made, perm);
  }
  return {x == r.in() ? g.op("Identity", {x}) : x};
}

}  // namespace ingot::passes::legalize
