// Fake quantisation: rounding to the grid that a quantised tensor would have.
#include <cmath>

#include "ingot/frontends/tensorflow/node.h"

namespace ingot::frontends::tensorflow {
namespace {

struct Grid {
  double scale, zero, low, high;  // low and high in real numbers
};

/// The range moved a little so that zero is on the grid.
Grid nudged(double min, double max, double first, double last) {
  const float scale = static_cast<float>((max - min) / (last - first));
  const float from_min = static_cast<float>(first) - static_cast<float>(min) / scale;
  const float zero = from_min < first  ? static_cast<float>(first)
                     : from_min > last ? static_cast<float>(last)
                                       : std::round(from_min);
  return {scale, zero, (static_cast<float>(first) - zero) * scale, (static_cast<float>(last) - zero) * scale};
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
  const Dims dims = min.size() == 1 ? Dims{} : Dims{static_cast<std::int64_t>(min.size())};
  Value* scale = g.constant(Tensor::of<float>(dims, scales));
  Value* low = g.constant(Tensor::of<float>(dims, lows));
  Value* above = g.op("Max", {n.input(0), low});
  Value* clipped = g.op("Min", {above, g.constant(Tensor::of<float>(dims, highs))});
  if (bits == 8) {
    std::vector<std::uint8_t> points;
    for (const float z : zeros) points.push_back(static_cast<std::uint8_t>(z));
    Value* zero = g.constant(Tensor::of<std::uint8_t>(dims, points));
    Attrs attrs;
    if (!dims.empty()) attrs.emplace_back("axis", n.rank(0) - 1);
    Value* q = g.op("QuantizeLinear", {clipped, scale, zero}, attrs);
    return {g.op("DequantizeLinear", {q, scale, zero}, attrs)};
  }
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

}  // namespace ingot::frontends::tensorflow
