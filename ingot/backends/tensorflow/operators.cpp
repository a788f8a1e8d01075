// The table of ONNX operators that TensorFlow has.
#include "ingot/backends/tensorflow/operators.h"

#include <fmt/format.h>

#include <algorithm>

#include "ingot/backends/tensorflow/rows.h"
#include "ingot/passes/layout/layout.h"

namespace ingot::backends::tensorflow {
namespace {

/// An emitter of a family, for one of TensorFlow's operators.
template <void (*emit)(NodeOut&, const char*), Word word> void as(NodeOut& n) { emit(n, word.text); }
template <Word word> constexpr auto plain = as<emit_plain, word>;
template <Word word> constexpr auto folded = as<emit_folded, word>;
template <Word word> constexpr auto softmax = as<emit_softmax, word>;
template <Word word> constexpr auto reduce = as<emit_reduce, word>;
template <Word word> constexpr auto arg = as<emit_arg, word>;
template <Word word> constexpr auto random = as<emit_random, word>;

constexpr bool kNotInTfjs = false;

constexpr Row kRows[] = {
    {"Abs", emit_abs, "Relu"},  // of numbers without a sign nothing is asked
    {"Acos", plain<"Acos">, "Exp"},
    {"Acosh", plain<"Acosh">, "Exp"},
    {"Add", plain<"AddV2">, "AddV2"},
    {"And", plain<"LogicalAnd">},
    {"ArgMax", arg<"ArgMax">, "ArgMax", refuse_arg},
    {"ArgMin", arg<"ArgMin">, "ArgMin", refuse_arg},
    {"Asin", plain<"Asin">, "Exp"},
    {"Asinh", plain<"Asinh">, "Exp"},
    {"Atan", plain<"Atan">, "Exp"},
    {"Atanh", plain<"Atanh">, "Exp"},
    {"AveragePool", emit_pool, "", refuse_pool},
    {"BitCast", emit_bit_cast, "", nullptr, kNotInTfjs},
    {"BitShift", emit_bit_shift, "LeftShift", nullptr, kNotInTfjs},
    {"BitwiseAnd", plain<"BitwiseAnd">, "BitwiseAnd", nullptr, kNotInTfjs},
    {"BitwiseNot", plain<"Invert">, "Invert", nullptr, kNotInTfjs},
    {"BitwiseOr", plain<"BitwiseOr">, "BitwiseOr", nullptr, kNotInTfjs},
    {"BitwiseXor", plain<"BitwiseXor">, "BitwiseXor", nullptr, kNotInTfjs},
    {"Cast", emit_cast, "", refuse_cast},
    {"Ceil", plain<"Ceil">, "Ceil"},
    {"Clip", emit_clip, "Maximum"},
    {"Concat", emit_concat, "", refuse_concat},
    {"ConcatFromSequence", emit_concat_from_sequence, "", refuse_concat_from_sequence, true, true},
    {"ConstantOfShape", emit_fill},
    {"Conv", emit_conv, "", refuse_conv},
    {"ConvTranspose", emit_conv_transpose, "", refuse_conv_transpose},
    {"Cos", plain<"Cos">, "Cos"},
    {"Cosh", plain<"Cosh">, "Cosh"},
    {"CumSum", emit_cum_sum, "Cumsum"},
    {"DepthToSpace", emit_depth_to_space, "", refuse_depth_to_space},
    {"DequantizeLinear", emit_dequantize, "", refuse_dequantize, kNotInTfjs},
    {"Det", emit_det, "MatrixDeterminant", nullptr, kNotInTfjs},
    {"Div", emit_div, "RealDiv"},
    {"Elu", plain<"Elu">, "Elu", refuse_elu},
    {"Equal", plain<"Equal">},
    {"Erf", plain<"Erf">, "Erf"},
    {"Exp", plain<"Exp">, "Exp"},
    {"Expand", emit_expand},
    {"EyeLike", emit_eye_like, "", refuse_eye_like},
    {"Flatten", emit_flatten, "", refuse_flatten},
    {"Floor", plain<"Floor">, "Floor"},
    {"Gather", emit_gather, "", refuse_gather},
    {"GatherElements", emit_gather_elements, "", refuse_gather_elements},
    {"GatherND", emit_gather_nd, "", refuse_gather_nd},
    {"Gemm", emit_gemm, "MatMul", refuse_gemm},
    {"Greater", plain<"Greater">, "Greater"},
    {"GreaterOrEqual", plain<"GreaterEqual">, "GreaterEqual"},
    {"Identity", emit_identity, "", nullptr, true, true},
    {"If", emit_if, "", refuse_if, true, true},
    {"IsInf", emit_is_inf, "IsInf"},
    {"IsNaN", plain<"IsNan">, "IsNan"},
    {"LRN", emit_lrn, "LRN", refuse_lrn},
    {"LabelEncoder", emit_label_encoder, "", refuse_label_encoder, kNotInTfjs},
    {"LeakyRelu", emit_leaky_relu, "LeakyRelu"},
    {"Less", plain<"Less">, "Less"},
    {"LessOrEqual", plain<"LessEqual">, "LessEqual"},
    {"Log", plain<"Log">, "Log"},
    {"LogSoftmax", softmax<"LogSoftmax">, "LogSoftmax", refuse_softmax},
    {"Loop", emit_loop, "", refuse_loop, true, true},
    {"MatMul", emit_matmul, "", refuse_matmul},
    {"Max", folded<"Maximum">, "Maximum"},
    {"MaxPool", emit_pool, "", refuse_pool},
    {"Min", folded<"Minimum">, "Minimum"},
    {"Mod", emit_mod, "FloorMod", refuse_mod},
    {"Mul", plain<"Mul">, "Mul"},
    {"Neg", plain<"Neg">, "Neg"},
    {"NonMaxSuppression", emit_non_max_suppression, "", refuse_non_max_suppression},
    {"NonZero", emit_non_zero, "", refuse_non_zero},
    {"Not", plain<"LogicalNot">},
    {"OneHot", emit_one_hot, "", refuse_one_hot},
    {"Or", plain<"LogicalOr">},
    {"PRelu", emit_prelu, "", refuse_prelu},
    {"Pad", emit_pad, "", refuse_pad},
    {"Pow", emit_pow, "Pow"},
    {"QuantizeLinear", emit_quantize, "", refuse_quantize, kNotInTfjs},
    {"RandomNormal", random<"RandomStandardNormal">, "", refuse_random},
    {"RandomNormalLike", random<"RandomStandardNormal">, "", refuse_random},
    {"RandomUniform", random<"RandomUniform">, "", refuse_random},
    {"RandomUniformLike", random<"RandomUniform">, "", refuse_random},
    {"Range", emit_range, "Range"},
    {"Reciprocal", plain<"Reciprocal">, "Exp"},
    {"ReduceMax", reduce<"Max">, "", refuse_reduce},
    {"ReduceMean", reduce<"Mean">, "", refuse_reduce},
    {"ReduceMin", reduce<"Min">, "", refuse_reduce},
    {"ReduceProd", reduce<"Prod">, "", refuse_reduce},
    {"ReduceSum", reduce<"Sum">, "", refuse_reduce},
    {"RegexFullMatch", emit_regex_full_match, "", nullptr, kNotInTfjs},
    {"Relu", plain<"Relu">, "Relu"},
    {"Reshape", emit_reshape, "", refuse_reshape},
    {"Resize", emit_resize, "", refuse_resize},
    {"ReverseSequence", emit_reverse_sequence, "", nullptr, kNotInTfjs},
    {"Round", plain<"Round">, "Rint"},
    {"ScatterND", emit_scatter_nd, "", refuse_scatter_nd},
    {"Selu", plain<"Selu">, "Selu", refuse_selu},
    {"SequenceAt", emit_sequence_at, "", nullptr, true, true},
    {"SequenceConstruct", emit_sequence_construct, "", nullptr, true, true},
    {"SequenceEmpty", emit_sequence_empty, "", nullptr, true, true},
    {"SequenceInsert", emit_sequence_insert, "", refuse_sequence_insert, true, true},
    {"SequenceLength", emit_sequence_length, "", nullptr, true, true},
    {"Shape", emit_shape, "", refuse_shape},
    {"Sigmoid", plain<"Sigmoid">, "Sigmoid"},
    {"Sign", plain<"Sign">, "Sign"},
    {"Sin", plain<"Sin">, "Sin"},
    {"Sinh", plain<"Sinh">, "Sinh"},
    {"Size", emit_size},
    {"Slice", emit_slice, "", refuse_slice},
    {"Softmax", softmax<"Softmax">, "Softmax", refuse_softmax},
    {"Softplus", plain<"Softplus">, "Softplus"},
    {"Softsign", plain<"Softsign">, "Softsign", nullptr, kNotInTfjs},
    {"SpaceToDepth", emit_space_to_depth, "", refuse_space_to_depth},
    {"Split", emit_split, "", refuse_split},
    {"SplitToSequence", emit_split_to_sequence, "", refuse_split_to_sequence, true, true},
    {"Sqrt", plain<"Sqrt">, "Sqrt"},
    {"Squeeze", emit_squeeze, "", refuse_squeeze},
    {"StringConcat", emit_string_concat, "", nullptr, kNotInTfjs},
    {"StringNormalizer", emit_string_normalizer, "", refuse_string_normalizer, kNotInTfjs},
    {"StringSplit", emit_string_split, "", nullptr, kNotInTfjs},
    {"Sub", plain<"Sub">, "Sub"},
    {"Sum", folded<"AddV2">, "AddV2"},
    {"Tan", plain<"Tan">, "Exp"},
    {"Tanh", plain<"Tanh">, "Tanh"},
    {"Tile", emit_tile},
    {"TopK", emit_top_k, "TopKV2", refuse_top_k},
    {"Transpose", emit_transpose, "", refuse_transpose},
    {"Unique", emit_unique, "", refuse_unique},
    {"Unsqueeze", emit_unsqueeze, "", refuse_unsqueeze},
    {"Where", emit_where},
    {"Xor", plain<"NotEqual">},
};
static_assert(std::ranges::is_sorted(kRows, {}, &Row::op), "keep the table sorted");

Refused refuse_type(const Type& type, const Row& row) {
  if (type.is_tensor()) {
    if (tf::data_type_of(type.elem) != tf::DataType::invalid) return {};
    return Refusal{Kind::element_type, fmt::format("TensorFlow has no {}", name_of(type.elem))};
  }
  if (type.kind == Type::Kind::sequence && row.takes_sequences && type.element && type.element->is_tensor()) return {};
  return Refusal{Kind::not_a_tensor, "TensorFlow has tensors and lists of them, no maps or optionals"};
}

/// TF.js moves texts as they lie, no more: it picks none, and its fast backend compares what is not there.
bool takes_texts_in_tfjs(std::string_view op) {
  constexpr std::string_view kMoves[] = {"Concat", "Flatten", "Identity", "If",      "Loop", "Reshape",
                                         "Shape",  "Size",    "Slice",    "Squeeze", "Tile", "Unsqueeze"};
  return std::ranges::find(kMoves, op) != std::end(kMoves);
}

}  // namespace

std::span<const Row> all_rows() { return kRows; }

const Row* row_of(const Node& node) {
  if (!node.domain.empty() && node.domain != passes::kChannelsLastDomain && !node.is("LabelEncoder", "ai.onnx.ml"))
    return nullptr;
  const auto* found = std::ranges::lower_bound(kRows, std::string_view(node.op), {}, &Row::op);
  return found != std::end(kRows) && found->op == node.op ? found : nullptr;
}

Refused refusal(const Node& node, Dialect dialect) {
  const Row* row = row_of(node);
  const std::string_view title = dialect == Dialect::tfjs ? "TF.js" : "TensorFlow";
  if (!row || (dialect == Dialect::tfjs && !row->is_in_tfjs))
    return Refusal{Kind::unknown_operator, fmt::format("{} has no such operator", title)};
  for (const Values& values : {node.inputs(), node.outputs()})
    for (const Value* v : values)
      if (v)
        if (Refused why = refuse_type(v->type, *row)) return why;
  const auto is_text = [](const Value* v) { return v && v->type.is_tensor() && v->type.elem == DType::string; };
  if (dialect == Dialect::tfjs && !takes_texts_in_tfjs(node.op) && std::ranges::any_of(node.inputs(), is_text))
    return Refusal{Kind::element_type, "TF.js neither compares nor picks texts"};
  if (!row->word.empty() && node.input(0) && !takes(row->word, node.input(0)->type.elem))
    return Refusal{Kind::element_type,
                   fmt::format("TensorFlow's operator does not take {}", name_of(node.input(0)->type.elem))};
  return row->refuses ? row->refuses(node, dialect) : std::nullopt;
}

}  // namespace ingot::backends::tensorflow
