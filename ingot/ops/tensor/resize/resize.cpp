// Resize: an image in another size, by scales or by sizes; what is between pixels is interpolated.
#include <algorithm>
#include <numeric>

#include "ingot/ops/gradient.h"
#include "ingot/ops/infer.h"
#include "ingot/ops/nn/sizes.h"
#include "ingot/ops/short_list.h"
#include "ingot/ops/tensor/resize/body.h"
#include "ingot/ops/tensor/resize/kernel.h"
#include "ingot/ops/tensor/resize/shape.h"
#include "ingot/ops/tensor/resize/steps.h"

namespace ingot::ops {
namespace {

void check_count(const InferContext& c, std::size_t i, std::size_t wanted) {
  const auto count = c.dim(i, 0).as_int();
  if (count && *count != static_cast<std::int64_t>(wanted))
    c.fail("there are " + std::to_string(*count) + " scales or sizes for " + std::to_string(wanted) + " axes");
}

void infer(InferContext& c) {
  require_short_list(c, 1, 2 * kMostDims);
  require_short_list(c, 2);
  require_short_list(c, 3);
  const Shape* x = c.shape(0);
  const bool has_scales = is_given(c.node(), 2), has_sizes = is_given(c.node(), 3);
  if (has_scales && has_sizes && c.dim(2, 0).is_known()) c.fail("both scales and sizes are given");
  if (!x) {
    // Without axes there is a scale or size for each dimension.
    const auto count = c.dim(has_sizes ? 3 : 2, 0).as_int();
    if (!c.node().attributes.has("axes") && (has_sizes || has_scales) && count && *count > 0) c.out_rank(0, *count);
    return;
  }
  const auto rank = static_cast<std::int64_t>(x->size());
  std::vector<std::size_t> axes;
  if (const auto* given = c.attr_ints("axes")) {
    for (const std::int64_t a : *given) {
      axes.push_back(static_cast<std::size_t>(c.axis(a, rank, "axes")));
      c.require(std::ranges::count(axes, axes.back()) == 1, "axes name a dimension twice");
    }
  } else {
    axes.resize(x->size());
    std::iota(axes.begin(), axes.end(), 0);
  }
  Shape y = *x;
  if (has_sizes) {
    check_count(c, 3, axes.size());
    const auto sizes = c.ints(3);
    const std::string policy = c.attr("keep_aspect_ratio_policy", "stretch");
    for (std::size_t k = 0; k < axes.size(); ++k) {
      Dim& d = y[axes[k]];
      d = sizes && k < sizes->size() && policy == "stretch" ? (*sizes)[k] : Dim();
      if (d.is_known() && d.value() < 0) c.fail("a size is " + d.str());
    }
    if (const auto wanted = c.const_ints(3); wanted && policy != "stretch" && wanted->size() == axes.size()) {
      std::vector<std::int64_t> dims;
      for (const std::size_t a : axes)
        if ((*x)[a].is_known()) dims.push_back((*x)[a].value());
      const auto scale = common_scale(*wanted, dims, policy == "not_larger");
      if (scale && dims.size() == axes.size())
        for (std::size_t k = 0; k < axes.size(); ++k) y[axes[k]] = rounded_size(dims[k], *scale);
    }
  } else {
    check_count(c, 2, axes.size());
    const auto scales = c.const_doubles(2);
    const auto whole = c.ints(2);  // computed from shapes, as whole numbers
    for (std::size_t k = 0; k < axes.size(); ++k) {
      const bool known = scales && k < scales->size();
      if (known && !((*scales)[k] > 0)) c.fail("a scale is not positive");
      Dim& d = y[axes[k]];
      if (known)
        d = scaled_size(d, (*scales)[k]);
      else
        d = whole && k < whole->size() ? d * (*whole)[k] : Dim();
    }
  }
  c.out_shape(0, std::move(y));
  if (!(has_sizes ? c.ints(3).has_value() : c.const_doubles(2) || c.ints(2))) c.name_open_dims(0);
}

constexpr Step kSteps[] = {
    {.since = 11, .up = resize_10_to_11, .down = resize_11_to_10},
    {.since = 13, .up = resize_11_to_13, .down = resize_13_to_11},
    {.since = 18, .down = resize_18_to_13},
    {.since = 19, .down = resize_19_to_18},
};

/// Resizing is linear and works along each axis on its own: what it makes of the unit vectors along an axis is the
/// matrix of that axis, and the gradient multiplies by it the other way round.
Value* matrix_along(GradContext& c, std::int64_t axis, std::int64_t k, std::int64_t count) {
  GraphBuilder& g = c.g;
  Value* size = size_along(g, c.x(), axis);
  Value* square =
      g.op("ConstantOfShape", {g.concat({size, size}, 0)}, {{"value", Tensor::scalar(0, c.elem()).reshaped({1})}});
  Value* units = g.op("EyeLike", {square});
  Value *roi = nullptr, *scale = nullptr, *wanted = nullptr;
  if (c.attr("coordinate_transformation_mode", "half_pixel") == "tf_crop_and_resize")
    roi = g.op("Gather", {c.x(1), g.ints({k, k + count})});
  if (is_given(c.node, 3))
    wanted = size_along(g, c.dy(), axis);
  else
    scale = g.op("Gather", {c.x(2), g.ints({k})});
  Attrs attrs = c.same_attrs(
      {"antialias", "coordinate_transformation_mode", "cubic_coeff_a", "exclude_outside", "mode", "nearest_mode"});
  attrs.emplace_back("axes", std::vector<std::int64_t>{1});
  return g.op("Resize", {units, roi, scale, wanted}, attrs);
}

Values gradient_resize(GradContext& c) {
  GraphBuilder& g = c.g;
  const std::int64_t rank = c.rank();
  std::vector<std::int64_t> axes(static_cast<std::size_t>(rank));
  std::iota(axes.begin(), axes.end(), 0);
  axes = c.node.attributes.ints_or("axes", axes);
  for (std::int64_t& axis : axes) axis = c.axis(axis);
  const bool crops = c.attr("coordinate_transformation_mode", "half_pixel") == "tf_crop_and_resize";
  const Tensor* scales = c.constant(2);
  const auto count = static_cast<std::int64_t>(axes.size());
  // One scale for all axes is not what their sizes say, which are rounded.
  const bool keeps_ratio = is_given(c.node, 3) && c.attr("keep_aspect_ratio_policy", "stretch") != "stretch";
  Values matrices;
  if (keeps_ratio) {
    if (crops) c.fail("the gradient of a crop that keeps the aspect ratio is not known; state the sizes");
    DecomposeContext body(g, c.node);
    matrices = resize_matrices(body, axes);
  }
  Value* dx = c.dy();
  for (std::int64_t k = 0; k < count; ++k) {
    const std::int64_t axis = axes[static_cast<std::size_t>(k)];
    const Dim before = stated_size(c.x(), axis), after = stated_size(c.y(), axis);
    const bool has_scale = scales && k < scales->size();
    const bool stays = keeps_ratio ? false
                       : has_scale ? scales->to_doubles()[static_cast<std::size_t>(k)] == 1
                                   : same(before, after);
    if (stays && !crops) continue;
    Value* forward = keeps_ratio ? matrices[static_cast<std::size_t>(k)] : matrix_along(c, axis, k, count);
    Value* matrix = g.transpose(forward, {1, 0});
    std::vector<std::int64_t> perm(static_cast<std::size_t>(rank));
    std::iota(perm.begin(), perm.end(), 0);
    std::swap(perm[static_cast<std::size_t>(axis)], perm.back());
    const bool is_last = axis == rank - 1;
    Value* turned = is_last ? dx : g.transpose(dx, perm);
    Value* spread = g.op("MatMul", {turned, matrix});
    dx = is_last ? spread : g.transpose(spread, perm);
  }
  return {dx};
}

}  // namespace

constinit const OpDef defs::Resize = {
    .name = "Resize",
    .infer = infer,
    .steps = kSteps,
    .decompose = decompose_resize,
    .kernel = run_resize,
    .gradient = gradient_resize,
};

}  // namespace ingot::ops
