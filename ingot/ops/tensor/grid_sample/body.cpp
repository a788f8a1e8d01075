// GridSample in simpler operators: the pixels around each place are gathered and weighted.
#include "ingot/ops/tensor/grid_sample/body.h"

namespace ingot::ops {
namespace {

enum class Padding { zeros, border, reflection };
enum class Mode { nearest, linear, cubic };

/// One spatial dimension of the image: its length and borders in the type that is computed in.
struct Axis {
  Value* length;  // scalar, in the computing type
  Value *low, *high;
};

/// A row of pixels next to the place along one dimension.
struct Tap {
  Value* index;             // int64
  Value* weight;            // null: 1
  Value* inside = nullptr;  // null: always
};

class Body {
 public:
  Body(GraphBuilder& builder, DType compute, Padding padding, Mode mode, bool aligns)
      : g(builder), compute_(compute), padding_(padding), mode_(mode), aligns_(aligns) {}

  Axis axis(Value* shape, std::int64_t i) {
    Value* length = g.cast(g.op("Gather", {shape, g.index(i)}), compute_);
    if (aligns_) return {length, number(0), g.sub(length, 1.0)};
    return {length, number(-0.5), g.sub(length, 0.5)};
  }

  std::vector<Tap> taps(const Axis& a, Value* n) {
    Value* n1 = g.add(n, 1.0);
    Value* x = aligns_ ? g.mul(g.div(n1, 2.0), g.sub(a.length, 1.0)) : g.div(g.sub(g.mul(n1, a.length), 1.0), 2.0);
    if (mode_ == Mode::nearest) x = g.op("Round", {x});
    if (padding_ == Padding::border)
      x = g.where(is_outside(a, x), clamp(a, x), x);
    else if (padding_ == Padding::reflection)
      x = reflect(a, x);
    if (mode_ == Mode::nearest) return {tap(a, x, nullptr)};
    Value* floor = g.op("Floor", {x});
    Value* t = g.sub(x, floor);
    if (mode_ == Mode::linear) return {tap(a, floor, g.sub(1.0, t)), tap(a, g.add(floor, 1.0), t)};
    Value *s = g.sub(1.0, t), *t1 = g.add(t, 1.0), *s1 = g.add(s, 1.0);
    return {tap(a, g.sub(floor, 1.0), far(t1)), tap(a, floor, near(t)), tap(a, g.add(floor, 1.0), near(s)),
            tap(a, g.add(floor, 2.0), far(s1))};
  }

  GraphBuilder& g;

 private:
  static constexpr double kA = -0.75;  // of the cubic convolution

  Value* number(double v) { return g.scalar(v, compute_); }
  // ((a + 2) d - (a + 3)) d d + 1 for a distance up to 1
  Value* near(Value* d) { return g.add(g.mul(g.mul(g.sub(g.mul(d, kA + 2), kA + 3), d), d), 1.0); }
  // ((a d - 5 a) d + 8 a) d - 4 a for a distance from 1 to 2
  Value* far(Value* d) { return g.sub(g.mul(g.add(g.mul(g.sub(g.mul(d, kA), 5 * kA), d), 8 * kA), d), 4 * kA); }

  Value* is_outside(const Axis& a, Value* x) {
    return g.op("Or", {g.op("Less", {x, a.low}), g.op("Greater", {x, a.high})});
  }
  Value* clamp(const Axis& a, Value* x) { return g.op("Max", {g.op("Min", {x, g.sub(a.length, 1.0)}), number(0)}); }
  // Mirrored at the borders until it lies between them.
  Value* reflect(const Axis& a, Value* x) {
    Value* range = g.sub(a.high, a.low);
    Value* is_low = g.op("Less", {x, a.low});
    Value* beyond = g.where(is_low, g.sub(a.low, x), g.sub(x, a.high));
    Value* times = g.op("Floor", {g.div(beyond, range)});
    Value* rest = g.sub(beyond, g.mul(times, range));
    Value* half = g.div(times, 2.0);
    Value* is_even = g.op("Equal", {half, g.op("Floor", {half})});
    Value* from_low = g.op("Equal", {is_low, is_even});
    Value* mirrored = g.where(from_low, g.add(a.low, rest), g.sub(a.high, rest));
    return g.where(is_outside(a, x), mirrored, x);
  }
  Tap tap(const Axis& a, Value* at, Value* weight) {
    Tap made{nullptr, weight};
    if (padding_ == Padding::zeros)
      made.inside = g.op("Equal", {at, clamp(a, at)});
    else if (padding_ == Padding::reflection)
      at = reflect(a, at);
    made.index = g.cast(clamp(a, at), DType::i64);
    return made;
  }

  DType compute_;
  Padding padding_;
  Mode mode_;
  bool aligns_;
};

// All combinations of one tap per dimension; each gives a pixel of all channels.
Values gather_pixels(GraphBuilder& g, Value* image, const std::vector<std::vector<Tap>>& taps, Value* zero,
                     DType compute) {
  Value* last = g.ints({-1});
  std::size_t combinations = 1;
  for (const auto& axis : taps) combinations *= axis.size();
  Values pixels;
  for (std::size_t n = 0; n < combinations; ++n) {
    Values indices;
    Value *weight = nullptr, *inside = nullptr;
    std::size_t rest = n;
    for (const auto& axis : taps) {
      const Tap& tap = axis[rest % axis.size()];
      rest /= axis.size();
      indices.push_back(g.op("Unsqueeze", {tap.index, last}));
      if (tap.weight) weight = weight ? g.mul(weight, tap.weight) : tap.weight;
      if (tap.inside) inside = inside ? g.op("And", {inside, tap.inside}) : tap.inside;
    }
    Value* pixel = g.op("GatherND", {image, g.concat(indices, -1)}, {{"batch_dims", 1}});
    if (inside) pixel = g.where(g.op("Unsqueeze", {inside, last}), pixel, zero);
    if (weight) pixel = g.mul(pixel, g.op("Unsqueeze", {g.cast(weight, compute), last}));
    pixels.push_back(pixel);
  }
  return pixels;
}

bool is_small_float(DType elem) { return elem == DType::f16 || elem == DType::bf16; }

}  // namespace

Values decompose_grid_sample(DecomposeContext& c) {
  const auto rank = c.rank(0) ? c.rank(0) : c.rank(1);
  const DType elem = c.elem(0), grid_elem = c.elem(1);
  if (!rank || *rank < 3 || *rank > 5 || elem == DType::undefined || grid_elem == DType::undefined) return {};
  const std::string mode_name = c.attr("mode", "linear"), padding_name = c.attr("padding_mode", "zeros");
  const Mode mode = mode_name == "nearest" ? Mode::nearest : mode_name == "cubic" ? Mode::cubic : Mode::linear;
  if (mode == Mode::nearest ? elem == DType::string || is_complex(elem) : !is_float(elem)) return {};
  const Padding padding = padding_name == "border"       ? Padding::border
                          : padding_name == "reflection" ? Padding::reflection
                                                         : Padding::zeros;
  GraphBuilder& g = c.g;
  const DType place = is_small_float(grid_elem) ? DType::f32 : grid_elem;
  const DType compute = mode != Mode::nearest && is_small_float(elem) ? DType::f32 : elem;
  Body body(g, place, padding, mode, c.attr("align_corners", std::int64_t{0}) != 0);

  const std::int64_t dims = *rank - 2;
  Value *shape = g.shape(c.in(0)), *grid = g.cast(c.in(1), place);
  std::vector<std::vector<Tap>> taps;
  for (std::int64_t i = 0; i < dims; ++i) {
    // The grid names the last dimension first.
    Value* n = g.op("Gather", {grid, g.index(dims - 1 - i)}, {{"axis", -1}});
    taps.push_back(body.taps(body.axis(shape, i + 2), n));
  }
  std::vector<std::int64_t> channels_last = {0}, channels_first = {0, dims + 1};
  for (std::int64_t i = 0; i < dims; ++i) {
    channels_last.push_back(i + 2);
    channels_first.push_back(i + 1);
  }
  channels_last.push_back(1);
  Value* image = g.transpose(g.cast(c.in(0), compute), channels_last);
  const Values pixels = gather_pixels(g, image, taps, g.scalar(0, compute), compute);
  Value* sum = pixels.front();
  for (std::size_t i = 1; i < pixels.size(); ++i) sum = g.add(sum, pixels[i]);
  return {g.transpose(g.cast(sum, elem), channels_first)};
}

}  // namespace ingot::ops
