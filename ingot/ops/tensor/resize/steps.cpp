// Resize between its versions: 10 was always asymmetric, 13 made inputs optional, 18 added axes, 19 a coordinate mode.
#include "ingot/ops/tensor/resize/steps.h"

#include <algorithm>
#include <cmath>

#include "ingot/ops/tensor/resize/shape.h"

namespace ingot::ops {
namespace {

Value* no_floats(GraphBuilder& g) { return g.constant(Tensor::of<float>({0}, {})); }

bool all_at_least_one(const std::vector<double>& scales) {
  return std::ranges::all_of(scales, [](double s) { return s >= 1; });
}
bool all_at_most_one(const std::vector<double>& scales) {
  return std::ranges::all_of(scales, [](double s) { return s <= 1; });
}

std::optional<std::vector<double>> constant_scales(const StepContext& c, std::size_t i) {
  const Tensor* t = c.constant(i);
  return t && is_float(t->dtype()) ? std::optional(t->to_doubles()) : std::nullopt;
}

bool is_empty_list(const Value* value) {
  const auto dims = value ? static_dims(value->type.shape) : std::nullopt;
  return dims && dims->size() == 1 && dims->front() == 0;
}

std::vector<std::int64_t> axes_from_front(const StepContext& c, std::int64_t rank) {
  std::vector<std::int64_t> axes = *c.node.attributes.get<std::vector<std::int64_t>>("axes");
  for (std::int64_t& a : axes) {
    if (a < -rank || a >= rank) c.cannot("axis " + std::to_string(a) + " is out of range");
    if (a < 0) a += rank;
  }
  return axes;
}

// values[at[i]] = given[i]; at run time where `given` is computed there
template <class T>
Value* spread(StepContext& c, std::vector<T> all, const std::vector<std::int64_t>& at, std::size_t input) {
  const Tensor* given = c.constant(input);
  const auto count = static_cast<std::int64_t>(all.size());
  if (given && given->dtype() == dtype_of<T>) {
    if (given->size() != static_cast<std::int64_t>(at.size()))
      c.cannot("the number of axes is not that of the scales or sizes");
    const auto values = given->to_vector<T>();
    for (std::size_t i = 0; i < at.size(); ++i) all[static_cast<std::size_t>(at[i])] = values[i];
    return c.g.constant(Tensor::of<T>({count}, all));
  }
  return c.g.op("ScatterElements", {c.g.constant(Tensor::of<T>({count}, all)), c.g.ints(at), c.node.input(input)},
                {{"axis", 0}});
}

// One scale for all axes, rounded to sizes, is a resize by scales where both lead to the same sizes.
void drop_aspect_ratio_policy(StepContext& c, std::int64_t rank, const std::vector<std::int64_t>& axes) {
  const std::string policy = c.node.attributes.string_or("keep_aspect_ratio_policy", "stretch");
  if (policy == "stretch" || !c.node.input(3)) return;
  const auto sizes = c.need_ints(3, "sizes that keep the aspect ratio");
  std::vector<std::int64_t> dims;
  for (const std::int64_t a : axes) {
    const Dim& d = (*c.type(0).shape)[static_cast<std::size_t>(a)];
    if (!d.is_known())
      c.cannot("to keep the aspect ratio, the size of the input must be known", "give it with --input-shape");
    dims.push_back(d.value());
  }
  const auto scale = common_scale(sizes, dims, policy == "not_larger");
  std::vector<float> scales(static_cast<std::size_t>(rank), 1);
  for (std::size_t i = 0; scale && i < axes.size(); ++i) {
    scales[static_cast<std::size_t>(axes[i])] = static_cast<float>(*scale);
    if (!same(scaled_size(dims[i], *scale), rounded_size(dims[i], *scale)))
      c.cannot("keep_aspect_ratio_policy exists since opset 18, and the rounded sizes cannot be given as scales");
  }
  if (!scale) c.cannot("the input has an empty dimension");
  c.node.set_input(2, c.g.constant(Tensor::of<float>({rank}, scales)));
  c.node.resize_inputs(3);
}

}  // namespace

// Resize-10 mapped x / scale and took, as the nearest pixel, the one before where it enlarges and the one after where
// it reduces. The axes are independent: reducing first and then enlarging is the same.
void resize_10_to_11(StepContext& c) {
  Value *x = c.node.input(0), *scales = c.node.input(1), *roi = no_floats(c.g);
  const std::string mode = c.node.attributes.string_or("mode", "nearest");
  const auto resize = [&](Value* from, Value* by, const char* nearest_mode) {
    return c.g.op("Resize", {from, roi, by},
                  {{"mode", mode}, {"coordinate_transformation_mode", "asymmetric"}, {"nearest_mode", nearest_mode}});
  };
  const auto known = constant_scales(c, 1);
  if (mode != "nearest" || (known && all_at_least_one(*known))) return c.replace({resize(x, scales, "floor")});
  if (known && all_at_most_one(*known)) return c.replace({resize(x, scales, "ceil")});
  Value* one = c.g.scalar(1, DType::f32);
  Value* reduced = resize(x, c.g.op("Min", {scales, one}), "ceil");
  c.replace({resize(reduced, c.g.op("Max", {scales, one}), "floor")});
}

void resize_11_to_10(StepContext& c) {
  const std::string mode = c.node.attributes.string_or("mode", "nearest");
  const std::string nearest = c.node.attributes.string_or("nearest_mode", "round_prefer_floor");
  if (c.node.attributes.string_or("coordinate_transformation_mode", "half_pixel") != "asymmetric" || mode == "cubic")
    c.cannot("before opset 11 only nearest and linear interpolation with asymmetric coordinates exist");
  if (c.node.input(3)) c.cannot("sizes exist since opset 11");
  if (mode == "nearest") {
    const auto scales = constant_scales(c, 2);
    if (!scales) c.cannot("the scales must be constant, but are computed while running");
    const bool fits = nearest == "floor" ? all_at_least_one(*scales) : nearest == "ceil" && all_at_most_one(*scales);
    if (!fits) c.cannot("nearest_mode '" + nearest + "' exists since opset 11");
  }
  c.replace({c.g.op("Resize", {c.node.input(0), c.node.input(2)}, {{"mode", mode}})});
}

void resize_11_to_13(StepContext& c) {
  if (c.node.input(3)) c.node.set_input(2, nullptr);  // scales had to be there, empty
  for (const std::size_t i : {1u, 2u})
    if (is_empty_list(c.node.input(i))) c.node.set_input(i, nullptr);
  if (c.node.attributes.string_or("coordinate_transformation_mode", "") != "tf_half_pixel_for_nn") return;
  // (x + 0.5) / scale is half_pixel's place plus a half: floor(p + 0.5) rounds, and so on.
  const std::string mode = c.node.attributes.string_or("nearest_mode", "round_prefer_floor");
  if (c.node.attributes.string_or("mode", "nearest") != "nearest" || (mode != "floor" && mode != "round_prefer_floor"))
    c.cannot("coordinates 'tf_half_pixel_for_nn' with nearest_mode '" + mode + "' ended with opset 12");
  c.node.attributes.set({"coordinate_transformation_mode", "half_pixel"});
  c.node.attributes.set({"nearest_mode", mode == "floor" ? "round_prefer_ceil" : "ceil"});
}

void resize_13_to_11(StepContext& c) {
  for (const std::size_t i : {1u, 2u})
    if (!c.node.input(i)) c.node.set_input(i, no_floats(c.g));
}

void resize_18_to_13(StepContext& c) {
  const bool has_axes = c.node.attributes.get<std::vector<std::int64_t>>("axes") != nullptr;
  const bool keeps_ratio = c.node.attributes.string_or("keep_aspect_ratio_policy", "stretch") != "stretch";
  if (has_axes || (keeps_ratio && c.node.input(3))) {
    const std::int64_t rank = c.need_rank(0);
    std::vector<std::int64_t> axes(static_cast<std::size_t>(rank));
    for (std::size_t i = 0; i < axes.size(); ++i) axes[i] = static_cast<std::int64_t>(i);
    if (has_axes) axes = axes_from_front(c, rank);
    const bool had_sizes = c.node.input(3) != nullptr;
    drop_aspect_ratio_policy(c, rank, axes);
    if (has_axes) {
      const auto size = static_cast<std::size_t>(rank);
      if (c.node.input(3)) {
        const auto dims = static_dims(c.type(0).shape);
        c.node.set_input(3, dims
                                ? spread<std::int64_t>(c, *dims, axes, 3)
                                : c.g.op("ScatterElements",
                                         {c.g.shape(c.node.input(0)), c.g.ints(axes), c.node.input(3)}, {{"axis", 0}}));
      } else if (!had_sizes && c.node.input(2)) {
        c.node.set_input(2, spread<float>(c, std::vector<float>(size, 1), axes, 2));
      }
      if (c.node.attributes.string_or("coordinate_transformation_mode", "half_pixel") != "tf_crop_and_resize") {
        c.node.set_input(1, nullptr);
      } else if (c.node.input(1)) {
        if (c.type(1).elem != DType::f32) c.cannot("a region of interest on some axes must be of type float");
        std::vector<float> whole(2 * size, 0);
        std::fill(whole.begin() + static_cast<std::ptrdiff_t>(size), whole.end(), 1.0f);
        const std::size_t count = axes.size();
        for (std::size_t i = 0; i < count; ++i) axes.push_back(axes[i] + rank);
        c.node.set_input(1, spread<float>(c, whole, axes, 1));
      }
    }
  }
  c.node.attributes.erase("axes");
  c.node.attributes.erase("keep_aspect_ratio_policy");
}

// half_pixel_symmetric differs from half_pixel only where size * scale is not a whole number.
void resize_19_to_18(StepContext& c) {
  if (c.node.attributes.string_or("coordinate_transformation_mode", "half_pixel") != "half_pixel_symmetric") return;
  bool is_whole = c.node.input(3) && c.node.attributes.string_or("keep_aspect_ratio_policy", "stretch") == "stretch";
  const auto scales = constant_scales(c, 2);
  const auto rank = c.rank(0);
  if (!is_whole && !c.node.input(3) && scales && rank && !c.node.attributes.has("axes")) {
    is_whole = scales->size() == static_cast<std::size_t>(*rank);
    for (std::size_t i = 0; is_whole && i < scales->size(); ++i) {
      const auto d = (*c.type(0).shape)[i].as_int();
      const double scale = (*scales)[i];
      const double size = d ? static_cast<double>(*d) * scale : scale;
      is_whole = size == std::floor(size);
    }
  }
  if (!is_whole)
    c.cannot("coordinate_transformation_mode 'half_pixel_symmetric' exists since opset 19", "use --opset 19 or newer");
  c.node.attributes.set({"coordinate_transformation_mode", "half_pixel"});
}

}  // namespace ingot::ops
