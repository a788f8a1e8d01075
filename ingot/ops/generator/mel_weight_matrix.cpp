// MelWeightMatrix: triangular filters, evenly spaced on the mel scale, as a matrix over the bins of a spectrum.
#include <limits>

#include "ingot/ops/math/type_attribute.h"
#include "ingot/ops/steps.h"

namespace ingot::ops {
namespace {

Dim only_number(const InferContext& c, std::size_t i) {
  const auto known = c.ints(i);
  return known && known->size() == 1 ? known->front() : Dim();
}

void infer(InferContext& c) {
  out_elem_from_attribute(c, "output_datatype", DType::f32);
  for (std::size_t i = 0; i < 5; ++i)
    if (const Shape* s = c.shape(i)) c.require(may_equal(product(*s), 1), "an input is not one number");
  const Dim bands = only_number(c, 0), length = only_number(c, 1);
  c.require(!bands.is_known() || bands.value() >= 0, "num_mel_bins is negative");
  c.require(!length.is_known() || length.value() >= 0, "dft_length is negative");
  c.out_shape(0, {length.is_unknown() ? c.data_dim(0, 0) : floor_div(length, 2) + 1,
                  bands.is_unknown() ? c.data_dim(0, 1) : bands});
}

constexpr double kMelFactor = 2595, kMelCorner = 700;  // Hz

Value* to_mel(GraphBuilder& g, Value* hertz) {
  constexpr double kLog10 = 2.30258509299404568402;
  return g.mul(g.op("Log", {g.add(g.div(hertz, kMelCorner), 1)}), kMelFactor / kLog10);
}

Value* count_up_to(GraphBuilder& g, Value* end) {
  return g.op("Range", {g.scalar(0, DType::f64), end, g.scalar(1, DType::f64)});
}

Values decompose(DecomposeContext& c) {
  const std::int64_t to = c.attr("output_datatype", static_cast<std::int64_t>(DType::f32));
  if (!is_valid_dtype(to)) return {};
  for (std::size_t i = 0; i < 5; ++i)
    if (!c.has(i)) return {};
  GraphBuilder& g = c.g;
  Value* numbers[5];
  for (std::size_t i = 0; i < 5; ++i) numbers[i] = g.cast(c.in(i), DType::f64);
  Value *length = numbers[1], *edge_count = g.add(numbers[0], 2);

  // The bins in which the bands begin, peak and end; each band's peak is where its neighbours end and begin.
  Value* lowest = to_mel(g, numbers[3]);
  Value* step = g.div(g.sub(to_mel(g, numbers[4]), lowest), edge_count);
  Value* mels = g.add(g.mul(count_up_to(g, edge_count), step), lowest);
  Value* hertz = g.mul(g.sub(g.op("Pow", {g.scalar(10, DType::f64), g.div(mels, kMelFactor)}), 1), kMelCorner);
  Value* bins = g.op("Floor", {g.div(g.mul(g.add(length, 1), hertz), numbers[2])});
  const auto run = [&](std::int64_t first, std::int64_t last) {
    return g.op("Slice", {bins, g.ints({first}), g.ints({last})});
  };
  Value *begin = run(0, -2), *peak = run(1, -1), *end = run(2, std::numeric_limits<std::int64_t>::max());

  Value* bin = g.unsqueeze(count_up_to(g, g.add(g.op("Floor", {g.div(length, 2)}), 1)), {1});
  Value *width_up = g.sub(peak, begin), *width_down = g.sub(end, peak);
  Value* zero = g.scalar(0, DType::f64);
  const auto at_least = [&](Value* a, Value* b) { return g.op("GreaterOrEqual", {a, b}); };
  Value* is_up = g.op("And", {at_least(bin, begin), at_least(peak, bin)});
  Value* is_down = g.op("And", {at_least(bin, peak), g.op("Greater", {end, bin})});
  Value* up = g.where(is_up, g.div(g.sub(bin, begin), width_up), zero);
  Value* single = g.cast(g.op("Equal", {bin, peak}), DType::f64);
  Value* rising = g.where(g.op("Equal", {width_up, zero}), single, up);
  Value* weights = g.where(is_down, g.div(g.sub(end, bin), width_down), rising);
  return {g.cast(weights, static_cast<DType>(to))};
}

}  // namespace

constinit const OpDef defs::MelWeightMatrix = {
    .name = "MelWeightMatrix",
    .infer = infer,
    .decompose = decompose,
};

}  // namespace ingot::ops
