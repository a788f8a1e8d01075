// com.microsoft.nchwc: what ONNX Runtime writes for one kind of machine, with channels in blocks of 8 or 16. Here the
// values between such operators are plain again, with as many channels as the blocks hold; weights are put in order.
#include <algorithm>
#include <cmath>

#include "ingot/ops/vendor/body.h"
#include "ingot/ops/vendor/catalog.h"
#include "ingot/ops/vendor/fused_activation.h"

namespace ingot::ops {
namespace {

/// Weights [out, in, height, width] as the file has them for blocks of `block` channels, in their own order.
std::vector<float> in_order(const std::vector<float>& w, const Dims& dims, std::int64_t block) {
  const std::int64_t outs = dims[0], ins = dims[1], places = dims[2] * dims[3];
  const std::int64_t in_block = ins >= block ? block : 1;  // few inputs come as they are
  std::vector<float> plain(w.size());
  std::size_t at = 0;
  for (std::int64_t o = 0; o < outs; o += block)
    for (std::int64_t i = 0; i < ins; i += in_block)
      for (std::int64_t p = 0; p < places; ++p)
        for (std::int64_t bi = 0; bi < in_block; ++bi)
          for (std::int64_t bo = 0; bo < block; ++bo)
            plain[static_cast<std::size_t>(((o + bo) * ins + i + bi) * places + p)] = w[at++];
  return plain;
}

/// How much the sizes of filters differ. Filters that are put together from parts of several differ less.
double spread(const std::vector<float>& plain, std::int64_t outs) {
  const std::size_t each = plain.size() / static_cast<std::size_t>(outs);
  double sum = 0, squares = 0;
  for (std::size_t o = 0; o < static_cast<std::size_t>(outs); ++o) {
    double energy = 1e-20;
    for (std::size_t k = 0; k < each; ++k)
      energy += static_cast<double>(plain[o * each + k]) * static_cast<double>(plain[o * each + k]);
    sum += std::log(energy);
    squares += std::log(energy) * std::log(energy);
  }
  const auto count = static_cast<double>(outs);
  return squares / count - sum / count * (sum / count);
}

/// What ONNX Runtime takes on this machine, which is all that it goes by.
std::int64_t block_here() {
#if defined(__x86_64__)
  return __builtin_cpu_supports("avx512f") ? 16 : 8;
#else
  return 16;
#endif
}

bool fits(const Dims& dims, std::int64_t block) {
  return dims[0] % block == 0 && (dims[1] < block || dims[1] % block == 0);
}

bool is_blocked(const Tensor* weight) {
  return weight && weight->rank() == 4 && weight->dtype() == DType::f32 && weight->size() > 0 &&
         fits(weight->dims(), 8);
}

/// The file does not say how large blocks are: sizes may tell, else all filters together, else the machine.
std::int64_t block_in(const Graph& graph) {
  double of_8 = 0, of_16 = 0;
  for (const Node& node : graph.nodes()) {
    const Tensor* weight = node.is("Conv", kNchwc) ? constant_of(node.input(1)) : nullptr;
    if (!is_blocked(weight)) continue;
    if (!fits(weight->dims(), 16)) return 8;
    constexpr std::int64_t kLargest = 1 << 20;
    if (weight->size() > kLargest) continue;
    const std::vector<float> w = weight->to_vector<float>();
    of_8 += spread(in_order(w, weight->dims(), 8), weight->dims()[0]);
    of_16 += spread(in_order(w, weight->dims(), 16), weight->dims()[0]);
  }
  constexpr double kClear = 1.3;
  if (of_16 > kClear * of_8) return 16;
  return of_8 > kClear * of_16 ? 8 : block_here();
}

/// Found once for all nodes of a graph, before the first of them goes: each is told.
std::int64_t block_of(DecomposeContext& c) {
  constexpr const char* kKnown = "ingot_block";
  if (const auto* known = c.node.attributes.get<std::int64_t>(kKnown)) return *known;
  const std::int64_t block = block_in(c.g.graph());
  for (Node& node : c.g.graph().nodes())
    if (node.is("Conv", kNchwc)) node.attributes.set(Attribute(kKnown, AttrValue(block)));
  return block;
}

Values conv(DecomposeContext& c) {
  const Tensor* weight = c.constant(1);
  if (!is_blocked(weight)) return {};
  const std::int64_t block = block_of(c);
  if (!fits(weight->dims(), block)) return {};
  const std::vector<float> plain = in_order(weight->to_vector<float>(), weight->dims(), block);
  Value* y = c.g.op("Conv", {c.in(0), c.g.constant(Tensor::of<float>(weight->dims(), plain)), c.in(2)},
                    attributes_of(c.node, {"auto_pad", "kernel_shape", "dilations", "strides", "pads", "group"}));
  if (c.has(3)) y = c.g.add(y, c.in(3));
  const auto* parameters = c.node.attributes.get<std::vector<float>>("activation_params");
  y = activated(c.g, y, c.attr("activation", ""), parameters ? *parameters : std::vector<float>());
  return y ? Values{y} : Values{};
}

/// The channels that the next convolution counts on; nothing: none is found.
std::optional<std::int64_t> channels_wanted(const Value* v, int depth = 0) {
  constexpr int kFar = 16;
  if (!v || depth > kFar) return std::nullopt;
  for (const Use& use : v->uses()) {
    if (!use.node) continue;
    const Value* w = use.node->input(1);
    if (use.node->op == "Conv" && use.index == 0 && w && w->type.shape && w->type.shape->size() == 4) {
      const Dim& each = (*w->type.shape)[1];
      if (each.is_known()) return each.value() * use.node->attributes.int_or("group", 1);
    }
    if (const auto found = channels_wanted(use.node->output(0), depth + 1)) return found;
  }
  return std::nullopt;
}

std::optional<std::int64_t> padded_channels(const Node& node) {
  const Value* x = node.input(0);
  if (!x || !x->type.shape || x->type.shape->size() != 4) return std::nullopt;
  const Dim& count = node.attributes.int_or("channels_last", 0) ? x->type.shape->back() : (*x->type.shape)[1];
  if (!count.is_known()) return std::nullopt;
  const std::int64_t own = count.value(), wanted = channels_wanted(node.output(0)).value_or(0);
  return wanted >= own && wanted < own + 16 ? wanted : (own + 7) / 8 * 8;
}

void infer_reorder_input(InferContext& c) {
  const auto channels = padded_channels(c.node());
  const Shape* x = c.shape(0);
  if (!channels || !x) return;
  const bool is_last = c.attr("channels_last", std::int64_t{0}) != 0;
  c.out_shape(0, {(*x)[0], Dim(*channels), (*x)[is_last ? 1 : 2], (*x)[is_last ? 2 : 3]});
}

Values reorder_input(DecomposeContext& c) {
  const auto channels = padded_channels(c.node);
  if (!channels) return {};
  Value* x = c.attr("channels_last", std::int64_t{0}) ? channels_first(c.g, c.in(0)) : c.in(0);
  const std::int64_t more = *channels - (*x->type.shape)[1].value();
  return {more ? c.g.op("Pad", {x, c.g.ints({0, 0, 0, 0, 0, more, 0, 0})}) : c.g.op("Identity", {x})};
}

Values reorder_output(DecomposeContext& c) {
  const std::int64_t channels = c.attr("channels", std::int64_t{0});
  if (c.rank(0) != 4 || channels <= 0) return {};
  Value* y = slice(c.g, c.in(0), 1, 0, channels);
  return {c.attr("channels_last", std::int64_t{0}) ? channels_last(c.g, y) : y};
}

Values average_pool(DecomposeContext& c) {
  return {c.g.op("AveragePool", {c.in(0)},
                 attributes_of(c.node, {"auto_pad", "kernel_shape", "dilations", "strides", "pads", "ceil_mode",
                                        "count_include_pad"}))};
}
Values max_pool(DecomposeContext& c) {
  return {c.g.op("MaxPool", {c.in(0)},
                 attributes_of(c.node, {"auto_pad", "kernel_shape", "dilations", "strides", "pads", "ceil_mode"}))};
}
Values global_average_pool(DecomposeContext& c) { return {c.g.op("GlobalAveragePool", {c.in(0)})}; }
Values global_max_pool(DecomposeContext& c) { return {c.g.op("GlobalMaxPool", {c.in(0)})}; }

Values upsample(DecomposeContext& c) {
  const auto scales = c.node.attributes.ints_or("scales", {});
  std::vector<float> factors(scales.begin(), scales.end());
  if (factors.size() != 4) return {};
  Value* factor = c.g.constant(Tensor::of<float>({4}, factors));
  return {c.g.op("Resize", {c.in(0), nullptr, factor},
                 {{"mode", c.attr("mode", "nearest")},
                  {"coordinate_transformation_mode", c.attr("coordinate_transformation_mode", "asymmetric")},
                  {"nearest_mode", "floor"}})};
}

}  // namespace

#define INGOT_BODY(op, inference, body) \
  constinit const OpDef defs::nchwc::op = {.name = #op, .domain = kNchwc, .infer = inference, .decompose = body}
INGOT_BODY(AveragePool, infer_by_body, average_pool);
INGOT_BODY(Conv, infer_by_body, conv);
INGOT_BODY(GlobalAveragePool, infer_by_body, global_average_pool);
INGOT_BODY(GlobalMaxPool, infer_by_body, global_max_pool);
INGOT_BODY(MaxPool, infer_by_body, max_pool);
INGOT_BODY(ReorderInput, infer_reorder_input, reorder_input);
INGOT_BODY(ReorderOutput, infer_by_body, reorder_output);
INGOT_BODY(Upsample, infer_by_body, upsample);
#undef INGOT_BODY

}  // namespace ingot::ops
