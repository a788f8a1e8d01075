// Resize in simpler operators: along each axis the neighbours of each place, gathered, weighted and added up.
#include "ingot/ops/tensor/resize/body.h"

#include <numeric>

#include "ingot/ops/nn/sizes.h"
#include "ingot/ops/tensor/resize/shape.h"

namespace ingot::ops {
namespace {

constexpr DType kPrecise = DType::f64;

/// One axis to be resized, all as vectors of one element.
struct Extent {
  Value *from, *to;  // sizes, int64
  Value* scale;      // double
};

class Body {
 public:
  explicit Body(DecomposeContext& c)
      : c_(c),
        g_(c.g),
        mode_(c.attr("mode", "nearest")),
        coordinates_(c.attr("coordinate_transformation_mode", "half_pixel")),
        is_antialiased_(c.attr("antialias", std::int64_t{0}) != 0),
        excludes_outside_(c.attr("exclude_outside", std::int64_t{0}) != 0) {}

  Value* resized(Value* x, std::int64_t axis, std::int64_t rank, const Extent& e) {
    Value* place = places(e);
    if (mode_ == "nearest") return g_.op("Gather", {x, nearest(place, e)}, {{"axis", axis}});
    // Where pixels get fewer, an antialiasing filter is as much wider.
    Value* stretch = is_antialiased_ ? g_.op("Min", {e.scale, number(1)}) : g_.reshape(number(1), {1});
    Value* half = g_.op("Ceil", {g_.div(number(mode_ == "cubic" ? 2 : 1), stretch)});
    Value* above = g_.op("Ceil", {place});
    Value* ratio = g_.sub(place, g_.sub(above, 1));
    Value* taps = offsets(half);  // [taps]; places are [to, 1]
    Value* distance = g_.mul(g_.sub(taps, g_.unsqueeze(ratio, {1})), stretch);
    Value* beside = g_.sub(taps, 1);
    Value* at = g_.add(g_.unsqueeze(above, {1}), beside);
    Value* last = g_.sub(g_.cast(e.from, kPrecise), 1);
    Value* weights = mode_ == "cubic" ? cubic(distance) : linear(distance);
    if (excludes_outside_) {
      Value* is_after = g_.op("GreaterOrEqual", {at, number(0)});
      Value* is_before = g_.op("LessOrEqual", {at, last});
      Value* is_inside = g_.op("And", {is_after, is_before});
      weights = g_.where(is_inside, weights, number(0));
    }
    if (is_antialiased_ || excludes_outside_) weights = g_.div(weights, g_.reduce_sum(weights, {1}));
    Value* neighbours = g_.op("Gather", {x, clamped(at, last)}, {{"axis", axis}});
    std::vector<std::int64_t> inner(static_cast<std::size_t>(rank - 1 - axis));
    std::iota(inner.begin(), inner.end(), 2);
    if (!inner.empty()) weights = g_.unsqueeze(weights, inner);
    // What has no weight adds nothing, not even when it is infinite.
    Value* is_nothing = g_.op("Equal", {weights, number(0)});
    Value* products = g_.mul(neighbours, weights);
    Value* shares = g_.where(is_nothing, number(0), products);
    return g_.reduce_sum(shares, {axis + 1}, false);
  }

 private:
  Value* number(double v) { return g_.scalar(v, kPrecise); }

  /// Where the positions of the result lie in the source.
  Value* places(const Extent& e) {
    Value *zero = g_.index(0), *one = g_.index(1);
    Value* x = g_.cast(g_.op("Range", {zero, g_.squeeze(e.to, {0}), one}), kPrecise);
    Value* size = g_.cast(e.from, kPrecise);
    Value* whole = g_.mul(e.scale, size);  // not yet rounded to pixels
    if (coordinates_ == "asymmetric") return g_.div(x, e.scale);
    if (coordinates_ == "align_corners") {
      Value* length = g_.mul(x, g_.sub(size, 1));
      Value* place = g_.div(length, g_.sub(whole, 1));
      Value* is_one = g_.op("Equal", {whole, number(1)});
      return g_.where(is_one, number(0), place);
    }
    Value* half_pixel = g_.sub(g_.div(g_.add(x, 0.5), e.scale), 0.5);
    if (coordinates_ == "pytorch_half_pixel") {
      Value* is_many = g_.op("Greater", {whole, number(1)});
      return g_.where(is_many, half_pixel, number(0));
    }
    if (coordinates_ != "half_pixel_symmetric") return half_pixel;
    Value* rest = g_.sub(1, g_.div(g_.cast(e.to, kPrecise), whole));
    return g_.add(half_pixel, g_.mul(g_.div(size, 2), rest));
  }

  Value* clamped(Value* at, Value* last) {
    Value* not_before = g_.op("Max", {at, number(0)});
    return g_.cast(g_.op("Min", {not_before, last}), DType::i64);
  }

  Value* nearest(Value* place, const Extent& e) {
    const std::string rounding = c_.attr("nearest_mode", "round_prefer_floor");
    Value* at = g_.op("Floor", {place});
    Value* ratio = g_.sub(place, at);
    Value* is_up = rounding == "ceil"                ? g_.op("Greater", {ratio, number(0)})
                   : rounding == "round_prefer_ceil" ? g_.op("GreaterOrEqual", {ratio, number(0.5)})
                                                     : g_.op("Greater", {ratio, number(0.5)});
    if (rounding != "floor") at = g_.add(at, g_.cast(is_up, kPrecise));
    Value* last = g_.sub(g_.cast(e.from, kPrecise), 1);
    return clamped(at, last);
  }

  /// 1 - half to half.
  Value* offsets(Value* half) {
    Value* reach = g_.cast(g_.squeeze(half, {0}), DType::i64);
    Value *first = g_.sub(g_.index(1), reach), *end = g_.add(reach, g_.index(1));
    return g_.cast(g_.op("Range", {first, end, g_.index(1)}), kPrecise);
  }

  Value* linear(Value* x) {
    Value* height = g_.sub(1, g_.op("Abs", {x}));
    return g_.op("Max", {height, number(0)});
  }

  /// Keys' cubic convolution.
  Value* cubic(Value* distance) {
    const double a = static_cast<double>(c_.attr("cubic_coeff_a", -0.75f));
    Value* x = g_.op("Abs", {distance});
    Value* near = g_.sub(g_.mul(x, a + 2), a + 3);
    near = g_.add(g_.mul(g_.mul(near, x), x), 1);
    Value* far = g_.sub(g_.mul(x, a), 5 * a);
    far = g_.add(g_.mul(far, x), 8 * a);
    far = g_.sub(g_.mul(far, x), 4 * a);
    Value* is_near = g_.op("LessOrEqual", {x, number(1)});
    Value* is_far = g_.op("Less", {x, number(2)});
    return g_.where(is_near, near, g_.where(is_far, far, number(0)));
  }

  DecomposeContext& c_;
  GraphBuilder& g_;
  std::string mode_, coordinates_;
  bool is_antialiased_, excludes_outside_;
};

std::vector<Extent> extents(DecomposeContext& c, const std::vector<std::int64_t>& axes) {
  GraphBuilder& g = c.g;
  std::vector<Extent> all;
  for (const std::int64_t axis : axes) all.push_back({size_along(g, c.in(0), axis), nullptr, nullptr});
  const auto entry = [&](Value* list, std::size_t k) {
    const auto i = static_cast<std::int64_t>(k);
    Value *first = g.ints({i}), *end = g.ints({i + 1});
    return g.op("Slice", {list, first, end});
  };
  if (!is_given(c.node, 3)) {
    for (std::size_t k = 0; k < all.size(); ++k) {
      Value* scale = entry(c.in(2), k);
      Value* size = g.mul(g.cast(all[k].from, DType::f32), scale);
      all[k].to = g.cast(g.op("Floor", {size}), DType::i64);
      all[k].scale = g.cast(scale, kPrecise);
    }
    return all;
  }
  const std::string policy = c.attr("keep_aspect_ratio_policy", "stretch");
  Values ratios;
  for (std::size_t k = 0; k < all.size(); ++k) {
    all[k].to = entry(c.in(3), k);
    Value* to = g.cast(all[k].to, kPrecise);
    all[k].scale = g.div(to, g.cast(all[k].from, kPrecise));
    ratios.push_back(all[k].scale);
  }
  if (policy == "stretch") return all;
  Value* common = policy == "not_larger" ? g.op("Min", ratios) : g.op("Max", ratios);
  for (Extent& e : all) {
    e.scale = common;
    Value* size = g.mul(g.cast(e.from, kPrecise), common);
    e.to = g.cast(g.op("Floor", {g.add(size, 0.5)}), DType::i64);
  }
  return all;
}

}  // namespace

Values decompose_resize(DecomposeContext& c) {
  const std::string coordinates = c.attr("coordinate_transformation_mode", "half_pixel");
  const bool keeps_ratio = is_given(c.node, 3) && c.attr("keep_aspect_ratio_policy", "stretch") != "stretch";
  const bool is_nearest = c.attr("mode", "nearest") == "nearest";
  const bool is_antialiased = c.attr("antialias", std::int64_t{0}) != 0;
  const auto rank = c.rank(0);
  const DType elem = c.elem(0);
  if (!is_antialiased && coordinates != "half_pixel_symmetric" && !keeps_ratio) return {};
  if (!rank || elem == DType::undefined || coordinates == "tf_crop_and_resize") return {};
  if (!is_nearest && !is_float(elem) && !is_integer(elem)) return {};
  if (!is_given(c.node, 2) && !is_given(c.node, 3)) return {};
  std::vector<std::int64_t> axes(static_cast<std::size_t>(*rank));
  std::iota(axes.begin(), axes.end(), 0);
  axes = c.node.attributes.ints_or("axes", axes);
  for (std::int64_t& a : axes) {
    if (a < -*rank || a >= *rank) return {};
    if (a < 0) a += *rank;
  }
  const std::vector<Extent> all = extents(c, axes);
  const Tensor* scales = is_given(c.node, 3) ? nullptr : c.constant(2);
  const auto known = scales ? scales->to_doubles() : std::vector<double>();
  if (scales && known.size() != axes.size()) return {};
  Body body(c);
  Value* x = is_nearest ? c.in(0) : c.g.cast(c.in(0), kPrecise);
  for (std::size_t k = axes.size(); k-- > 0;)
    if (!scales || known[k] != 1) x = body.resized(x, axes[k], *rank, all[k]);
  return {is_nearest ? x : c.g.cast(x, elem)};
}

Values resize_matrices(DecomposeContext& c, const std::vector<std::int64_t>& axes) {
  GraphBuilder& g = c.g;
  Body body(c);
  Values matrices;
  for (const Extent& e : extents(c, axes)) {
    Value* square = g.concat({e.from, e.from}, 0);
    Value* blank = g.op("ConstantOfShape", {square}, {{"value", Tensor::scalar(0, kPrecise).reshaped({1})}});
    Value* units = g.op("EyeLike", {blank});
    matrices.push_back(g.cast(body.resized(units, 1, 2, e), c.elem(0)));
  }
  return matrices;
}

}  // namespace ingot::ops
