// Resize: one axis after the other, in double precision.
#include <algorithm>

#include "ingot/lower/rows.h"

namespace ingot::lower {
namespace {

Expr real(double value) { return Expr::constant(value, DType::f64); }
Expr real(const Expr& index) { return from_index(index, DType::f64); }
Expr make(Op op, const Expr& a, const Expr& b) { return Expr::make(op, DType::f64, {a, b}); }
Expr plus(const Expr& a, const Expr& b) { return make(Op::add, a, b); }
Expr minus(const Expr& a, const Expr& b) { return make(Op::sub, a, b); }
Expr times(const Expr& a, const Expr& b) { return make(Op::mul, a, b); }
Expr over(const Expr& a, const Expr& b) { return make(Op::div, a, b); }
Expr one(Op op, const Expr& x) { return Expr::make(op, DType::f64, {x}); }

struct Mode {
  std::string filter, coordinates, rounding;
  double cubic;
  bool antialias, excludes_outside;
};

struct ResizedAxis {
  std::size_t axis = 0;
  Expr from, to;           // sizes
  Expr scale, start, end;  // doubles
  bool has_sizes = false;  // which say the scale
};

/// As ops::ResizedAxis::unscaled has it.
Expr over_scale(const Mode& mode, const ResizedAxis& a, const Expr& x) {
  if (mode.filter != "nearest") return over(x, a.scale);
  if (a.has_sizes) return over(times(x, real(a.from)), real(a.to));
  return cast(Expr::make(Op::div, DType::f32, {cast(x, DType::f32), cast(a.scale, DType::f32)}), DType::f64);
}

/// Where a position of the result lies in the source.
Expr source(const Mode& mode, const ResizedAxis& a, const Expr& position) {
  const Expr x = real(position), size = real(a.from), resized = times(a.scale, size);
  const Expr is_one = Expr::make(Op::equal, DType::boolean, {resized, real(1)});
  if (mode.coordinates == "align_corners")
    return select(is_one, real(0), over(times(x, minus(size, real(1))), minus(resized, real(1))));
  if (mode.coordinates == "asymmetric") return over_scale(mode, a, x);
  if (mode.coordinates == "tf_crop_and_resize") {
    const Expr length = times(minus(a.end, a.start), minus(size, real(1)));
    const Expr inside = select(is_one, over(length, real(2)), over(times(x, length), minus(resized, real(1))));
    return plus(times(a.start, minus(size, real(1))), inside);
  }
  const Expr half = minus(over_scale(mode, a, plus(x, real(0.5))), real(0.5));
  if (mode.coordinates == "pytorch_half_pixel") return select(less(real(1), resized), half, real(0));
  if (mode.coordinates == "half_pixel_symmetric")
    return plus(half, times(over(size, real(2)), minus(real(1), over(real(a.to), resized))));
  return half;
}

Expr weight(const Mode& mode, const Expr& x) {
  const Expr d = one(Op::abs, x);
  if (mode.filter == "linear") return make(Op::max, minus(real(1), d), real(0));
  const double a = mode.cubic;
  const Expr near = plus(times(times(minus(times(real(a + 2), d), real(a + 3)), d), d), real(1));
  const Expr far = minus(times(plus(times(minus(times(real(a), d), real(5 * a)), d), real(8 * a)), d), real(4 * a));
  return select(less_equal(d, real(1)), near, select(less(d, real(2)), far, real(0)));
}

/// The pixel next to a place.
Expr nearest(const Mode& mode, const ResizedAxis& a, const Expr& place) {
  const Expr below = one(Op::floor, place), ratio = minus(place, below);
  Expr goes_up = Expr::integer(0, DType::boolean);
  if (mode.rounding == "ceil") goes_up = less(real(0), ratio);
  if (mode.rounding == "round_prefer_floor") goes_up = less(real(0.5), ratio);
  if (mode.rounding == "round_prefer_ceil") goes_up = less_equal(real(0.5), ratio);
  const Expr pixel = as_index(select(goes_up, plus(below, real(1)), below));
  return max(0, min(pixel, a.from - 1));
}

View resized_nearest(Lowering& l, const View& x, const Mode& mode, const ResizedAxis& a) {
  Exprs dims = x.dims;
  dims[a.axis] = a.to;
  return l.computed(
      x.type, dims,
      [=](Exprs at) {
        at[a.axis] = nearest(mode, a, source(mode, a, at[a.axis]));
        return x.at(at);
      },
      x.cost + 4);
}

/// Weighted sums of neighbours; the places and weights of those of each position are kept.
View resized_smoothly(Lowering& l, const View& x, const Mode& mode, const ResizedAxis& a) {
  const int reach = mode.filter == "cubic" ? 2 : 1;
  const Expr stretch = mode.antialias ? l.let(make(Op::min, a.scale, real(1))) : real(1);
  const Expr half = mode.antialias ? l.let(as_index(one(Op::ceil, over(real(reach), stretch)))) : Expr(reach);
  const auto above = [=](const Expr& at) { return one(Op::ceil, source(mode, a, at)); };
  const auto first = [=](const Expr& at) { return as_index(above(at)) - half; };
  const View weights = l.stored(l.computed(
      DType::f64, {a.to, half * 2},
      [=](const Exprs& at) {
        const Expr ratio = minus(source(mode, a, at[0]), minus(above(at[0]), real(1)));
        const Expr w = weight(mode, times(minus(real(at[1] + 1 - half), ratio), stretch));
        if (!mode.excludes_outside) return w;
        const Expr pixel = first(at[0]) + at[1];
        return select(both(less_equal(0, pixel), less(pixel, a.from)), w, real(0));
      },
      20));
  const bool is_scaled = mode.antialias || mode.excludes_outside;
  const Expr taps = weights.dims[1];
  const View sums = is_scaled ? l.reduced(DType::f64, {a.to}, {taps}, Combine::sum,
                                          [&](const Exprs& at, const Exprs& k) {
                                            return weights.at({at[0], k[0]});
                                          })
                              : View{};
  const View places = l.stored(l.computed(
      DType::i64, weights.dims,
      [=](const Exprs& at) { return from_index(max(0, min(first(at[0]) + at[1], a.from - 1)), DType::i64); }, 20));
  const View from = l.stored(x);
  Exprs dims = x.dims;
  dims[a.axis] = a.to;
  const View y = l.reduced(DType::f64, dims, {taps}, Combine::sum, [&](const Exprs& at, const Exprs& k) {
    const Exprs tap = {at[a.axis], k[0]};
    Exprs place = at;
    place[a.axis] = as_index(places.at(tap));
    // What weighs nothing is not read: it may be no number.
    const Expr w = weights.at(tap);
    return select(Expr::make(Op::equal, DType::boolean, {w, real(0)}), real(0),
                  times(w, cast(from.at(place), DType::f64)));
  });
  if (!is_scaled) return y;
  return l.computed(
      DType::f64, y.dims, [=](const Exprs& at) { return over(y.at(at), sums.at({at[a.axis]})); }, 1);
}

bool is_given(Lowering& l, std::size_t input) {
  if (!l.has(input)) return false;
  const View v = l.in(input);
  return v.rank() == 1 && v.dims[0].as_int() != 0;
}

std::vector<ResizedAxis> resized_axes(Lowering& l, const View& x, const Mode& mode) {
  std::vector<std::int64_t> axes = l.node().attributes.ints_or("axes", {});
  if (axes.empty())
    for (std::size_t i = 0; i < x.rank(); ++i) axes.push_back(static_cast<std::int64_t>(i));
  const std::string policy = l.node().attributes.string_or("keep_aspect_ratio_policy", "stretch");
  const bool has_scales = is_given(l, 2);
  const Exprs sizes = has_scales ? Exprs() : l.ints(3, axes.size());
  const View scales = has_scales ? l.in(2) : View{};
  std::vector<ResizedAxis> all;
  Expr common;
  for (std::size_t k = 0; k < axes.size(); ++k) {
    ResizedAxis a;
    a.axis = static_cast<std::size_t>(l.axis(axes[k], x.rank()));
    a.from = x.dims[a.axis];
    a.has_sizes = !has_scales && policy == "stretch";
    a.scale =
        has_scales ? cast(scales.at({static_cast<std::int64_t>(k)}), DType::f64) : over(real(sizes[k]), real(a.from));
    const Expr size = times(real(a.from), a.scale);
    a.to = has_scales ? as_index(one(Op::floor, cast(cast(size, DType::f32), DType::f64))) : sizes[k];
    common = k == 0 ? a.scale : make(policy == "not_larger" ? Op::min : Op::max, common, a.scale);
    if (mode.coordinates == "tf_crop_and_resize") {
      const View roi = l.in(1);
      const auto bound = [&](std::size_t i) { return cast(roi.at({static_cast<std::int64_t>(i)}), DType::f64); };
      a.start = bound(k);
      a.end = bound(k + axes.size());
    }
    all.push_back(a);
  }
  Exprs dims = x.dims;
  for (ResizedAxis& a : all) {
    if (!has_scales && policy != "stretch") {
      a.scale = l.let(common);
      a.to = as_index(one(Op::floor, plus(times(a.scale, real(a.from)), real(0.5))));
    }
    dims[a.axis] = a.to;
  }
  l.settle(0, dims);
  for (ResizedAxis& a : all) {
    a.to = dims[a.axis].as_int() ? dims[a.axis] : l.let(dims[a.axis]);
    a.scale = l.let(a.scale);
    l.require_place(a.from, a.to);
  }
  return all;
}

/// Sizes and scale say that nothing changes.
bool is_same(Lowering& l, const ResizedAxis& a, const Mode& mode, std::size_t k) {
  if (mode.coordinates == "tf_crop_and_resize" || !same(a.from, a.to)) return false;
  const Tensor* scales =
      l.node().input(2) && l.node().input(2)->initializer ? &*l.node().input(2)->initializer : nullptr;
  return !is_given(l, 2) || (scales && scales->to_doubles()[k] == 1);
}

}  // namespace

void lower_resize(Lowering& l) {
  const Attributes& attributes = l.node().attributes;
  const View x = l.stored(l.in(0));
  const Mode mode = {attributes.string_or("mode", "nearest"),
                     attributes.string_or("coordinate_transformation_mode", "half_pixel"),
                     attributes.string_or("nearest_mode", "round_prefer_floor"),
                     attributes.float_or("cubic_coeff_a", -0.75f),
                     l.attr("antialias", 0) != 0,
                     l.attr("exclude_outside", 0) != 0};
  const std::vector<ResizedAxis> axes = resized_axes(l, x, mode);
  View y = x;
  for (std::size_t k = 0; k < axes.size(); ++k) {
    if (is_same(l, axes[k], mode, k)) continue;
    y = mode.filter == "nearest" ? resized_nearest(l, y, mode, axes[k]) : resized_smoothly(l, y, mode, axes[k]);
  }
  if (mode.coordinates == "tf_crop_and_resize") {
    const double value = attributes.float_or("extrapolation_value", 0);
    const View inside = y;
    y = l.computed(
        y.type, y.dims,
        [=](const Exprs& at) {
          Expr is_inside = Expr::integer(1, DType::boolean);
          for (const ResizedAxis& a : axes) {
            const Expr place = source(mode, a, at[a.axis]);
            is_inside = both(is_inside, both(less_equal(real(0), place), less_equal(place, real(a.from - 1))));
          }
          return select(is_inside, inside.at(at), Expr::constant(value, inside.type));
        },
        y.cost + 4);
  }
  const View last = y;
  const DType type = x.type;
  if (is_float(type) || last.type == type)
    return l.out(0, l.computed(
                        type, last.dims, [=](const Exprs& at) { return cast(last.at(at), type); }, last.cost + 1));
  l.out(0,
        l.computed(
            type, last.dims, [=](const Exprs& at) { return cast(one(Op::round, last.at(at)), type); }, last.cost + 2));
}

}  // namespace ingot::lower
