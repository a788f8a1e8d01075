// Pools and rearrangements of blocks over data with channels last.
#include <algorithm>
#include <limits>

#include "ingot/backends/tflite/rows.h"
#include "ingot/backends/tflite/spatial.h"
#include "ingot/passes/layout/layout.h"

namespace ingot::backends::tflite {
namespace {

using Op = BuiltinOperator;
using fmt_tflite::Padding;

/// For each window, its size over the number of elements that count: what turns a mean with zeros into ONNX's.
Tensor corrections(const Sliding& s, const Shape& x, const Shape& y, const Ints& explicit_after, bool counts_padding) {
  std::vector<std::vector<float>> factors;  // per axis
  for (std::size_t i = 0; i < s.rank(); ++i) {
    std::vector<float> axis;
    const std::int64_t in = x[i + 1].value();
    const std::int64_t low = counts_padding ? -s.before[i] : 0, high = counts_padding ? in + explicit_after[i] : in;
    for (std::int64_t o = 0; o < y[i + 1].value(); ++o) {
      const std::int64_t start = o * s.strides[i] - s.before[i], end = start + s.kernel[i];
      const std::int64_t count = std::min(end, high) - std::max(start, low);
      axis.push_back(static_cast<float>(s.kernel[i]) / static_cast<float>(std::max<std::int64_t>(count, 1)));
    }
    factors.push_back(std::move(axis));
  }
  if (s.rank() == 1) factors.insert(factors.begin(), std::vector<float>{1});
  std::vector<float> all;
  for (const float a : factors[0])
    for (const float b : factors[1]) all.push_back(a * b);
  return Tensor::of<float>(
      {1, static_cast<std::int64_t>(factors[0].size()), static_cast<std::int64_t>(factors[1].size()), 1}, all);
}

}  // namespace

Refused refuse_pool(const Node& n) {
  if (Refused why = needs_rank(n)) return why;
  const Shape& x = *n.input(0)->type.shape;
  if (x.size() != 3 && x.size() != 4) return Refusal{Kind::dimensions, "TFLite pools 2 spatial dimensions"};
  for (const std::int64_t d : n.attributes.ints_or("dilations", {}))
    if (d != 1) return Refusal{Kind::attribute_value, "a dilated pool"};
  if (n.output(1)) return Refusal{Kind::structure, "the places of the maxima are asked for"};
  const Ints pads = n.attributes.ints_or("pads", {});
  const bool has_pads = std::ranges::any_of(pads, [](std::int64_t p) { return p != 0; });
  if (n.op == "AveragePool" && n.attributes.int_or("ceil_mode", 0) && has_pads)
    return Refusal{Kind::attribute_value, "ceil_mode with padding: a last window may lie in the padding alone"};
  const bool is_plain =
      !n.attributes.int_or("ceil_mode", 0) && n.attributes.string_or("auto_pad", "NOTSET") != "SAME_LOWER" && !has_pads;
  for (std::size_t i = 2; i < x.size(); ++i)
    if (!is_plain && !x[i].is_known()) return Refusal{Kind::unknown_size, "padding over sizes that are not known"};
  return needs_types(n, {DType::f32});
}

void emit_pool(NodeOut& n) {
  const bool is_max = n.node.op == "MaxPool";
  const Ints kernel = n.node.attributes.ints_or("kernel_shape", {});
  const Sliding s = sliding(n.node, kernel);
  const Shape& x_shape = n.shape();
  const Ints pads = n.node.attributes.ints_or("pads", Ints(2 * s.rank(), 0));
  Ints explicit_after(pads.begin() + static_cast<std::ptrdiff_t>(s.rank()), pads.end());
  if (n.node.attributes.string_or("auto_pad", "NOTSET").starts_with("SAME")) explicit_after = s.after;
  Image x = image_of(n, n.in(0), x_shape);
  Padding padding = Padding::VALID;
  const bool counts_padding = !is_max && n.attr("count_include_pad", 0);
  bool corrects = false;
  if (!s.is_valid()) {
    if (!counts_padding && s.is_same(x_shape)) {
      padding = Padding::SAME;
    } else {
      x = padded(n, x, s.before, s.after,
                 is_max ? std::optional(static_cast<double>(std::numeric_limits<float>::lowest())) : std::nullopt);
      corrects = !is_max && !(counts_padding && explicit_after == s.after);
    }
  }
  const Op op = is_max ? Op::MAX_POOL_2D : Op::AVERAGE_POOL_2D;
  Options options(op);
  const std::size_t w = s.rank() - 1;
  options.set("padding", padding).set("stride_w", s.strides[w]).set("stride_h", s.rank() == 1 ? 1 : s.strides[0]);
  options.set("filter_width", kernel[w]).set("filter_height", s.rank() == 1 ? 1 : kernel[0]);
  ImageResult y(n);
  const std::int32_t mean = corrects ? n.e.temporary(DType::f32, y.shape()) : y.tensor();
  n.e.add(op, {x.tensor}, {mean}, options);
  if (corrects) {
    const std::int32_t factors = n.e.constant(corrections(s, x_shape, n.out_shape(), explicit_after, counts_padding));
    n.e.add(Op::MUL, {mean, factors}, {y.tensor()});
  }
  y.finish();
}

Refused refuse_depth_to_space(const Node& n) {
  const auto& x = n.input(0)->type.shape;
  if (n.attributes.string_or("mode", "DCR") != "DCR" && (!x || x->size() != 4 || !(*x)[1].is_known()))
    return Refusal{Kind::unknown_size, "mode CRD over channels that are not known"};
  return n.input(0)->type.shape ? needs_types(n, {DType::f32, DType::i32, DType::i64, DType::i8, DType::u8})
                                : needs_rank(n);
}
void emit_depth_to_space(NodeOut& n) {
  Options options(Op::DEPTH_TO_SPACE);
  const std::int64_t block = n.attr("blocksize", 1);
  options.set("block_size", block);
  std::int32_t x = n.in(0);
  if (n.attr("mode", "DCR") != "DCR") {
    // TFLite's channels run over places in the block first, those of CRD over the new channels first.
    const std::int64_t channels = n.shape().back().value() / (block * block);
    Ints picked;
    for (std::int64_t place = 0; place < block * block; ++place)
      for (std::int64_t c = 0; c < channels; ++c) picked.push_back(c * block * block + place);
    const std::int32_t indices = n.e.ints(picked), sorted = n.e.temporary(n.elem(), n.shape());
    Options gather(Op::GATHER);
    gather.set("axis", 3);
    n.e.add(Op::GATHER, {x, indices}, {sorted}, gather);
    x = sorted;
  }
  n.e.add(Op::DEPTH_TO_SPACE, {x}, {n.out()}, options);
}

Refused refuse_space_to_depth(const Node& n) {
  return n.input(0)->type.shape ? needs_types(n, {DType::f32, DType::i32, DType::i64, DType::i8, DType::u8})
                                : needs_rank(n);
}
void emit_space_to_depth(NodeOut& n) {
  Options options(Op::SPACE_TO_DEPTH);
  options.set("block_size", n.attr("blocksize", 1));
  n.e.add(Op::SPACE_TO_DEPTH, {n.in(0)}, {n.out()}, options);
}

Refused refuse_lrn(const Node& n) {
  if (n.attributes.int_or("size", 1) % 2 == 0) return Refusal{Kind::attribute_value, "an even size"};
  if (!n.input(0)->type.shape || n.input(0)->type.shape->size() != 4)
    return Refusal{Kind::dimensions, "TFLite normalises 4 dimensions"};
  return needs_types(n, {DType::f32});
}
void emit_lrn(NodeOut& n) {
  const std::int64_t size = n.attr("size", 1);
  Options options(Op::LOCAL_RESPONSE_NORMALIZATION);
  options.set("radius", (size - 1) / 2).set("bias", n.attr("bias", 1.f)).set("beta", n.attr("beta", 0.75f));
  options.set("alpha", n.attr("alpha", 0.0001f) / static_cast<float>(size));
  n.e.add(Op::LOCAL_RESPONSE_NORMALIZATION, {n.in(0)}, {n.out()}, options);
}

}  // namespace ingot::backends::tflite
