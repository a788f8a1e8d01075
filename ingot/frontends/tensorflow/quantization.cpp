// Fake quantisation: rounding to the grid that a quantised tensor would have.
#include <cmath>
#include <limits>

#include "ingot/base/elements.h"
#include "ingot/frontends/tensorflow/node.h"

namespace ingot::frontends::tensorflow {
namespace {

struct Grid {
  double scale, zero, low, high;  // low and high in real numbers
};

/// The range moved a little so that zero is on the grid.
Grid nudged(double min, double max, double first, double last) {
  // In floats, as TensorFlow does it: the last bit tells the scale that was meant.
  const float scale = (static_cast<float>(max) - static_cast<float>(min)) / static_cast<float>(last - first);
  const float from_min = static_cast<float>(first) - static_cast<float>(min) / scale;
  const float zero = from_min < first  ? static_cast<float>(first)
                     : from_min > last ? static_cast<float>(last)
                                       : std::round(from_min);
  return {scale, zero, (static_cast<float>(first) - zero) * scale, (static_cast<float>(last) - zero) * scale};
}

/// Zero points in an integer type, counted from its least number.
Tensor zero_points(const Dims& dims, const std::vector<float>& zeros, DType type) {
  const double least = is_signed_integer(type) ? -std::exp2(static_cast<double>(bits_of(type)) - 1) : 0;
  std::vector<std::byte> bytes(static_cast<std::size_t>(*byte_count(type, zeros.size())));
  dispatch(type, Any{}, [&]<class T>() {
    if constexpr (kIsPacked<T> || std::is_integral_v<T>)
      for (std::size_t i = 0; i < zeros.size(); ++i)
        store_element<T>(bytes.data(), i, T(static_cast<int>(static_cast<double>(zeros[i]) + least)));
  });
  return Tensor(type, dims, Bytes::own(std::move(bytes)));
}

Values fake_quant(const TfNode& n, GraphBuilder& g, const std::vector<double>& min, const std::vector<double>& max) {
  const std::int64_t bits = n.integer("num_bits", 8);
  if (bits < 2 || bits > 16) n.unsupported("the number of bits");
  const double first = n.flag("narrow_range", false) ? 1 : 0, last = std::exp2(static_cast<double>(bits)) - 1;
  std::vector<float> scales, zeros, lows, highs;
  for (std::size_t i = 0; i < min.size(); ++i) {
    if (!(min[i] < max[i])) n.unsupported("the range is empty");
    const Grid grid = nudged(min[i], max[i], first, last);
    scales.push_back(static_cast<float>(grid.scale));
    zeros.push_back(static_cast<float>(grid.zero));
    lows.push_back(static_cast<float>(grid.low));
    highs.push_back(static_cast<float>(grid.high));
  }
  if (const std::vector<double> stated = n.reals("_quantized_scale"); stated.size() == scales.size())
    scales.assign(stated.begin(), stated.end());
  const Dims dims = min.size() == 1 ? Dims{} : Dims{static_cast<std::int64_t>(min.size())};
  Value* scale = g.constant(Tensor::of<float>(dims, scales));
  Value* low = g.constant(Tensor::of<float>(dims, lows));
  const DType type = n.dtype("_quantized_type", bits == 8 ? DType::u8 : DType::undefined);
  if (is_integer(type) && bits_of(type) == static_cast<unsigned>(bits)) {
    // Integers end where the range does, but for the one that a narrow range leaves out.
    Value* x = first > 0 ? g.op("Max", {n.input(0), low}) : n.input(0);
    Value* zero = g.constant(zero_points(dims, zeros, type));
    Attrs attrs;
    if (!dims.empty()) attrs.emplace_back("axis", n.rank(0) - 1);
    Value* q = g.op("QuantizeLinear", {x, scale, zero}, attrs);
    return {g.op("DequantizeLinear", {q, scale, zero}, attrs)};
  }
  Value* above = g.op("Max", {n.input(0), low});
  Value* clipped = g.op("Min", {above, g.constant(Tensor::of<float>(dims, highs))});
  Value* steps = g.op("Floor", {g.add(g.div(g.sub(clipped, low), scale), 0.5)});
  return {g.add(g.mul(steps, scale), low)};
}

std::vector<double> numbers(const TfNode& n, std::size_t i) {
  const Tensor* t = n.constant(i);
  if (!t) n.unsupported("the range must be a constant");
  return t->to_doubles();
}

}  // namespace

Values fake_quant_args(const TfNode& n, GraphBuilder& g) {
  return fake_quant(n, g, {n.real("min", -6)}, {n.real("max", 6)});
}
Values fake_quant_vars(const TfNode& n, GraphBuilder& g) {
  if (n.constant(1) && n.constant(2)) return fake_quant(n, g, numbers(n, 1), numbers(n, 2));
  // The same computed at run time.
  const std::int64_t bits = n.integer("num_bits", 8);
  const double first = n.flag("narrow_range", false) ? 1 : 0, last = std::exp2(static_cast<double>(bits)) - 1;
  Value* scale = g.div(g.sub(n.input(2), n.input(1)), last - first);
  Value* from_min = g.sub(first, g.div(n.input(1), scale));
  Value* low_end = g.scalar(first, DType::f32);
  Value* zero = g.op("Clip", {g.op("Floor", {g.add(from_min, 0.5)}), low_end, g.scalar(last, DType::f32)});
  Value* low = g.mul(g.sub(first, zero), scale);
  Value* high = g.mul(g.sub(last, zero), scale);
  Value* clipped = g.op("Min", {g.op("Max", {n.input(0), low}), high});
  Value* steps = g.op("Floor", {g.add(g.div(g.sub(clipped, low), scale), 0.5)});
  return {g.add(g.mul(steps, scale), low)};
}

// Quantised and back in one: the grid follows from the range.
namespace {

/// A list per channel, shaped to meet axis `axis` of input 0.
Value* along_axis(const TfNode& n, GraphBuilder& g, Value* v, std::int64_t axis) {
  if (axis < 0) return v;
  std::vector<std::int64_t> dims(static_cast<std::size_t>(n.rank(0)), 1);
  if (axis >= n.rank(0)) n.unsupported("the axis is out of range");
  dims[static_cast<std::size_t>(axis)] = -1;
  return g.reshape(v, dims);
}

Values quantized_and_back(const TfNode& n, GraphBuilder& g, Value* low, Value* high, std::int64_t bits) {
  if (bits < 2 || bits > 16) n.unsupported("the number of bits");
  const bool is_signed = n.flag("signed_input", true);
  const double half = std::exp2(static_cast<double>(bits - 1));
  const double first = !is_signed ? 0 : n.flag("narrow_range", false) ? 1 - half : -half;
  const double last = is_signed ? half - 1 : 2 * half - 1;
  const DType t = n.elem(0);
  const std::int64_t axis = n.integer("axis", -1);
  if (!low) {
    std::vector<std::int64_t> axes;
    for (std::int64_t i = 0; i < n.rank(0); ++i)
      if (i != axis) axes.push_back(i);
    Value* along = g.ints(axes);
    low = g.op("ReduceMin", {n.input(0), along}, {{"keepdims", axis >= 0}});
    high = g.op("ReduceMax", {n.input(0), along}, {{"keepdims", axis >= 0}});
  } else {
    low = along_axis(n, g, low, axis);
    high = along_axis(n, g, high, axis);
  }
  // The side that needs the coarser grid decides; the other end moves.
  Value* zero = g.scalar(0, t);
  Value* none = g.scalar(std::numeric_limits<float>::max(), t);
  const auto scale_of = [&](double end, Value* range) {
    if (end == 0) return none;
    Value* counts = g.op("Greater", {g.mul(range, end), zero});
    Value* safe = g.where(counts, range, g.scalar(1, t));
    return g.where(counts, g.div(end, safe), none);
  };
  Value* from_low = scale_of(first, low);
  Value* from_high = scale_of(last, high);
  Value* low_decides = g.op("Less", {from_low, from_high});
  Value* scale = g.op("Min", {from_low, from_high});
  Value* high_step = g.div(high, last);
  Value* step = first == 0 ? high_step : g.where(low_decides, g.div(low, first), high_step);
  Value* bottom = g.mul(step, first);
  Value* above = g.op("Max", {n.input(0), first == 0 ? bottom : g.where(low_decides, low, bottom)});
  Value* clipped = g.op("Min", {above, g.where(low_decides, g.mul(step, last), high)});
  Value* scaled = g.mul(clipped, scale);
  const bool is_up = n.text("round_mode", "HALF_TO_EVEN") == "HALF_UP";
  Value* whole = is_up ? g.op("Floor", {g.add(scaled, 0.5)}) : g.op("Round", {scaled});
  return {g.mul(whole, step)};
}

std::int64_t given_bits(const TfNode& n) { return n.input_count() > 3 ? n.need_int(3) : n.integer("num_bits", 8); }

}  // namespace

Values quantize_and_dequantize(const TfNode& n, GraphBuilder& g) {
  const bool is_given = n.flag("range_given", false);
  return quantized_and_back(n, g, is_given ? n.input(1) : nullptr, is_given ? n.input(2) : nullptr, given_bits(n));
}
Values quantize_and_dequantize_v3(const TfNode& n, GraphBuilder& g) {
  const bool is_given = n.flag("range_given", true);
  return quantized_and_back(n, g, is_given ? n.input(1) : nullptr, is_given ? n.input(2) : nullptr, given_bits(n));
}

Values dequantize(const TfNode& n, GraphBuilder& g) {
  const DType t = n.elem(0);
  if (!is_integer(t) || bits_of(t) > 16) n.unsupported("quantised numbers of this type");
  const std::string mode = n.text("mode", "MIN_COMBINED");
  const bool is_signed = is_signed_integer(t);
  const double all = std::exp2(static_cast<double>(bits_of(t))), half = all / 2;
  Value* x = g.cast(n.input(0), DType::f32);
  const std::int64_t axis = n.integer("axis", -1);
  Value* low = along_axis(n, g, n.input(1), axis);
  Value* high = along_axis(n, g, n.input(2), axis);
  Value* y = nullptr;
  if (mode == "SCALED") {
    const bool is_narrow = n.flag("narrow_range", false);
    const double last = is_signed ? half - 1 : all - 1, first = !is_signed ? 0 : is_narrow ? 1 - half : -half;
    Value* scale = g.div(high, last);
    if (is_signed) scale = g.op("Max", {g.div(low, first), scale});
    y = g.mul(x, scale);
  } else {
    // MIN_FIRST starts at the least number, MIN_COMBINED moves signed ones by half: both come to this.
    Value* scale = g.div(g.sub(high, low), all - 1);
    Value* moved = is_signed ? g.add(x, half) : x;
    y = g.add(g.mul(moved, scale), low);
    if (mode != "MIN_COMBINED" && mode != "MIN_FIRST") n.unsupported("mode " + mode);
  }
  return {g.cast(y, n.dtype("dtype", DType::f32))};
}

Values quantize_v2(const TfNode& n, GraphBuilder& g) {
  const DType t = n.dtype("T", DType::u8);
  if (!is_integer(t) || bits_of(t) > 16) n.unsupported("quantised numbers of this type");
  const std::string mode = n.text("mode", "MIN_COMBINED");
  if (n.integer("axis", -1) >= 0) n.unsupported("ranges per channel");
  const bool is_signed = is_signed_integer(t);
  const double all = std::exp2(static_cast<double>(bits_of(t))), half = all / 2;
  const double last = is_signed ? half - 1 : all - 1;
  Value *x = n.input(0), *low = n.input(1), *high = n.input(2);
  // The range is made wide enough, and holds zero.
  const double least = n.real("ensure_minimum_range", 0.01);
  low = g.op("Min", {low, g.scalar(0, DType::f32)});
  Value* sizes = g.op("Max", {g.op("Abs", {low}), g.op("Abs", {high})});
  Value* gap = g.mul(g.op("Max", {sizes, g.scalar(1, DType::f32)}), least);
  high = g.op("Max", {high, g.add(low, gap)});
  high = g.op("Max", {high, g.scalar(0, DType::f32)});
  Value* q = nullptr;
  if (mode == "SCALED") {
    const double first = !is_signed ? 0 : n.flag("narrow_range", false) ? 1 - half : -half;
    Value* none = g.scalar(std::numeric_limits<float>::max(), DType::f32);
    Value* is_positive = g.op("Greater", {high, g.scalar(0, DType::f32)});
    Value* by_high = g.where(is_positive, g.div(last, g.where(is_positive, high, none)), none);
    Value* scale = by_high;
    if (is_signed) {
      Value* is_negative = g.op("Less", {low, g.scalar(0, DType::f32)});
      Value* by_low = g.where(is_negative, g.div(first, g.where(is_negative, low, none)), none);
      scale = g.op("Min", {by_high, by_low});
    }
    low = is_signed ? g.div(first, scale) : g.mul(low, 0.0);
    high = g.div(last, scale);
    Value* inside = g.op("Min", {g.op("Max", {x, low}), high});
    const bool is_even = n.text("round_mode", "HALF_AWAY_FROM_ZERO") == "HALF_TO_EVEN";
    Value* scaled = g.mul(inside, scale);
    Value* size = g.op("Floor", {g.add(g.op("Abs", {scaled}), 0.5)});
    q = is_even ? g.op("Round", {scaled}) : g.mul(size, g.op("Sign", {scaled}));
  } else if (mode == "MIN_COMBINED") {
    Value* scale = g.div(all - 1, g.sub(high, low));
    Value* inside = g.op("Min", {g.op("Max", {x, low}), high});
    Value* scaled = g.mul(g.sub(inside, low), scale);
    if (is_signed) scaled = g.sub(scaled, half);
    Value* size = g.op("Floor", {g.add(g.op("Abs", {scaled}), 0.5)});
    q = g.mul(size, g.op("Sign", {scaled}));
  } else {
    n.unsupported("mode " + mode);
  }
  return {g.cast(q, t), low, high};
}

}  // namespace ingot::frontends::tensorflow
