// com.microsoft: operators on tensors that ONNX has today, or says in a few of its own.
#include <algorithm>

#include "ingot/ops/vendor/body.h"
#include "ingot/ops/vendor/catalog.h"

namespace ingot::ops {
namespace {

Values expand_dims(DecomposeContext& c) {
  return {c.g.op("Unsqueeze", {c.in(0), c.g.cast(c.g.reshape(c.in(1), {1}), DType::i64)})};
}

Values range(DecomposeContext& c) {
  const auto scalar = [&](std::size_t i) { return c.g.reshape(c.in(i), {}); };
  return {c.g.op("Range", {scalar(0), scalar(1), c.has(2) ? scalar(2) : c.g.scalar(1, c.elem(0))})};
}

Values trilu(DecomposeContext& c) {
  return {c.g.op("Trilu", {c.in(0), c.in(1)}, {{"upper", c.attr("upper", std::int64_t{1})}})};
}

Values gather_nd(DecomposeContext& c) { return {c.g.op("GatherND", {c.in(0), c.g.cast(c.in(1), DType::i64)})}; }

Values pad(DecomposeContext& c) {
  Value* pads = c.g.reshape(c.in(1), {-1});
  Value* value = c.has(2) ? c.g.reshape(c.in(2), {}) : nullptr;
  return {c.g.op("Pad", {c.in(0), pads, value}, {{"mode", c.attr("mode", "constant")}})};
}

/// In the order in which they first occur.
Values unique(DecomposeContext& c) {
  const Values made = c.g.op("Unique", {c.in(0)}, {{"sorted", 0}}, 4);
  return {made[0], made[2], made[3]};
}

/// Windows along one axis, which become a last axis.
Values unfold_tensor(DecomposeContext& c) {
  GraphBuilder& g = c.g;
  const auto rank = c.rank(0);
  const std::int64_t size = c.attr("size", std::int64_t{0}), step = c.attr("step", std::int64_t{1});
  if (!rank || *rank == 0 || size <= 0 || step <= 0) return {};
  const std::int64_t dim = c.attr("dim", std::int64_t{-1}), axis = dim < 0 ? dim + *rank : dim;
  if (axis < 0 || axis >= *rank) return {};
  Value* last = g.sub(count_of(g, c.in(0), axis), g.index(size));
  Value* starts = g.op("Range", {g.index(0), g.add(last, g.index(1)), g.index(step)});
  Value* offsets = g.op("Range", {g.index(0), g.index(size), g.index(1)});
  Value* places = g.add(g.unsqueeze(starts, {1}), offsets);
  Value* windows = g.op("Gather", {c.in(0), places}, {{"axis", axis}});
  std::vector<std::int64_t> perm;
  for (std::int64_t i = 0; i <= *rank; ++i)
    if (i != axis + 1) perm.push_back(i);
  perm.push_back(axis + 1);
  return {std::ranges::is_sorted(perm) ? windows : g.transpose(windows, perm)};
}

/// Distances between rows of two matrices.
Values c_dist(DecomposeContext& c) {
  GraphBuilder& g = c.g;
  Value* difference = g.sub(g.unsqueeze(c.in(0), {1}), g.unsqueeze(c.in(1), {0}));
  Value* squares = g.reduce_sum(g.mul(difference, difference), {2}, false);
  return {c.attr("metric", "sqeuclidean") == "euclidean" ? g.op("Sqrt", {squares}) : squares};
}

Values grid_sample(DecomposeContext& c) {
  const std::string mode = c.attr("mode", "bilinear");
  // At borders this one clamps the place before it looks around it, and ONNX's after.
  if (mode == "bicubic" && c.attr("padding_mode", "zeros") != "zeros") return {};
  return {c.g.op("GridSample", {c.in(0), c.in(1)},
                 {{"mode", mode == "bilinear"  ? "linear"
                           : mode == "bicubic" ? "cubic"
                                               : mode.c_str()},
                  {"padding_mode", c.attr("padding_mode", "zeros")},
                  {"align_corners", c.attr("align_corners", std::int64_t{0})}})};
}

/// Without padding, then cut.
Values conv_transpose_with_dynamic_pads(DecomposeContext& c) {
  GraphBuilder& g = c.g;
  const auto rank = c.rank(0);
  if (!rank || *rank < 3 || c.attr("auto_pad", "NOTSET") != "NOTSET") return {};
  Value* y = g.op("ConvTranspose", {c.in(0), c.in(1), c.in(3)},
                  attributes_of(c.node, {"kernel_shape", "output_padding", "dilations", "strides", "group"}));
  if (!c.has(2)) return {y};
  std::vector<std::int64_t> axes;
  for (std::int64_t i = 2; i < *rank; ++i) axes.push_back(i);
  const std::int64_t spatial = *rank - 2;
  Value* begins = slice(g, c.in(2), 0, 0, spatial);
  Value* ends = g.sub(g.op("Shape", {y}, {{"start", 2}}), slice(g, c.in(2), 0, spatial, 2 * spatial));
  return {g.op("Slice", {y, begins, ends, g.ints(axes)})};
}

/// Over all axes from `axis` on at once.
Values bias_softmax(DecomposeContext& c) {
  GraphBuilder& g = c.g;
  const auto rank = c.rank(0), bias_rank = c.rank(1);
  if (!rank || !bias_rank || *rank == 0) return {};
  // What is left out before the axis is not what numpy leaves out.
  if (c.attr("is_inner_broadcast", std::int64_t{0}) && *rank != *bias_rank) return {};
  std::int64_t axis = c.attr("axis", std::int64_t{1});
  if (axis < 0) axis += *rank;
  Value* sum = g.add(c.in(0), c.in(1));
  if (axis == *rank - 1) return {g.op("Softmax", {sum}, {{"axis", -1}})};
  Value* flat = g.op("Softmax", {g.op("Flatten", {sum}, {{"axis", axis}})}, {{"axis", -1}});
  return {g.op("Reshape", {flat, g.shape(c.in(0))})};
}

Values is_all_finite(DecomposeContext& c) {
  GraphBuilder& g = c.g;
  const bool sees_inf = !c.attr("isnan_only", std::int64_t{0}), sees_nan = !c.attr("isinf_only", std::int64_t{0});
  Value* answer = nullptr;
  for (std::size_t i = 0; i < c.node.input_count(); ++i)
    for (const bool is_inf : {true, false}) {
      if (!(is_inf ? sees_inf : sees_nan)) continue;
      Value* odd = is_inf ? g.op("IsInf", {c.in(i)}) : g.op("IsNaN", {c.in(i)});
      Value* most = g.op("ReduceMax", {g.cast(odd, DType::i32)}, {{"keepdims", 0}});
      Value* none = g.op("Equal", {most, g.scalar(0, DType::i32)});
      answer = answer ? g.op("And", {answer, none}) : none;
    }
  return answer ? Values{answer} : Values{};
}

Values shrunken_gather(DecomposeContext& c) {
  return {c.g.op("Gather", {c.in(0), c.in(1)}, {{"axis", c.attr("axis", std::int64_t{0})}})};
}

Values torch_embedding(DecomposeContext& c) { return {c.g.op("Gather", {c.in(0), c.in(1)})}; }

Values linear_attention_gate(DecomposeContext& c) {
  GraphBuilder& g = c.g;
  Value* sum = g.add(g.cast(c.in(0), DType::f32), g.cast(c.in(1), DType::f32));
  Value* decay = g.mul(g.cast(c.in(2), DType::f32), g.op("Softplus", {sum}));
  return {g.cast(decay, c.elem(0)), c.has(3) ? g.op("Sigmoid", {c.in(3)}) : nullptr};
}

}  // namespace

#define INGOT_BODY(op, body)                    \
  constinit const OpDef defs::microsoft::op = { \
      .name = #op, .domain = kMicrosoft, .infer = infer_by_body, .decompose = body}
INGOT_BODY(BiasSoftmax, bias_softmax);
INGOT_BODY(CDist, c_dist);
INGOT_BODY(ConvTransposeWithDynamicPads, conv_transpose_with_dynamic_pads);
INGOT_BODY(ExpandDims, expand_dims);
INGOT_BODY(GatherND, gather_nd);
INGOT_BODY(GridSample, grid_sample);
INGOT_BODY(IsAllFinite, is_all_finite);
INGOT_BODY(LinearAttentionGate, linear_attention_gate);
INGOT_BODY(Pad, pad);
INGOT_BODY(Range, range);
INGOT_BODY(ShrunkenGather, shrunken_gather);
INGOT_BODY(TorchEmbedding, torch_embedding);
INGOT_BODY(Trilu, trilu);
INGOT_BODY(UnfoldTensor, unfold_tensor);
INGOT_BODY(Unique, unique);
#undef INGOT_BODY

}  // namespace ingot::ops
