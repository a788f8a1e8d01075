// Where the elements of a resized tensor come from.
#include "ingot/passes/legalize/resize_axis.h"

#include "ingot/ops/infer.h"

namespace ingot::passes::legalize {

std::vector<ResizeAxis> resize_axes(const Node& n) {
  const Shape &x = *n.input(0)->type.shape, &y = *n.output(0)->type.shape;
  std::vector<ResizeAxis> axes;
  for (std::size_t i = 0; i < x.size(); ++i) {
    // A size that is open but stays, as a batch's, is as good as one.
    const bool is_open = !x[i].is_known() && same(x[i], y[i]);
    const std::int64_t in = is_open ? 1 : x[i].value(), out = is_open ? 1 : y[i].value();
    axes.push_back({in, out, static_cast<double>(out) / static_cast<double>(in)});
  }
  const Tensor* scales = n.input(2) ? ops::constant_of(n.input(2)) : nullptr;
  if (!scales || scales->size() == 0) return axes;
  const std::vector<std::int64_t> which = n.attributes.ints_or("axes", {});
  const std::vector<double> values = scales->to_doubles();
  for (std::size_t k = 0; k < values.size(); ++k) {
    std::int64_t a = which.empty() ? static_cast<std::int64_t>(k) : which[k];
    if (a < 0) a += static_cast<std::int64_t>(x.size());
    axes[static_cast<std::size_t>(a)].scale = values[k];
  }
  return axes;
}

double resize_source(const std::string& mode, const ResizeAxis& a, std::int64_t i) {
  const auto x = static_cast<double>(i);
  const double out = a.scale * static_cast<double>(a.in);
  if (mode == "align_corners") return out == 1 ? 0 : x * static_cast<double>(a.in - 1) / (out - 1);
  if (mode == "asymmetric") return x / a.scale;
  if (mode == "pytorch_half_pixel") return out > 1 ? (x + 0.5) / a.scale - 0.5 : 0;
  if (mode == "half_pixel_symmetric") {
    const double adjustment = static_cast<double>(a.out) / out, centre = static_cast<double>(a.in) / 2;
    return centre * (1 - adjustment) + (x + 0.5) / a.scale - 0.5;
  }
  return (x + 0.5) / a.scale - 0.5;
}

bool is_resized_by_run(const Node& node) {
  const bool is_region =
      node.attributes.string_or("coordinate_transformation_mode", "half_pixel") == "tf_crop_and_resize";
  const bool has_sizes = static_dims(node.input(0)->type.shape) && static_dims(node.output(0)->type.shape);
  return !has_sizes || is_region || (node.input(2) && !ops::constant_of(node.input(2)));
}

}  // namespace ingot::passes::legalize
