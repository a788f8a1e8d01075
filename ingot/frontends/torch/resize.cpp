// Padding, and images in other sizes.
#include <algorithm>
#include <tuple>

#include "ingot/frontends/torch/call.h"

namespace ingot::frontends::torch {
namespace {

/// PyTorch names the last axis first, and both of its ends together.
Value* pads_of(const Call& c, std::size_t i, std::int64_t rank, std::size_t& pairs) {
  const ListRef* list = c.arg(i).get<ListRef>();
  if (!list) refuse("the padding is no list");
  const auto& items = (*list)->items;
  pairs = items.size() / 2;
  const auto lead = static_cast<std::size_t>(rank) - std::min(pairs, static_cast<std::size_t>(rank));
  std::vector<Item> ends;
  for (std::size_t end = 0; end < 2; ++end) {
    for (std::size_t a = 0; a < lead; ++a) ends.emplace_back(0);
    for (std::size_t p = pairs; p-- > 0;) ends.push_back(items[2 * p + end]);
  }
  return Call{c.t, c.row, {Item::list(std::move(ends))}}.index_vector(0);
}

Value* padded(const Call& c, const std::string& mode, double value) {
  GraphBuilder& g = c.g();
  Value* x = c.tensor(0);
  const ListRef* list = c.arg(1).get<ListRef>();
  if (mode != "constant" && list) c.expect_rank(x, (*list)->items.size() / 2 + 2);
  std::size_t pairs = 0;
  Value* pads = pads_of(c, 1, c.rank(x), pairs);
  if (mode == "constant") return g.op("Pad", {x, pads, g.scalar(value, x->type.elem)});
  return g.op("Pad", {x, pads}, {{"mode", mode}});
}

std::size_t spatial_axes(const Call& c) {
  for (const char digit : c.row.name)
    if (digit >= '1' && digit <= '3') return static_cast<std::size_t>(digit - '0');
  return 2;
}

/// One for each axis; they come as one list, or one by one.
std::vector<double> factors_of(const Call& c, std::size_t scales) {
  if (c.arg(scales).is<ListRef>()) return c.reals(scales);
  std::vector<double> factors;
  for (std::size_t i = scales; i < scales + spatial_axes(c) && c.has(i); ++i) factors.push_back(c.real(i));
  return factors;
}

/// Sizes by factors, rounded down.
Value* scaled_sizes(GraphBuilder& g, Value* x, const std::vector<double>& factors) {
  Value* own = g.cast(g.op("Slice", {g.shape(x), g.ints({2}), g.ints({INT64_MAX})}), DType::f64);
  const auto count = static_cast<std::int64_t>(factors.size());
  return g.cast(g.op("Floor", {g.mul(own, g.constant(Tensor::of<double>({count}, factors)))}), DType::i64);
}

/// The result's size is given, or factors; where both are, the factors decide the places and the size the rest.
Item resized(const Call& c, const char* mode, std::string_view places, std::size_t scales,
             bool is_antialiased = false) {
  GraphBuilder& g = c.g();
  Value* x = c.tensor(0);
  const std::size_t n = spatial_axes(c);
  c.expect_rank(x, n + 2);
  Attrs attrs{{"mode", mode}, {"coordinate_transformation_mode", std::string(places)}};
  if (std::string_view(mode) == "nearest")
    attrs.emplace_back("nearest_mode", places == "asymmetric" ? "floor" : "round_prefer_ceil");
  if (std::string_view(mode) == "cubic") attrs.emplace_back("cubic_coeff_a", is_antialiased ? -0.5 : -0.75);
  if (is_antialiased) attrs.emplace_back("antialias", 1);
  if (is_antialiased) attrs.emplace_back("exclude_outside", 1);
  const std::vector<double> factors = factors_of(c, scales);
  if (factors.size() != n && !c.has(1)) refuse("neither a size nor factors are given");
  if (factors.size() == n && places != "align_corners") {
    std::vector<float> all{1, 1};
    for (const double factor : factors) all.push_back(static_cast<float>(factor));
    return g.op("Resize", {x, nullptr, g.constant(Tensor::of<float>({static_cast<std::int64_t>(n) + 2}, all))}, attrs);
  }
  // Aligned corners lie where whole sizes say: factors only tell these.
  Value* wanted = c.has(1) ? c.index_vector(1) : scaled_sizes(g, x, factors);
  Value* sizes = g.concat({g.op("Slice", {g.shape(x), g.ints({0}), g.ints({2})}), wanted}, 0);
  return g.op("Resize", {x, nullptr, nullptr, sizes}, attrs);
}

Item smoothly(const Call& c, const char* mode, bool is_antialiased = false) {
  return resized(c, mode, c.flag(2) ? "align_corners" : "half_pixel", 3, is_antialiased);
}

/// ONNX moves a place outside to the border and interpolates there, PyTorch moves each neighbour of the place: with a
/// border that is wider than the neighbourhood both mean the same.
std::pair<Value*, Value*> with_wide_border(const Call& c, Value* x, Value* grid) {
  constexpr std::int64_t kBorder = 3;
  GraphBuilder& g = c.g();
  c.expect_rank(x, 4);
  Value* wide = g.op("Pad", {x, g.ints({0, 0, kBorder, kBorder, 0, 0, kBorder, kBorder})}, {{"mode", "edge"}});
  // Coordinates name the width first; they span the centres of the outer pixels, or their outer edges.
  Value* size = g.cast(g.op("Gather", {g.shape(x), g.ints({3, 2})}), grid->type.elem);
  if (c.flag(4)) size = g.sub(size, 1);
  return {wide, g.mul(grid, g.div(size, g.add(size, 2 * kBorder)))};
}

}  // namespace

Item constant_pad_nd(const Call& c) {
  if (!c.arg(2).is<Scalar>()) return padded(c, "constant", c.has(2) ? c.real(2) : 0);
  Value* x = c.tensor(0);
  std::size_t pairs = 0;
  return c.g().op("Pad", {x, pads_of(c, 1, c.rank(x), pairs), c.g().cast(c.t.value_of(c.arg(2)), x->type.elem)});
}
Item reflection_pad(const Call& c) { return padded(c, "reflect", 0); }
Item replication_pad(const Call& c) { return padded(c, "edge", 0); }
Item pad(const Call& c) {
  const std::string mode = c.has(2) ? c.text(2) : "constant";
  if (mode == "constant") return padded(c, mode, c.has(3) ? c.real(3) : 0);
  return padded(c, mode == "reflect" ? "reflect" : mode == "replicate" ? "edge" : "wrap", 0);
}
Item upsample_nearest(const Call& c) { return resized(c, "nearest", "asymmetric", 2); }
Item upsample_nearest_exact(const Call& c) { return resized(c, "nearest", "half_pixel", 2); }
Item upsample_linear(const Call& c) { return smoothly(c, "linear"); }
Item upsample_cubic(const Call& c) { return smoothly(c, "cubic"); }
Item upsample_linear_aa(const Call& c) { return smoothly(c, "linear", true); }
Item upsample_cubic_aa(const Call& c) { return smoothly(c, "cubic", true); }
/// f(input, size, scale_factor, mode, align_corners), of PyTorch before 1.5
Item interpolate(const Call& c) {
  const std::string mode = c.text(3);
  const std::int64_t axes = c.rank(c.tensor(0)) - 2;
  const auto spread = [&](std::size_t i) {
    if (!c.has(i) || c.arg(i).is<ListRef>()) return c.arg(i);
    return Item::list(std::vector<Item>(static_cast<std::size_t>(axes), c.arg(i)));
  };
  if (mode == "nearest")
    return c.t.call(axes == 1   ? "upsample_nearest1d"
                    : axes == 2 ? "upsample_nearest2d"
                                : "upsample_nearest3d",
                    {c.arg(0), spread(1), spread(2)});
  const Item corners = c.has(4) && c.flag(4);
  const char* name = mode == "bicubic"     ? "upsample_bicubic2d"
                     : mode == "bilinear"  ? "upsample_bilinear2d"
                     : mode == "linear"    ? "upsample_linear1d"
                     : mode == "trilinear" ? "upsample_trilinear3d"
                                           : nullptr;
  if (!name) refuse("a size is changed by '" + mode + "'");
  return c.t.call(name, {c.arg(0), spread(1), corners, spread(2)});
}
Item pad_circular(const Call& c) { return padded(c, "wrap", 0); }
Item pad_enum(const Call& c) {
  constexpr const char* kModes[] = {"reflect", "edge", "wrap", "constant"};
  const std::int64_t mode = c.integer(2);
  if (mode < 0 || mode > 3) refuse("an unknown way to pad");
  return padded(c, kModes[mode], c.has(3) ? c.real(3) : 0);
}
Item grid_sampler(const Call& c) {
  constexpr const char* kModes[] = {"linear", "nearest", "cubic"};
  constexpr const char* kPads[] = {"zeros", "border", "reflection"};
  const auto mode = static_cast<std::size_t>(c.integer(2)), pads = static_cast<std::size_t>(c.integer(3));
  if (mode > 2 || pads > 2) refuse("an unknown way to sample");
  Value* x = c.tensor(0);
  Value* grid = c.tensor(1);
  if (mode == 2 && pads == 1) std::tie(x, grid) = with_wide_border(c, x, grid);
  return c.g().op("GridSample", {x, grid},
                  {{"mode", kModes[mode]}, {"padding_mode", kPads[pads]}, {"align_corners", c.flag(4)}});
}
Item affine_grid(const Call& c) {
  return c.g().op("AffineGrid", {c.tensor(0), c.index_vector(1)}, {{"align_corners", c.flag(2)}});
}
Item col2im(const Call& c) {
  GraphBuilder& g = c.g();
  const Ints pads = c.ints(4, 2);
  return g.op("Col2Im", {c.tensor(0), c.index_vector(1), c.index_vector(2)},
              {{"dilations", c.ints(3, 2)}, {"pads", {pads[0], pads[1], pads[0], pads[1]}}, {"strides", c.ints(5, 2)}});
}
Item im2col(const Call& c) {
  GraphBuilder& g = c.g();
  Value* x = c.tensor(0);
  c.expect_rank(x, 4);
  const Ints kernel = c.ints(1, 2), dilation = c.ints(2, 2), pads = c.ints(3, 2), stride = c.ints(4, 2);
  Value* wide = g.op("Pad", {x, g.ints({0, 0, pads[0], pads[1], 0, 0, pads[0], pads[1]})});
  const auto places = [&](std::int64_t axis) {
    const auto k = static_cast<std::size_t>(axis - 2);
    Value* size = g.op("Gather", {g.shape(wide), g.index(axis)});
    Value* count =
        g.add(g.div(g.sub(size, g.index(dilation[k] * (kernel[k] - 1) + 1)), g.index(stride[k])), g.index(1));
    Value* starts = g.mul(g.op("Range", {g.index(0), count, g.index(1)}), g.index(stride[k]));
    Ints offsets;
    for (std::int64_t i = 0; i < kernel[k]; ++i) offsets.push_back(i * dilation[k]);
    return g.add(g.unsqueeze(g.ints(offsets), {1}), g.unsqueeze(starts, {0}));  // [kernel, count]
  };
  Value* rows = g.op("Gather", {wide, places(2)}, {{"axis", 2}});  // [n, c, kh, oh, w]
  Value* both = g.op("Gather", {rows, places(3)}, {{"axis", 4}});  // [n, c, kh, oh, kw, ow]
  Value* moved = g.transpose(both, {0, 1, 2, 4, 3, 5});
  Value* sizes = g.op("Slice", {g.shape(x), g.ints({0}), g.ints({2})});
  Value* shape = g.concat({g.mul(sizes, g.ints({1, kernel[0] * kernel[1]})), g.ints({-1})}, 0);
  return g.op("Reshape", {moved, shape});
}

}  // namespace ingot::frontends::torch
