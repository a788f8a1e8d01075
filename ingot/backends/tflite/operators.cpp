// The table of ONNX operators that TFLite has.
#include "ingot/backends/tflite/operators.h"

#include <algorithm>

#include "ingot/backends/tflite/called_operator.h"
#include "ingot/backends/tflite/rows.h"
#include "ingot/passes/layout/axes.h"

namespace ingot::backends::tflite {
namespace {

using Op = BuiltinOperator;

/// An emitter of a family, for one of TFLite's operators.
template <void (*emit)(NodeOut&, Op), Op op> void as(NodeOut& n) { emit(n, op); }
template <Op op> constexpr auto unary = as<emit_unary, op>;
template <Op op> constexpr auto binary = as<emit_binary, op>;
template <Op op> constexpr auto folded = as<emit_folded, op>;
template <Op op> constexpr auto softmax = as<emit_softmax, op>;
template <Op op> constexpr auto reduce = as<emit_reduce, op>;
template <Op op> constexpr auto arg = as<emit_arg, op>;
template <Op op> constexpr auto random = as<emit_random, op>;

constexpr Row kRows[] = {
    {"Abs", unary<Op::ABS>, floats},
    {"Add", binary<Op::ADD>, arithmetic},
    {"And", binary<Op::LOGICAL_AND>, booleans},
    {"ArgMax", arg<Op::ARG_MAX>, refuse_arg},
    {"ArgMin", arg<Op::ARG_MIN>, refuse_arg},
    {"AveragePool", emit_pool, refuse_pool},
    {"Cast", emit_cast, refuse_cast},
    {"Ceil", unary<Op::CEIL>, floats},
    {"Clip", emit_clip, refuse_clip},
    {"Concat", emit_concat, refuse_concat},
    {"ConstantOfShape", emit_fill, refuse_fill},
    {"Conv", emit_conv, refuse_conv},
    {"ConvTranspose", emit_conv_transpose, refuse_conv_transpose},
    {"Cos", unary<Op::COS>, floats},
    {"CumSum", emit_cum_sum, arithmetic},
    {"DepthToSpace", emit_depth_to_space, refuse_depth_to_space},
    {"DequantizeLinear", emit_dequantize, refuse_dequantize},
    {"Div", binary<Op::DIV>, refuse_div},
    {"Elu", unary<Op::ELU>, refuse_elu},
    {"Equal", binary<Op::EQUAL>, equated},
    {"Exp", unary<Op::EXP>, floats},
    {"Expand", emit_expand, refuse_expand},
    {"Flatten", emit_reshape, refuse_reshape},
    {"Floor", unary<Op::FLOOR>, floats},
    {"Gather", emit_gather, refuse_gather},
    {"GatherElements", emit_gather_elements, refuse_gather_elements},
    {"GatherND", emit_gather_nd, refuse_gather_nd},
    {"Gemm", emit_gemm, refuse_gemm},
    {"Greater", binary<Op::GREATER>, arithmetic},
    {"GreaterOrEqual", binary<Op::GREATER_EQUAL>, arithmetic},
    {"HardSwish", unary<Op::HARD_SWISH>, floats},
    {"Identity", emit_identity, nothing},
    {"If", emit_if, refuse_if},
    {"IsNaN", emit_is_nan, floats},
    {"LRN", emit_lrn, refuse_lrn},
    {"LSTM", emit_lstm, refuse_lstm},
    {"LeakyRelu", emit_leaky_relu, floats},
    {"Less", binary<Op::LESS>, arithmetic},
    {"LessOrEqual", binary<Op::LESS_EQUAL>, arithmetic},
    {"Log", unary<Op::LOG>, floats},
    {"LogSoftmax", softmax<Op::LOG_SOFTMAX>, refuse_softmax},
    {"Loop", emit_loop, refuse_loop},
    {"MatMul", emit_matmul, refuse_matmul},
    {"Max", folded<Op::MAXIMUM>, refuse_folded},
    {"MaxPool", emit_pool, refuse_pool},
    {"Min", folded<Op::MINIMUM>, refuse_folded},
    {"Mod", emit_mod, refuse_mod},
    {"Mul", binary<Op::MUL>, arithmetic},
    {"Neg", unary<Op::NEG>, arithmetic},
    {"NonMaxSuppression", emit_non_max_suppression, refuse_non_max_suppression},
    {"NonZero", emit_non_zero, refuse_non_zero},
    {"Not", unary<Op::LOGICAL_NOT>, booleans},
    {"OneHot", emit_one_hot, refuse_one_hot},
    {"Or", binary<Op::LOGICAL_OR>, booleans},
    {"PRelu", emit_prelu, refuse_prelu},
    {"Pad", emit_pad, refuse_pad},
    {"Pow", binary<Op::POW>, refuse_pow},
    {"QuantizeLinear", emit_quantize, refuse_quantize},
    {"RandomNormal", random<Op::RANDOM_STANDARD_NORMAL>, refuse_random},
    {"RandomNormalLike", random<Op::RANDOM_STANDARD_NORMAL>, refuse_random},
    {"RandomUniform", random<Op::RANDOM_UNIFORM>, refuse_random},
    {"RandomUniformLike", random<Op::RANDOM_UNIFORM>, refuse_random},
    {"Range", emit_range, refuse_range},
    {"Reciprocal", emit_reciprocal, floats},
    {"ReduceMax", reduce<Op::REDUCE_MAX>, refuse_reduce},
    {"ReduceMean", reduce<Op::MEAN>, refuse_reduce},
    {"ReduceMin", reduce<Op::REDUCE_MIN>, refuse_reduce},
    {"ReduceProd", reduce<Op::REDUCE_PROD>, refuse_reduce},
    {"ReduceSum", reduce<Op::SUM>, refuse_reduce},
    {"Relu", unary<Op::RELU>, floats},
    {"Reshape", emit_reshape, refuse_reshape},
    {"Resize", emit_resize, refuse_resize},
    {"ReverseSequence", emit_reverse_sequence, refuse_reverse_sequence},
    {"Round", unary<Op::ROUND>, floats},
    {"ScatterND", emit_scatter_nd, refuse_scatter_nd},
    {"Shape", emit_shape, refuse_shape},
    {"Sigmoid", unary<Op::LOGISTIC>, floats},
    {"Sign", emit_sign, refuse_sign},
    {"Sin", unary<Op::SIN>, floats},
    {"Size", emit_size, refuse_size},
    {"Slice", emit_slice, refuse_slice},
    {"Softmax", softmax<Op::SOFTMAX>, refuse_softmax},
    {"SpaceToDepth", emit_space_to_depth, refuse_space_to_depth},
    {"Split", emit_split, refuse_split},
    {"Sqrt", unary<Op::SQRT>, floats},
    {"Squeeze", emit_reshape, refuse_reshape},
    {"Sub", binary<Op::SUB>, arithmetic},
    {"Sum", folded<Op::ADD>, refuse_folded},
    {"Tanh", unary<Op::TANH>, floats},
    {"Tile", emit_tile, refuse_tile},
    {"TopK", emit_top_k, refuse_top_k},
    {"Transpose", emit_transpose, refuse_transpose},
    {"Unique", emit_unique, refuse_unique},
    {"Unsqueeze", emit_reshape, refuse_reshape},
    {"Where", emit_where, refuse_where},
    {"Xor", binary<Op::NOT_EQUAL>, booleans},
};
static_assert(std::ranges::is_sorted(kRows, {}, &Row::op), "keep the table sorted");

}  // namespace

std::span<const Row> all_rows() { return kRows; }

const Row* row_of(const Node& node) {
  static constexpr Row kCalled{"", emit_called_operator, refuse_called_operator};
  if (is_called_operator(node)) return &kCalled;
  if (!node.domain.empty() && node.domain != passes::kChannelsLastDomain) return nullptr;
  const auto* found = std::ranges::lower_bound(kRows, std::string_view(node.op), {}, &Row::op);
  return found != std::end(kRows) && found->op == node.op ? found : nullptr;
}

namespace {

constexpr std::string_view kBroadcasting[] = {"Add",         "And", "Div", "Equal", "Greater", "GreaterOrEqual", "Less",
                                              "LessOrEqual", "Mul", "Or",  "Pow",   "Sub",     "Where",          "Xor"};

/// Kernels of older runtimes broadcast 4 dimensions. What has more is spread out before, which needs its sizes.
bool broadcasts_too_much(const Node& node) {
  constexpr std::size_t kMostDims = 4;
  if (!std::ranges::binary_search(kBroadcasting, std::string_view(node.op))) return false;
  const auto& y = node.output(0)->type.shape;
  if (!y || y->size() <= kMostDims) return false;
  for (const Value* v : node.inputs()) {
    if (!v || !v->type.shape) return true;
    const Shape& x = *v->type.shape;
    const bool is_same = std::ranges::equal(x, *y, [](const Dim& a, const Dim& b) { return same(a, b); });
    if (!is_same && (!is_fixed(x) || !is_fixed(*y))) return true;
  }
  return false;
}

}  // namespace

Refused refusal(const Node& node) {
  const Row* row = row_of(node);
  if (!row) {
    for (const Value* v : node.inputs())
      if (v && v->type.elem == DType::string)
        return Refusal{Kind::unknown_operator, "TFLite does not compute with strings"};
    if (node.is("Multinomial") || node.is("Bernoulli"))
      return Refusal{Kind::unknown_operator, "TFLite's random numbers are not ONNX's"};
    return Refusal{Kind::unknown_operator, "TFLite has no such operator"};
  }
  for (const Value* v : node.outputs())
    if (v && !v->type.is_tensor())
      return Refusal{Kind::not_a_tensor, "TFLite has tensors only, no sequences, maps or optionals"};
  if (broadcasts_too_much(node))
    return Refusal{Kind::unknown_size, "more than 4 dimensions are broadcast, and their sizes are not known"};
  return row->refuses ? row->refuses(node) : std::nullopt;
}

}  // namespace ingot::backends::tflite
