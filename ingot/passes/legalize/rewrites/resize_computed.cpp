// Resizing by sizes, scales or regions that only a run knows: the places of the elements are computed, then gathered.
#include <algorithm>

#include "ingot/ops/infer.h"
#include "ingot/passes/legalize/resize_axis.h"
#include "ingot/passes/legalize/rewrites.h"

namespace ingot::passes::legalize {
namespace {

/// One axis that changes: all of these are scalars of float, constants where they are known.
struct ComputedAxis {
  std::int64_t axis;
  Value* in;
  Value* out;
  Value* scale = nullptr;  // null: out / in
  Value* begin = nullptr;  // of the region, as parts of the whole
  Value* end = nullptr;
};

class ComputedResize {
 public:
  explicit ComputedResize(Rewriting& r) : r_(r), g_(r.g) {}

  bool is_possible() const {
    const auto &x = r_.in()->type.shape, &y = r_.node.output(0)->type.shape;
    if (!x || !y || x->size() != y->size() || r_.attr("antialias", 0) || r_.attr("exclude_outside", 0)) return false;
    if (text("keep_aspect_ratio_policy", "stretch") != "stretch") return false;
    if (!is_there(2) && !is_there(3)) return false;
    if (mode() != "nearest") return r_.elem() == DType::f32;
    return r_.elem() == DType::f32 || r_.elem() == DType::i32 || r_.elem() == DType::i64 || r_.elem() == DType::i8 ||
           r_.elem() == DType::u8;
  }

  Value* run() {
    Value* x = r_.in();
    Value* is_inside = nullptr;
    for (const ComputedAxis& a : axes()) {
      Value* place = place_of(a);
      Value* last = g_.sub(a.in, 1);
      if (a.begin) {
        Value* inside = on_axis(is_between(place, last), a.axis);
        is_inside = is_inside ? g_.op("And", {is_inside, inside}) : inside;
      }
      x = mode() == "nearest" ? nearest(x, place, last, a.axis)
          : mode() == "cubic" ? cubic(x, place, last, a.axis)
                              : linear(x, place, last, a.axis);
    }
    if (is_inside) {
      const auto outside = static_cast<double>(r_.node.attributes.float_or("extrapolation_value", 0));
      Value* other = g_.scalar(outside, r_.elem());
      x = g_.where(is_inside, x, other);
    }
    return x == r_.in() ? g_.op("Identity", {x}) : x;
  }

 private:
  std::string text(const char* name, const char* fallback) const {
    return r_.node.attributes.string_or(name, fallback);
  }
  std::string mode() const { return text("mode", "nearest"); }
  std::string coordinates() const { return text("coordinate_transformation_mode", "half_pixel"); }
  std::size_t rank() const { return r_.rank(); }

  /// An empty tensor stands for an input that is not there.
  bool is_there(std::size_t i) const {
    const Value* v = r_.node.input(i);
    if (!v) return false;
    const Tensor* t = ops::constant_of(v);
    return !t || t->size() > 0;
  }

  Value* element(Value* list, std::int64_t i) {
    Value* at = g_.index(i);
    return g_.cast(g_.op("Gather", {list, at}, {{"axis", 0}}), DType::f32);
  }

  Value* size_of(Value* x, std::int64_t axis) {
    const Dim& d = (*x->type.shape)[static_cast<std::size_t>(axis)];
    if (d.is_known()) return g_.scalar(static_cast<double>(d.value()), DType::f32);
    return element(g_.shape(x), axis);
  }

  std::vector<ComputedAxis> axes() {
    std::vector<std::int64_t> which = r_.node.attributes.ints_or("axes", {});
    for (std::int64_t& a : which) a = a < 0 ? a + static_cast<std::int64_t>(rank()) : a;
    if (which.empty())
      for (std::size_t i = 0; i < rank(); ++i) which.push_back(static_cast<std::int64_t>(i));
    const bool is_region = coordinates() == "tf_crop_and_resize";
    const Shape &in = *r_.in()->type.shape, &out = *r_.node.output(0)->type.shape;
    std::vector<ComputedAxis> made;
    for (std::size_t k = 0; k < which.size(); ++k) {
      const auto i = static_cast<std::size_t>(which[k]);
      const auto at = static_cast<std::int64_t>(k);
      if (!is_region && same(in[i], out[i])) continue;
      if (is_region && is_whole(k, which.size()) && same(in[i], out[i])) continue;
      ComputedAxis a{which[k], size_of(r_.in(), which[k]), nullptr};
      if (is_there(3)) {
        a.out = element(r_.in(3), at);
      } else {
        a.scale = element(r_.in(2), at);
        a.out = g_.op("Floor", {g_.mul(a.in, a.scale)});
      }
      if (is_region) {
        a.begin = element(r_.in(1), at);
        a.end = element(r_.in(1), at + static_cast<std::int64_t>(which.size()));
      }
      made.push_back(a);
    }
    return made;
  }

  /// Whether the region is known to go from 0 to 1 along an axis.
  bool is_whole(std::size_t k, std::size_t count) const {
    const Tensor* roi = r_.node.input(1) ? ops::constant_of(r_.node.input(1)) : nullptr;
    if (!roi || roi->size() != static_cast<std::int64_t>(2 * count)) return false;
    const std::vector<double> numbers = roi->to_doubles();
    return numbers[k] == 0 && numbers[k + count] == 1;
  }

  /// Where the elements of the result lie along an axis: [out].
  Value* place_of(const ComputedAxis& a) {
    Value* zero = g_.index(0);
    Value* one = g_.index(1);
    Value* count = g_.cast(a.out, DType::i64);
    Value* i = g_.cast(g_.op("Range", {zero, count, one}), DType::f32);
    // Whole numbers first: what divides without a rest must come out without one.
    const auto scaled = [&](Value* x) { return a.scale ? g_.div(x, a.scale) : g_.div(g_.mul(x, a.in), a.out); };
    const std::string kind = coordinates();
    if (kind == "asymmetric") return scaled(i);
    // By ONNX's rule, scales give a length that is not rounded.
    Value* length = a.scale ? g_.mul(a.in, a.scale) : a.out;
    Value* single = g_.scalar(1, DType::f32);
    Value* is_many = g_.op("Greater", {length, single});
    Value* least = g_.scalar(1e-6, DType::f32);
    Value* steps = g_.op("Max", {g_.sub(length, 1), least});
    Value* last = g_.sub(a.in, 1);
    if (kind == "align_corners") return g_.div(g_.mul(i, last), steps);
    if (kind == "tf_crop_and_resize") {
      Value* part = g_.mul(g_.sub(a.end, a.begin), last);
      Value* along = g_.div(g_.mul(i, part), steps);
      Value* from = g_.mul(a.begin, last);
      Value* middle = g_.mul(g_.mul(g_.add(a.begin, a.end), 0.5), last);
      return g_.where(is_many, g_.add(from, along), middle);
    }
    Value* centre = g_.sub(scaled(g_.add(i, 0.5)), 0.5);
    if (kind == "pytorch_half_pixel") return g_.where(is_many, centre, g_.scalar(0, DType::f32));
    if (kind == "half_pixel_symmetric" && a.scale) {
      Value* adjustment = g_.div(a.out, g_.mul(a.in, a.scale));
      Value* half = g_.mul(a.in, 0.5);
      Value* shift = g_.mul(half, g_.sub(1.0, adjustment));
      return g_.add(centre, shift);
    }
    return centre;
  }

  Value* is_between(Value* place, Value* last) {
    Value* is_low = g_.op("Less", {place, g_.scalar(0, DType::f32)});
    Value* is_high = g_.op("Greater", {place, last});
    return g_.op("Not", {g_.op("Or", {is_low, is_high})});
  }

  /// A vector along one axis of the data.
  Value* on_axis(Value* vector, std::int64_t axis) {
    std::vector<std::int64_t> dims(rank() - static_cast<std::size_t>(axis), 1);
    dims[0] = -1;
    return g_.reshape(vector, dims);
  }

  Value* picked(Value* x, Value* place, Value* last, std::int64_t axis) {
    Value* low = g_.op("Max", {place, g_.scalar(0, DType::f32)});
    Value* index = g_.cast(g_.op("Min", {low, last}), DType::i64);
    return g_.op("Gather", {x, index}, {{"axis", axis}});
  }

  Value* nearest(Value* x, Value* place, Value* last, std::int64_t axis) {
    const std::string rounding = text("nearest_mode", "round_prefer_floor");
    Value* at = rounding == "ceil"                 ? g_.op("Ceil", {place})
                : rounding == "round_prefer_floor" ? g_.op("Ceil", {g_.sub(place, 0.5)})
                : rounding == "round_prefer_ceil"  ? g_.op("Floor", {g_.add(place, 0.5)})
                                                   : g_.op("Floor", {place});
    return picked(x, at, last, axis);
  }

  Value* linear(Value* x, Value* place, Value* last, std::int64_t axis) {
    Value* floor = g_.op("Floor", {place});
    Value* rest = on_axis(g_.sub(place, floor), axis);
    Value* lower = picked(x, floor, last, axis);
    Value* upper = picked(x, g_.add(floor, 1), last, axis);
    Value* a = g_.mul(lower, g_.sub(1.0, rest));
    Value* b = g_.mul(upper, rest);
    return g_.add(a, b);
  }

  Value* cubic(Value* x, Value* place, Value* last, std::int64_t axis) {
    const auto a = static_cast<double>(r_.node.attributes.float_or("cubic_coeff_a", -0.75f));
    Value* floor = g_.op("Floor", {place});
    Value* t = on_axis(g_.sub(place, floor), axis);
    // ((p d + q) d + s) d + u at distance d
    const auto weight = [&](Value* d, double p, double q, double s, double u) {
      Value* w = g_.add(g_.mul(d, p), q);
      w = g_.add(g_.mul(w, d), s);
      return g_.add(g_.mul(w, d), u);
    };
    Value* sum = nullptr;
    for (int k = -1; k <= 2; ++k) {
      Value* distance = k <= 0 ? g_.add(t, -k) : g_.sub(static_cast<double>(k), t);
      Value* w =
          k == 0 || k == 1 ? weight(distance, a + 2, -(a + 3), 0, 1) : weight(distance, a, -5 * a, 8 * a, -4 * a);
      Value* neighbour = picked(x, g_.add(floor, k), last, axis);
      Value* part = g_.mul(neighbour, w);
      sum = sum ? g_.add(sum, part) : part;
    }
    return sum;
  }

  Rewriting& r_;
  GraphBuilder& g_;
};

}  // namespace

Values rewrite_computed_resize(Rewriting& r) {
  ComputedResize resize(r);
  if (!is_resized_by_run(r.node) || !resize.is_possible()) return {};
  return {resize.run()};
}

}  // namespace ingot::passes::legalize
