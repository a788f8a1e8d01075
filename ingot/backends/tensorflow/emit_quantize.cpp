// Quantised tensors as floats on their grid: TensorFlow's FakeQuant operators.
#include <algorithm>
#include <cmath>

#include "ingot/backends/tensorflow/quantized.h"
#include "ingot/backends/tensorflow/rows.h"
#include "ingot/ops/infer.h"

namespace ingot::backends::tensorflow {
namespace {

/// The step between neighbours as TensorFlow finds it.
float scale_between(float low, float high, float steps) { return (high - low) / steps; }

/// Ends of a range whose scale is the wished one, to the last bit where floats have such ends.
std::pair<float, float> range_for(float scale, float zero, float steps) {
  const float low = -zero * scale, high = (steps - zero) * scale;
  for (const float towards : {HUGE_VALF, -HUGE_VALF}) {
    float moved_low = low, moved_high = high;
    for (int i = 0; i < 4; ++i) {
      if (scale_between(moved_low, moved_high, steps) == scale) return {moved_low, moved_high};
      // The end that is farther from zero has the coarser digits; zero itself stays.
      (high > -low ? moved_high : moved_low) = std::nextafter(high > -low ? moved_high : moved_low, towards);
    }
  }
  return {low, high};
}

/// Operators that hand elements on without looking at them.
bool only_moves(const Node& n) {
  return n.is("Transpose") || n.is("Reshape") || n.is("Flatten") || n.is("Squeeze") || n.is("Unsqueeze") ||
         n.is("Identity");
}

bool is_scale_of_one(const FakeGrid& g) { return g.scales.size() == 1; }

/// Whether all that reads a quantised value takes it back to floats by the same parameters.
bool is_read_as_floats(const Value* v, const FakeGrid& grid) {
  return std::ranges::all_of(v->uses(), [&](const Use& use) {
    if (!use.node) return false;
    if (use.node->is("DequantizeLinear")) return use.index == 0 && fake_grid(*use.node) == grid;
    return use.index == 0 && is_scale_of_one(grid) && only_moves(*use.node) &&
           is_read_as_floats(use.node->output(0), grid);
  });
}

bool is_fake(const Node& quantize) {
  const auto grid = fake_grid(quantize);
  return grid && quantize.input(0)->type.elem == DType::f32 && is_read_as_floats(quantize.output(0), *grid);
}

/// The QuantizeLinear that a DequantizeLinear undoes.
const Node* quantizer_of(const Node& dequantize) {
  const Node* n = dequantize.input(0) ? dequantize.input(0)->producer() : nullptr;
  while (n && only_moves(*n)) n = n->input(0) ? n->input(0)->producer() : nullptr;
  return n && n->is("QuantizeLinear") ? n : nullptr;
}

/// Weights of products are what quantised networks are made of; other constants are floats as well.
bool is_weight(const Use& use) {
  if (!use.node || use.index != 1) return false;
  if (use.node->is("MatMul") || use.node->is("Gemm")) return true;
  // Convolutions are of another domain once their layout is chosen.
  return use.node->op == "Conv" &&
         std::ranges::all_of(use.node->attributes.ints_or("dilations", {}), [](std::int64_t d) { return d == 1; });
}

std::int64_t least_of(DType type) { return is_signed_integer(type) ? -(std::int64_t{1} << (bits_of(type) - 1)) : 0; }

ingot::Tensor floats_of(const ingot::Tensor& stored, const FakeGrid& grid, const std::vector<double>& zeros) {
  std::int64_t inner = 1;
  if (grid.axis >= 0)
    for (std::size_t i = static_cast<std::size_t>(grid.axis) + 1; i < stored.dims().size(); ++i)
      inner *= stored.dims()[i];
  const std::vector<double> whole = stored.to_doubles();
  std::vector<float> floats(whole.size());
  for (std::size_t i = 0; i < whole.size(); ++i) {
    const std::size_t channel = (i / static_cast<std::size_t>(inner)) % grid.scales.size();
    floats[i] = static_cast<float>(whole[i] - zeros[zeros.size() == 1 ? 0 : channel]) * grid.scales[channel];
  }
  return Tensor::of<float>(stored.dims(), floats);
}

std::vector<double> zeros_of(const Node& node, std::size_t count) {
  const Tensor* zero = node.input(2) ? ops::constant_of(node.input(2)) : nullptr;
  return zero ? zero->to_doubles() : std::vector<double>(count);
}

}  // namespace

std::optional<FakeGrid> fake_grid(const Node& node) {
  const Tensor* scale = node.input(1) ? ops::constant_of(node.input(1)) : nullptr;
  const bool quantizes = node.is("QuantizeLinear");
  const Value* stored = quantizes ? node.output(0) : node.input(0);
  if (!scale || scale->dtype() != DType::f32 || scale->rank() > 1 || !node.input(0)->type.shape ||
      (node.input(2) && !ops::constant_of(node.input(2))) || node.attributes.int_or("block_size", 0))
    return std::nullopt;
  FakeGrid grid;
  grid.type = stored->type.elem;
  if (!is_integer(grid.type) || bits_of(grid.type) > 16) return std::nullopt;
  grid.scales = scale->to_vector<float>();
  if (scale->rank() == 1 && scale->size() != 1) {
    const auto rank = static_cast<std::int64_t>(node.input(0)->type.shape->size());
    grid.axis = node.attributes.int_or("axis", 1);
    if (grid.axis < 0) grid.axis += rank;
    if (grid.axis < 0 || grid.axis >= rank) return std::nullopt;
  }
  const std::vector<double> zeros = zeros_of(node, grid.scales.size());
  if (zeros.size() != grid.scales.size()) return std::nullopt;
  const auto steps = static_cast<float>(std::exp2(bits_of(grid.type)) - 1);
  for (std::size_t i = 0; i < zeros.size(); ++i) {
    if (!std::isnormal(grid.scales[i]) || grid.scales[i] < 0) return std::nullopt;
    const auto zero = static_cast<float>(zeros[i] - static_cast<double>(least_of(grid.type)));
    const auto [low, high] = range_for(grid.scales[i], zero, steps);
    grid.lows.push_back(low);
    grid.highs.push_back(high);
  }
  return grid;
}

bool holds_weights(const Node& dequantize) {
  return dequantize.is("DequantizeLinear") && ops::constant_of(dequantize.input(0)) && fake_grid(dequantize) &&
         dequantize.output(0)->type.elem == DType::f32 && std::ranges::all_of(dequantize.output(0)->uses(), is_weight);
}

std::optional<QuantizedWeights> quantized_weights(const Value* value) {
  const Node* node = value ? value->producer() : nullptr;
  if (!node || !holds_weights(*node)) return std::nullopt;
  const FakeGrid grid = *fake_grid(*node);
  const std::vector<double> zeros = zeros_of(*node, grid.scales.size());
  return QuantizedWeights{floats_of(*ops::constant_of(node->input(0)), grid, zeros), grid};
}

Ref fake_quantized(Emitter& e, Ref x, std::size_t rank, const FakeGrid& grid) {
  const bool is_single = grid.axis < 0;
  const auto count = static_cast<std::int64_t>(grid.scales.size());
  const auto list = [&](const std::vector<float>& values) {
    return e.constant(Tensor::of<float>(is_single ? Dims{} : Dims{count}, values));
  };
  AttrArgs attrs{{"num_bits", static_cast<std::int64_t>(bits_of(grid.type))}};
  // FakeQuant tells ranges, not types: this is for who reads the graph to make integers of it.
  attrs.emplace_back("_quantized_type", grid.type);
  const auto steps = static_cast<float>(std::exp2(bits_of(grid.type)) - 1);
  for (std::size_t i = 0; i < grid.scales.size(); ++i)
    if (scale_between(grid.lows[i], grid.highs[i], steps) != grid.scales[i]) {
      attrs.emplace_back("_quantized_scale", grid.scales);
      break;
    }
  if (is_single) return e.add("FakeQuantWithMinMaxVars", {x, list(grid.lows), list(grid.highs)}, attrs);
  const auto last = static_cast<std::int64_t>(rank) - 1;
  const Ints perm = swapped_with_last(rank, grid.axis);
  if (grid.axis != last) x = transposed(e, x, perm);
  const Ref y = e.add("FakeQuantWithMinMaxVarsPerChannel", {x, list(grid.lows), list(grid.highs)}, attrs);
  return grid.axis == last ? y : transposed(e, y, perm);
}

void emit_quantize(NodeOut& n) { n.set(fake_quantized(n.e, n.in(0), n.rank(), *fake_grid(n.node))); }
Refused refuse_quantize(const Node& n, Dialect) {
  if (is_fake(n)) return {};
  return Refusal{Kind::structure, "TensorFlow quantises to floats on a grid"};
}

void emit_dequantize(NodeOut& n) {
  if (quantizer_of(n.node)) return n.e.bind(n.node.output(0), n.in(0));  // floats on the grid already
  const QuantizedWeights w = *quantized_weights(n.node.output(0));
  n.set(fake_quantized(n.e, n.e.constant(w.floats, n.node.input(0)->name()), w.floats.dims().size(), w.grid));
}
Refused refuse_dequantize(const Node& n, Dialect) {
  const Node* quantizer = quantizer_of(n);
  if ((quantizer && is_fake(*quantizer)) || holds_weights(n)) return {};
  return Refusal{Kind::structure, "TensorFlow quantises to floats on a grid"};
}

}  // namespace ingot::backends::tensorflow
