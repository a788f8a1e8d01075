// Pools and rearrangements of blocks over data with channels last.
#include <algorithm>
#include <limits>

#include "ingot/backends/tensorflow/rows.h"
#include "ingot/backends/tensorflow/spatial.h"
#include "ingot/ops/infer.h"

namespace ingot::backends::tensorflow {
namespace {

/// For each window, its size over the number of elements that count: what turns a mean with zeros into ONNX's.
Tensor corrections(const Sliding& s, const Shape& x, const Shape& y, const Ints& explicit_after, bool counts_padding) {
  Ints dims{1};
  if (s.rank() == 1) dims.push_back(1);
  std::vector<double> all{1};
  for (std::size_t i = 0; i < s.rank(); ++i) {
    const std::int64_t in = x[i + 1].value(), out = y[i + 1].value();
    const std::int64_t low = counts_padding ? -s.before[i] : 0, high = counts_padding ? in + explicit_after[i] : in;
    std::vector<double> next;
    for (const double outer : all)
      for (std::int64_t o = 0; o < out; ++o) {
        const std::int64_t start = o * s.strides[i] - s.before[i], end = start + s.kernel[i];
        const std::int64_t count = std::min(end, high) - std::max(start, low);
        next.push_back(outer * static_cast<double>(s.kernel[i]) /
                       static_cast<double>(std::max<std::int64_t>(count, 1)));
      }
    all = std::move(next);
    dims.push_back(out);
  }
  dims.push_back(1);
  return Tensor::of<float>(dims, std::vector<float>(all.begin(), all.end()));
}

double lowest_of(DType type) {
  switch (type) {
    case DType::i8:
      return -128;
    case DType::u8:
      return 0;
    case DType::f16:
      return -65504;
    default:
      return static_cast<double>(std::numeric_limits<float>::lowest());
  }
}

}  // namespace

Refused refuse_pool(const Node& n, Dialect) {
  if (Refused why = needs_rank(n)) return why;
  const Shape& x = *n.input(0)->type.shape;
  if (x.size() < 3 || x.size() > 5 || !n.output(0)->type.shape)
    return Refusal{Kind::dimensions, "TensorFlow pools 1 to 3 spatial dimensions"};
  const bool is_max = n.op == "MaxPool";
  const DType type = n.input(0)->type.elem;
  const char* word = x.size() == 5 ? (is_max ? "MaxPool3D" : "AvgPool3D") : (is_max ? "MaxPool" : "AvgPool");
  if (!takes(word, type)) return Refusal{Kind::element_type, "TensorFlow does not pool this type"};
  for (const std::int64_t d : n.attributes.ints_or("dilations", {}))
    if (d != 1) return Refusal{Kind::attribute_value, "a dilated pool"};
  if (n.output(1)) return Refusal{Kind::structure, "the places of the maxima are asked for"};
  const Ints pads = n.attributes.ints_or("pads", {});
  const bool has_pads = std::ranges::any_of(pads, [](std::int64_t p) { return p != 0; });
  if (!is_max && n.attributes.int_or("ceil_mode", 0) && has_pads)
    return Refusal{Kind::attribute_value, "ceil_mode with padding: a last window may lie in the padding alone"};
  const Shape& y = *n.output(0)->type.shape;
  if (!is_max && is_fixed(y) && !has_few_places(Shape(y.begin() + 2, y.end())) &&
      (has_pads || n.attributes.int_or("ceil_mode", 0)))
    return Refusal{Kind::dimensions, "the mean over so many windows that reach into padding"};
  const bool is_plain =
      !n.attributes.int_or("ceil_mode", 0) && n.attributes.string_or("auto_pad", "NOTSET") != "SAME_LOWER" && !has_pads;
  for (std::size_t i = 2; i < x.size(); ++i)
    if (!is_plain && !x[i].is_known() && !(is_max && !n.attributes.int_or("ceil_mode", 0) && has_pads))
      return Refusal{Kind::unknown_size, "padding over sizes that are not known"};
  return {};
}

void emit_pool(NodeOut& n) {
  const bool is_max = n.node.op == "MaxPool";
  const Ints kernel = n.node.attributes.ints_or("kernel_shape", {});
  const Sliding s = sliding(n.node, kernel);
  const Ints pads = n.node.attributes.ints_or("pads", Ints(2 * s.rank(), 0));
  Ints explicit_after(pads.begin() + static_cast<std::ptrdiff_t>(s.rank()), pads.end());
  if (n.attr("auto_pad", "NOTSET").starts_with("SAME")) explicit_after = s.after;
  const std::size_t rank = n.rank();
  Ref x = image_of(n, n.in(0), rank);
  const char* padding = "VALID";
  const bool counts_padding = !is_max && n.attr("count_include_pad", 0);
  bool corrects = false;
  if (!s.is_valid()) {
    if (!counts_padding && is_said_same(n, s)) {
      padding = "SAME";
    } else {
      x = padded(n, x, s.before, s.after, is_max ? std::optional(lowest_of(n.elem())) : std::nullopt);
      corrects = !is_max && !(counts_padding && explicit_after == s.after);
    }
  }
  const char* word = s.rank() == 3 ? (is_max ? "MaxPool3D" : "AvgPool3D") : (is_max ? "MaxPool" : "AvgPool");
  Ref y = n.e.add(word, {x},
                  {{"ksize", with_ends(kernel)},
                   {"strides", with_ends(s.strides)},
                   {"padding", padding},
                   {"data_format", s.rank() == 3 ? "NDHWC" : "NHWC"}});
  if (corrects) {
    const Ref factors = n.e.constant(corrections(s, n.shape(), n.out_shape(), explicit_after, counts_padding));
    y = n.e.add("Mul", {y, n.cast(factors, n.elem())});
  }
  n.set(from_image(n, y, rank));
}

Refused refuse_depth_to_space(const Node& n, Dialect dialect) {
  if (Refused why = needs_rank(n)) return why;
  const Shape& x = *n.input(0)->type.shape;
  const bool is_known = x[1].is_known() && x[3].is_known() && (x[0].is_known() || x[2].is_known());
  if (dialect == Dialect::tfjs && !is_float(n.input(0)->type.elem) && !is_known)
    return Refusal{Kind::unknown_size, "TF.js's fast backend has it of floats; others need sizes that are known"};
  if (n.attributes.string_or("mode", "DCR") != "DCR" && !has_few_places({(*n.input(0)->type.shape)[1]}))
    return Refusal{Kind::unknown_size, "mode CRD over channels that are not known"};
  return {};
}

void emit_depth_to_space(NodeOut& n) {
  const std::int64_t block = n.attr("blocksize", 1);
  Ref x = n.in(0);
  if (n.attr("mode", "DCR") != "DCR") {
    // TensorFlow's channels run over places in the block first, those of CRD over the new channels first.
    const std::int64_t channels = n.shape().back().value() / (block * block);
    Ints picked;
    for (std::int64_t place = 0; place < block * block; ++place)
      for (std::int64_t c = 0; c < channels; ++c) picked.push_back(c * block * block + place);
    x = n.e.add("GatherV2", {x, n.e.ints(picked), n.e.index(3)});
  }
  if (block == 1) return n.set(n.e.add("Identity", {x}));
  if (n.e.is_tfjs() && !is_float(n.elem())) {  // whose fast backend calls all elements floats
    const std::int64_t width = n.shape()[2].value(), depth = n.shape()[3].value();
    Ints sizes;
    for (const Dim& d : n.out_shape()) sizes.push_back(d.as_int().value_or(-1));
    return n.set(
        reshaped(n.e, transposed(n.e, reshaped(n.e, x, {-1, width, block, depth / block}), {0, 2, 1, 3}), sizes));
  }
  n.set(n.e.add("DepthToSpace", {x}, {{"block_size", block}, {"data_format", "NHWC"}}));
}

/// By moving axes: TF.js has no SpaceToDepth.
Ref moved_to_depth(NodeOut& n, std::int64_t block) {
  Emitter& e = n.e;
  const Ref by = e.ints({block});
  if (is_fixed(n.shape())) {
    const Ints x = dims_of(n.shape());
    const Ref split = reshaped(e, n.in(0), {x[0], x[1] / block, block, x[2] / block, block, x[3]});
    return reshaped(e, transposed(e, split, {0, 1, 3, 2, 4, 5}), dims_of(n.out_shape()));
  }
  const Ref sizes = shape_of(e, n.in(0));
  const auto size = [&](std::int64_t axis) { return part_of_list(e, sizes, axis, 1); };
  const Ref batch = size(0), depth = size(3);
  const Ref rows = e.add("FloorDiv", {size(1), by}), columns = e.add("FloorDiv", {size(2), by});
  const Ref split = e.add("ConcatV2", {batch, rows, by, columns, by, depth, e.index(0)});
  const Ref deep = e.add("Mul", {depth, e.ints({block * block})});
  const Ref moved = transposed(e, e.add("Reshape", {n.in(0), split}), {0, 1, 3, 2, 4, 5});
  return e.add("Reshape", {moved, e.add("ConcatV2", {batch, rows, columns, deep, e.index(0)})});
}

void emit_space_to_depth(NodeOut& n) {
  const std::int64_t block = n.attr("blocksize", 1);
  if (block == 1) return emit_identity(n);
  if (n.e.is_tfjs()) return n.set(moved_to_depth(n, block));
  n.set(n.e.add("SpaceToDepth", {n.in(0)}, {{"block_size", block}, {"data_format", "NHWC"}}));
}

Refused refuse_space_to_depth(const Node& n, Dialect) { return needs_rank(n); }

Refused refuse_lrn(const Node& n, Dialect) {
  if (n.attributes.int_or("size", 1) % 2 == 0) return Refusal{Kind::attribute_value, "an even size"};
  if (!n.input(0)->type.shape || n.input(0)->type.shape->size() != 4)
    return Refusal{Kind::dimensions, "TensorFlow normalises 4 dimensions"};
  return {};
}

void emit_lrn(NodeOut& n) {
  const std::int64_t size = n.attr("size", 1);
  n.set(n.e.add("LRN", {n.in(0)},
                {{"depth_radius", (size - 1) / 2},
                 {"bias", n.attr("bias", 1.f)},
                 {"alpha", n.attr("alpha", 0.0001f) / static_cast<float>(size)},
                 {"beta", n.attr("beta", 0.75f)}}));
}

}  // namespace ingot::backends::tensorflow
