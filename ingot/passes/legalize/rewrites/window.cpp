// Pools and convolutions over more axes, or in more groups, than a target has.
#include "ingot/ops/nn/window.h"

#include <algorithm>
#include <limits>

#include "ingot/ops/infer.h"
#include "ingot/passes/legalize/rewrites.h"

namespace ingot::passes::legalize {
namespace {

using Ints = std::vector<std::int64_t>;

Values global_pool(Rewriting& r, ops::Name reduce) {
  Ints axes;
  for (std::size_t i = 2; i < r.rank(); ++i) axes.push_back(static_cast<std::int64_t>(i));
  if (axes.empty()) return {};
  Value* over = r.g.ints(axes);
  return {r.g.op(reduce, {r.in(), over}, {{"keepdims", 1}})};
}

/// A list attribute with `per_axis` entries for each spatial axis, without those of some axes.
Ints part_of(const Node& node, std::string_view name, std::int64_t fallback, const std::vector<std::size_t>& axes,
             std::size_t spatial, std::size_t per_axis) {
  const Ints all = node.attributes.ints_or(name, Ints(spatial * per_axis, fallback));
  Ints part;
  for (std::size_t k = 0; k < per_axis; ++k)
    for (const std::size_t i : axes) part.push_back(all[k * spatial + i]);
  return part;
}

Value* pool_along(Rewriting& r, Value* x, const std::vector<std::size_t>& axes) {
  constexpr std::size_t kSpatial = 3;
  Attrs attrs{{"kernel_shape", part_of(r.node, "kernel_shape", 1, axes, kSpatial, 1)},
              {"strides", part_of(r.node, "strides", 1, axes, kSpatial, 1)},
              {"dilations", part_of(r.node, "dilations", 1, axes, kSpatial, 1)},
              {"ceil_mode", r.attr("ceil_mode", 0)}};
  const std::string auto_pad = r.node.attributes.string_or("auto_pad", "NOTSET");
  if (auto_pad == "NOTSET")
    attrs.emplace_back("pads", part_of(r.node, "pads", 0, axes, kSpatial, 2));
  else
    attrs.emplace_back("auto_pad", auto_pad);
  if (r.node.is("MaxPool")) return r.g.op("MaxPool", {x}, attrs);
  attrs.emplace_back("count_include_pad", r.attr("count_include_pad", 0));
  return r.g.op("AveragePool", {x}, attrs);
}

/// Three spatial axes: the last two first, then the one before them. A window's maximum is the maximum of maxima, and
/// its mean the mean of means, since how many elements count is a product too.
Values pool_in_two(Rewriting& r) {
  const auto dims = r.dims(), out = r.out_dims();
  if (!dims || !out || dims->size() != 5 || r.node.output_count() > 1) return {};
  GraphBuilder& g = r.g;
  const Ints &in = *dims, &y = *out;
  Value* planes = g.reshape(r.in(), {in[0], in[1] * in[2], in[3], in[4]});
  Value* flat = pool_along(r, planes, {1, 2});
  Value* columns = g.reshape(flat, {in[0], in[1], in[2], y[3] * y[4]});
  Attrs attrs;
  Value* deep = g.reshape(columns, {in[0], in[1], in[2], y[3] * y[4]});
  // Along the other axis of these planes nothing moves.
  const auto with_one = [&](std::string_view name, std::int64_t fallback, std::int64_t one) {
    Ints list = part_of(r.node, name, fallback, {0}, 3, 1);
    list.push_back(one);
    return list;
  };
  attrs.emplace_back("kernel_shape", with_one("kernel_shape", 1, 1));
  attrs.emplace_back("strides", with_one("strides", 1, 1));
  attrs.emplace_back("dilations", with_one("dilations", 1, 1));
  attrs.emplace_back("ceil_mode", r.attr("ceil_mode", 0));
  const std::string auto_pad = r.node.attributes.string_or("auto_pad", "NOTSET");
  const Ints pads = part_of(r.node, "pads", 0, {0}, 3, 2);
  if (auto_pad == "NOTSET")
    attrs.emplace_back("pads", Ints{pads[0], 0, pads[1], 0});
  else
    attrs.emplace_back("auto_pad", auto_pad);
  Value* made = nullptr;
  if (r.node.is("MaxPool")) {
    made = g.op("MaxPool", {deep}, attrs);
  } else {
    attrs.emplace_back("count_include_pad", r.attr("count_include_pad", 0));
    made = g.op("AveragePool", {deep}, attrs);
  }
  return {g.reshape(made, y)};
}

/// Sizes of which the first may be open, and is -1 then.
std::optional<Ints> dims_of_planes(const Value* v) {
  if (!v || !v->type.shape) return std::nullopt;
  Ints dims;
  for (const Dim& d : *v->type.shape) {
    if (!d.is_known() && !dims.empty()) return std::nullopt;
    dims.push_back(d.as_int().value_or(-1));
  }
  return dims;
}

/// 0, `step`, 2 `step`, ... as a column: one for each plane of `x`.
Value* starts_of_planes(GraphBuilder& g, Value* x, const Ints& dims, std::int64_t step) {
  if (dims[0] >= 0) {
    Ints planes;
    for (std::int64_t p = 0; p < dims[0] * dims[1]; ++p) planes.push_back(p * step);
    return g.constant(Tensor::of<std::int64_t>({dims[0] * dims[1], 1}, planes));
  }
  Value* batch = g.squeeze(g.op("Slice", {g.shape(x), g.ints({0}), g.ints({1}), g.ints({0})}), {0});
  Value* all = g.op("Range", {g.index(0), g.mul(batch, g.index(dims[1])), g.index(1)});
  return g.unsqueeze(g.mul(all, g.index(step)), {1});
}

/// All elements of each window side by side, and for each where it stands.
Values pool_with_places(Rewriting& r) {
  const auto dims = dims_of_planes(r.in()), out = dims_of_planes(r.node.output(0));
  if (!dims || !out || dims->size() < 3 || r.elem() != DType::f32) return {};
  const std::size_t spatial = dims->size() - 2;
  const ops::Window window = ops::Window::read(r.node.attributes, spatial, nullptr);
  GraphBuilder& g = r.g;
  Ints before(spatial), after(spatial), axes(spatial), kernel(spatial), plane(dims->begin() + 2, dims->end());
  std::int64_t taps = 1, windows = 1, plane_size = 1;
  for (std::size_t i = 0; i < spatial; ++i) {
    before[i] = window.padding(i, plane[i]).first.value();
    kernel[i] = window.kernel[i].value();
    after[i] = std::max<std::int64_t>(
        0, ((*out)[i + 2] - 1) * window.strides[i] + (kernel[i] - 1) * window.dilations[i] + 1 - plane[i] - before[i]);
    axes[i] = static_cast<std::int64_t>(i) + 2;
    taps *= kernel[i];
    windows *= (*out)[i + 2];
    plane_size *= plane[i];
  }
  // How far apart neighbours along an axis are counted: the last axis fastest, or the first.
  Ints plane_strides(spatial, 1);
  if (r.attr("storage_order", 0))
    for (std::size_t i = 1; i < spatial; ++i) plane_strides[i] = plane_strides[i - 1] * plane[i - 1];
  else
    for (std::size_t i = spatial - 1; i-- > 0;) plane_strides[i] = plane_strides[i + 1] * plane[i + 1];
  constexpr std::int64_t kMostTaps = 64;
  if (taps > kMostTaps) return {};
  Ints pads = before;
  pads.insert(pads.end(), after.begin(), after.end());
  Value *amounts = g.ints(pads), *over = g.ints(axes), *steps = g.ints(window.strides);
  Value* lowest = g.scalar(std::numeric_limits<float>::lowest(), DType::f32);
  Value* x = g.op("Pad", {r.in(), amounts, lowest, over});
  Values shifted;
  Ints places(static_cast<std::size_t>(taps * windows));
  for (std::int64_t tap = 0; tap < taps; ++tap) {
    Ints from(spatial), to(spatial);
    std::int64_t rest = tap;
    for (std::size_t i = spatial; i-- > 0;) {
      from[i] = rest % kernel[i] * window.dilations[i];
      to[i] = from[i] + ((*out)[i + 2] - 1) * window.strides[i] + 1;
      rest /= kernel[i];
    }
    Value *first = g.ints(from), *last = g.ints(to);
    shifted.push_back(g.unsqueeze(g.op("Slice", {x, first, last, over, steps}), {0}));
    for (std::int64_t w = 0; w < windows; ++w) {
      std::int64_t left = w, place = 0;
      for (std::size_t i = spatial; i-- > 0;) {
        place += (left % (*out)[i + 2] * window.strides[i] + from[i] - before[i]) * plane_strides[i];
        left /= (*out)[i + 2];
      }
      places[static_cast<std::size_t>(tap * windows + w)] = place;
    }
  }
  const std::int64_t planes = (*dims)[0] < 0 ? -1 : (*dims)[0] * (*dims)[1];
  Value* all = g.reshape(g.concat(shifted, 0), {taps, planes, windows});
  Value* best = g.op("ReduceMax", {all, g.ints({0})}, {{"keepdims", 0}});
  Value* which = g.op("ArgMax", {all}, {{"axis", 0}, {"keepdims", 0}});  // [channels, windows]
  // Which tap, as a place in the plane, and then among all planes.
  Value* table = g.constant(Tensor::of<std::int64_t>({taps * windows}, places));
  Ints numbers;
  for (std::int64_t w = 0; w < windows; ++w) numbers.push_back(w);
  Value* row = g.mul(which, static_cast<double>(windows));
  Value* entry = g.add(row, g.ints(numbers));
  Value* place = g.op("Gather", {table, entry}, {{"axis", 0}});
  Value* starts = starts_of_planes(g, r.in(), *dims, plane_size);
  Value* where = g.reshape(g.add(place, starts), *out);
  return {g.reshape(best, *out), where};
}

/// Group by group.
Values conv_by_groups(Rewriting& r) {
  const std::int64_t group = r.attr("group", 1);
  const auto w = r.dims(1);
  if (group <= 1 || !w || r.rank() != 5 || (*w)[0] % group) return {};
  GraphBuilder& g = r.g;
  const auto count = static_cast<std::size_t>(group);
  const auto parts = [&](Value* x, std::int64_t axis) {
    return g.op("Split", {x}, {{"axis", axis}, {"num_outputs", group}}, count);
  };
  const Values xs = parts(r.in(0), 1), ws = parts(r.in(1), 0);
  const Values bs = r.in(2) ? parts(r.in(2), 0) : Values(count);
  Values ys;
  for (std::size_t i = 0; i < count; ++i) {
    Values inputs{xs[i], ws[i]};
    if (bs[i]) inputs.push_back(bs[i]);
    Attrs attrs{{"strides", r.node.attributes.ints_or("strides", {1, 1, 1})},
                {"dilations", r.node.attributes.ints_or("dilations", {1, 1, 1})}};
    const std::string auto_pad = r.node.attributes.string_or("auto_pad", "NOTSET");
    if (auto_pad == "NOTSET")
      attrs.emplace_back("pads", r.node.attributes.ints_or("pads", Ints(6, 0)));
    else
      attrs.emplace_back("auto_pad", auto_pad);
    ys.push_back(g.op("Conv", inputs, attrs));
  }
  return {g.concat(ys, 1)};
}

bool is_dilated(const Node& node) {
  return std::ranges::any_of(node.attributes.ints_or("dilations", {}), [](std::int64_t d) { return d != 1; });
}

}  // namespace

Values rewrite_global_average_pool(Rewriting& r) { return global_pool(r, "ReduceMean"); }
Values rewrite_global_max_pool(Rewriting& r) { return global_pool(r, "ReduceMax"); }
Values rewrite_conv_in_groups(Rewriting& r) { return conv_by_groups(r); }
Values rewrite_max_pool_with_places(Rewriting& r) { return r.node.output(1) ? pool_with_places(r) : Values{}; }

Values rewrite_pool_in_two(Rewriting& r) { return r.node.output(1) || is_dilated(r.node) ? Values{} : pool_in_two(r); }

}  // namespace ingot::passes::legalize
