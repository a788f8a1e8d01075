// Resize as PyTorch's upsampling, where both count coordinates alike.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ingot/backends/torch/operators.h"
#include "ingot/backends/torch/refusals.h"
#include "ingot/ops/infer.h"
#include "ingot/ops/known.h"

namespace ingot::backends::torch {
namespace {

/// Factors of all axes; empty: the sizes are given instead.
std::vector<double> scales_of(const Node& node) {
  const Tensor* scales = node.input(2) ? ops::constant_of(node.input(2)) : nullptr;
  return scales && scales->size() ? scales->to_doubles() : std::vector<double>();
}

bool counts_alike(const Node& node) {
  const std::string mode = node.attributes.string_or("mode", "nearest");
  const std::string how = node.attributes.string_or("coordinate_transformation_mode", "half_pixel");
  if (mode == "nearest")
    return how == "asymmetric" && node.attributes.string_or("nearest_mode", "round_prefer_floor") == "floor";
  if (mode == "cubic" && (node.attributes.float_or("cubic_coeff_a", -0.75F) != -0.75F ||
                          node.attributes.int_or("exclude_outside", 0) || node.input(0)->type.shape->size() != 4))
    return false;
  if (how != "align_corners") return how == "half_pixel";
  // ONNX counts from corner to corner of a size that need not be whole.
  const Shape& x = *node.input(0)->type.shape;
  const std::vector<double> scales = scales_of(node);
  for (std::size_t i = 2; i < scales.size() && i < x.size(); ++i) {
    const auto size = x[i].as_int();
    if (!size || std::floor(static_cast<double>(*size) * scales[i]) != static_cast<double>(*size) * scales[i])
      return false;
  }
  return true;
}

/// Batch and channels stay, and the factor or the size of each other axis is known.
bool is_spatial(const Node& node) {
  const Shape &x = *node.input(0)->type.shape, &y = *node.output()->type.shape;
  const std::vector<double> scales = scales_of(node);
  if (!scales.empty()) return scales.size() == x.size() && scales[0] == 1 && scales[1] == 1;
  const bool has_scales = node.input(2) && !node.input(3);
  if (has_scales || !same(x[0], y[0]) || !same(x[1], y[1])) return false;
  return std::all_of(y.begin() + 2, y.end(), [](const Dim& d) { return d.as_int().has_value(); });
}

std::string_view torch_mode(const std::string& mode, std::size_t spatial) {
  if (mode == "nearest") return "nearest";
  if (mode == "cubic") return "bicubic";
  return spatial == 1 ? "linear" : spatial == 2 ? "bilinear" : "trilinear";
}

/// Whether PyTorch has the whole of it as one operator.
bool is_upsampling(const Node& node) {
  const auto &x = node.input(0)->type.shape, &y = node.output()->type.shape;
  if (!x || !y || x->size() < 3 || x->size() > 5 || y->size() != x->size()) return false;
  return is_float(node.input(0)->type.elem) && !node.attributes.has("axes") && counts_alike(node) && is_spatial(node);
}

/// Axis by axis, with sizes that may be computed.
void write_by_axes(const NodeOut& n) {
  Ints axes = n.node.attributes.ints_or("axes", {});
  if (axes.empty())
    for (std::int64_t a = 0; a < n.rank(); ++a) axes.push_back(a);
  const Tensor* given = n.has(2) ? ops::constant_of(n.node.input(2)) : nullptr;
  const bool has_sizes = n.has(3);
  std::string scales = "[]", sizes = has_sizes ? n.ints(3) : "[]";
  if (!has_sizes && given) {
    std::vector<std::string> words;
    for (const double scale : given->to_doubles()) words.push_back(text_of(scale));
    scales = listed(words);
    // Sizes by factors are rounded in float, which Python has not.
    Ints known;
    const auto& shape = n.node.output()->type.shape;
    for (const std::int64_t axis : axes)
      if (const auto at = static_cast<std::size_t>(axis < 0 ? axis + n.rank() : axis); shape && at < shape->size())
        if (const auto size = (*shape)[at].as_int()) known.push_back(*size);
    if (known.size() == axes.size()) sizes = text_of(known);
  } else if (!has_sizes) {
    scales = n.helped("floats", {n.s.name(n.node.input(2))});
  }
  n.set(n.helped("resize",
                 {n.in(0), text_of(axes), sizes, scales, quoted(n.word("mode", "nearest")),
                  quoted(n.word("coordinate_transformation_mode", "half_pixel")),
                  quoted(n.word("nearest_mode", "round_prefer_floor")), n.real("cubic_coeff_a", -0.75F),
                  std::string(text_of_flag(n.flag("exclude_outside")))}));
}

}  // namespace

Refused refuse_resize(const Node& node) {
  const std::string mode = node.attributes.string_or("mode", "nearest");
  const bool is_whole = !is_float(node.input(0)->type.elem);
  if (node.attributes.int_or("antialias", 0)) return Refusal{Kind::attribute_value, "antialias"};
  if (node.attributes.string_or("keep_aspect_ratio_policy", "stretch") != "stretch")
    return Refusal{Kind::attribute_value, "keep_aspect_ratio_policy"};
  if (node.attributes.string_or("coordinate_transformation_mode", "half_pixel") == "tf_crop_and_resize")
    return Refusal{Kind::attribute_value, "tf_crop_and_resize"};
  if (mode != "nearest" && is_whole) return Refusal{Kind::element_type, "PyTorch has it for real numbers"};
  if (!node.attributes.has("axes")) return refuse::unranked(node);
  return {};
}

void write_resize(const NodeOut& n) {
  if (!is_upsampling(n.node)) return write_by_axes(n);
  const std::size_t spatial = n.node.input(0)->type.shape->size() - 2;
  const std::vector<double> scales = scales_of(n.node);
  const std::string mode(torch_mode(n.word("mode", "nearest"), spatial));
  const bool aligns = n.word("coordinate_transformation_mode", "half_pixel") == "align_corners";
  std::vector<std::string> sizes, factors;
  for (std::size_t i = 0; i < spatial; ++i) {
    const auto known = (*n.node.output()->type.shape)[i + 2].as_int();
    const std::string factor = scales.empty() ? "None" : text_of(scales[i + 2]);
    sizes.push_back(known ? text_of(*known) : fmt::format("int({}.size({}) * {})", n.in(0), i + 2, factor));
    factors.push_back(factor);
  }
  const std::string corners(text_of_flag(aligns));
  if (n.s.is_source()) {
    std::string call = "F.interpolate(" + n.in(0) + ", ";
    call += scales.empty() ? "size=" + listed(sizes) : "scale_factor=" + listed(factors);
    call += ", mode=" + quoted(mode) + (mode == "nearest" ? ")" : ", align_corners=" + corners + ")");
    return n.set(call);
  }
  std::vector<std::string> args{n.in(0), listed(sizes)};
  if (mode != "nearest") args.push_back(corners);
  args.insert(args.end(), factors.begin(), factors.end());
  n.set(NodeOut::call(fmt::format("torch.upsample_{}{}d", mode, spatial), args));
}

}  // namespace ingot::backends::torch
