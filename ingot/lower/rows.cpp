// The table of operators that are lowered; all others become these by their decompositions.
#include "ingot/lower/rows.h"

#include <algorithm>

#include "ingot/ops/known.h"

namespace ingot::lower {
namespace {

struct Row {
  std::string_view op;
  Lower lower;
};

constexpr Row kRows[] = {
    {"Abs", lower_unary<Op::abs>},
    {"Acos", lower_unary<Op::acos>},
    {"Acosh", lower_unary<Op::acosh>},
    {"Add", lower_binary<Op::add>},
    {"And", lower_binary<Op::both>},
    {"ArgMax", lower_arg_extremum<true>},
    {"ArgMin", lower_arg_extremum<false>},
    {"Asin", lower_unary<Op::asin>},
    {"Asinh", lower_unary<Op::asinh>},
    {"Atan", lower_unary<Op::atan>},
    {"Atanh", lower_unary<Op::atanh>},
    {"AveragePool", lower_average_pool},
    {"Bernoulli", lower_bernoulli},
    {"BitCast", lower_bit_cast},
    {"BitShift", lower_shift},
    {"BitwiseAnd", lower_binary<Op::bit_and>},
    {"BitwiseNot", lower_unary<Op::bit_not>},
    {"BitwiseOr", lower_binary<Op::bit_or>},
    {"BitwiseXor", lower_binary<Op::bit_xor>},
    {"Cast", lower_cast},
    {"CausalConvWithState", lower_causal_conv_with_state},
    {"Ceil", lower_unary<Op::ceil>},
    {"Clip", lower_clip},
    {"Compress", lower_compress},
    {"Concat", lower_concat},
    {"ConcatFromSequence", lower_concat_from_sequence},
    {"Constant", lower_constant},
    {"ConstantOfShape", lower_constant_of_shape},
    {"Conv", lower_conv},
    {"ConvInteger", lower_conv_integer},
    {"ConvTranspose", lower_conv_transpose},
    {"Cos", lower_unary<Op::cos>},
    {"Cosh", lower_unary<Op::cosh>},
    {"CumProd", lower_cumulative<true>},
    {"CumSum", lower_cumulative<false>},
    {"DFT", lower_dft},
    {"DepthToSpace", lower_depth_to_space},
    {"DequantizeLinear", lower_dequantize_linear},
    {"Det", lower_det},
    {"Div", lower_binary<Op::div>},
    {"Dropout", lower_dropout},
    {"Elu", lower_elu},
    {"Equal", lower_comparison<Op::equal>},
    {"Erf", lower_unary<Op::erf>},
    {"Exp", lower_unary<Op::exp>},
    {"Expand", lower_expand},
    {"EyeLike", lower_eye_like},
    {"Flatten", lower_flatten},
    {"Floor", lower_unary<Op::floor>},
    {"Gather", lower_gather},
    {"GatherElements", lower_gather_elements},
    {"GatherND", lower_gather_nd},
    {"Gelu", lower_gelu},
    {"Gemm", lower_gemm},
    {"GlobalAveragePool", lower_global_pool<false>},
    {"GlobalLpPool", lower_global_lp_pool},
    {"GlobalMaxPool", lower_global_pool<true>},
    {"Greater", lower_opposite<Op::less>},
    {"GreaterOrEqual", lower_opposite<Op::less_equal>},
    {"HardSigmoid", lower_hard_sigmoid},
    {"HardSwish", lower_hard_swish},
    {"Identity", lower_identity},
    {"If", lower_if},
    {"IsInf", lower_is_inf},
    {"IsNaN", lower_test<Op::is_nan>},
    {"LRN", lower_lrn},
    {"LabelEncoder", lower_label_encoder},
    {"LeakyRelu", lower_leaky_relu},
    {"Less", lower_comparison<Op::less>},
    {"LessOrEqual", lower_comparison<Op::less_equal>},
    {"Log", lower_unary<Op::log>},
    {"Loop", lower_loop},
    {"MatMul", lower_mat_mul},
    {"MatMulInteger", lower_mat_mul_integer},
    {"Max", lower_variadic<Op::max>},
    {"MaxPool", lower_max_pool},
    {"MaxUnpool", lower_max_unpool},
    {"Min", lower_variadic<Op::min>},
    {"Mish", lower_mish},
    {"Mod", lower_mod},
    {"Mul", lower_binary<Op::mul>},
    {"Neg", lower_unary<Op::neg>},
    {"NonMaxSuppression", lower_non_max_suppression},
    {"NonZero", lower_non_zero},
    {"Not", lower_test<Op::negate>},
    {"OneHot", lower_one_hot},
    {"Optional", lower_hand_on},
    {"OptionalGetElement", lower_hand_on},
    {"OptionalHasElement", lower_optional_has_element},
    {"Or", lower_binary<Op::either>},
    {"PRelu", lower_prelu},
    {"Pad", lower_pad},
    {"Pow", lower_binary<Op::pow>},
    {"QuantizeLinear", lower_quantize_linear},
    {"RandomNormal", lower_random_normal},
    {"RandomNormalLike", lower_random_normal_like},
    {"RandomUniform", lower_random_uniform},
    {"RandomUniformLike", lower_random_uniform_like},
    {"Range", lower_range},
    {"Reciprocal", lower_reciprocal},
    {"ReduceMax", lower_reduction<Combine::max>},
    {"ReduceMin", lower_reduction<Combine::min>},
    {"ReduceProd", lower_reduction<Combine::product>},
    {"ReduceSum", lower_reduction<Combine::sum>},
    {"Relu", lower_relu},
    {"Reshape", lower_reshape},
    {"Resize", lower_resize},
    {"ReverseSequence", lower_reverse_sequence},
    {"Round", lower_unary<Op::round>},
    {"ScatterElements", lower_scatter_elements},
    {"ScatterND", lower_scatter_nd},
    {"SequenceAt", lower_sequence_at},
    {"SequenceConstruct", lower_sequence_construct},
    {"SequenceEmpty", lower_sequence_empty},
    {"SequenceErase", lower_sequence_erase},
    {"SequenceInsert", lower_sequence_insert},
    {"SequenceLength", lower_sequence_length},
    {"Shape", lower_shape},
    {"Sigmoid", lower_unary<Op::sigmoid>},
    {"Sign", lower_unary<Op::sign>},
    {"Sin", lower_unary<Op::sin>},
    {"Sinh", lower_unary<Op::sinh>},
    {"Size", lower_size},
    {"Slice", lower_slice},
    {"Softplus", lower_softplus},
    {"SpaceToDepth", lower_space_to_depth},
    {"Split", lower_split},
    {"SplitToSequence", lower_split_to_sequence},
    {"Sqrt", lower_unary<Op::sqrt>},
    {"Squeeze", lower_squeeze},
    {"StringConcat", lower_string_concat},
    {"StringNormalizer", lower_string_normalizer},
    {"StringSplit", lower_string_split},
    {"Sub", lower_binary<Op::sub>},
    {"Sum", lower_variadic<Op::add>},
    {"Swish", lower_swish},
    {"Tan", lower_unary<Op::tan>},
    {"Tanh", lower_unary<Op::tanh>},
    {"TfIdfVectorizer", lower_tf_idf_vectorizer},
    {"Tile", lower_tile},
    {"TopK", lower_top_k},
    {"Transpose", lower_transpose},
    {"TreeEnsemble", lower_tree_ensemble},
    {"Trilu", lower_trilu},
    {"Unique", lower_unique},
    {"Unsqueeze", lower_unsqueeze},
    {"Where", lower_where},
    {"Xor", lower_xor},
    {"ZipMap", lower_zip_map},
};
static_assert(std::ranges::is_sorted(kRows, {}, &Row::op), "keep the table sorted");

constexpr TypeSet kTypes =
    TypeSet(Numeric{}) | TypeSet(SmallFloats{}) | TypeSet(SmallIntegers{}) | TypeSet(Types<bool>{});

bool has_type(const Value* value) {
  return !value || value->type.elem == DType::undefined || (value->type.is_tensor() && kTypes.has(value->type.elem));
}

bool has_known_channels(const Node& node) {
  const auto is_known = [&](std::size_t input, std::size_t axis) {
    const Value* v = node.input(input);
    return v && v->type.shape && axis < v->type.shape->size() && (*v->type.shape)[axis].is_known();
  };
  return is_known(0, 1) || is_known(1, 0);
}

bool is_string(const Value* value) { return value && value->type.is_tensor() && value->type.elem == DType::string; }

/// Of ai.onnx.ml; the operators of that domain that nothing here knows decompose.
constexpr std::string_view kOfMl[] = {"LabelEncoder", "TreeEnsemble", "ZipMap"};

/// Operators that look at no element.
constexpr std::string_view kMovers[] = {
    "Compress",  "Concat",    "Expand",  "Flatten",         "Gather",          "GatherElements",
    "GatherND",  "Identity",  "Reshape", "ReverseSequence", "ScatterElements", "ScatterND",
    "Shape",     "Size",      "Slice",   "Split",           "Squeeze",         "Tile",
    "Transpose", "Unsqueeze", "Where"};

const Row* row_of(const Node& node) {
  const auto* row = std::ranges::lower_bound(kRows, std::string_view(node.op), {}, &Row::op);
  return row == std::end(kRows) || row->op != node.op ? nullptr : row;
}

bool moves_strings(const Node& node) {
  return std::ranges::any_of(node.inputs(), is_string) && std::ranges::find(kMovers, node.op) != std::end(kMovers);
}

bool is_drawn_in_training(const Node& node) {
  const auto mode = node.input(2) ? ingot::known_ints(node.input(2)) : std::vector<std::int64_t>{0};
  return !mode || mode->size() != 1 || mode->front() != 0;
}

}  // namespace

Lower lowering_of_numbers(const Node& node) {
  const Row* row = row_of(node);
  return row ? row->lower : nullptr;
}

Lower lowering_of(const Node& node) {
  const bool is_forest = node.op == "TreeEnsemble";
  const bool has_strings = is_string(node.input(0));
  const bool is_of_ml = std::ranges::find(kOfMl, node.op) != std::end(kOfMl);
  if (node.domain != (is_of_ml ? "ai.onnx.ml" : "")) return nullptr;
  if (moves_strings(node)) return lower_moved_strings;
  if (node.op == "Equal" && has_strings) return lower_string_equal;
  if (node.op == "Identity" && node.input(0) && !node.input(0)->type.is_tensor() && node.input(0)->type)
    return lower_hand_on;
  if (node.op == "Optional" && !node.input(0)) return nullptr;
  if (node.op == "LabelEncoder" && !has_strings && !is_string(node.output(0))) return nullptr;
  if (node.op == "Dropout" && !is_drawn_in_training(node)) return nullptr;
  if (node.op == "TfIdfVectorizer" && !node.attributes.has("pool_int64s")) return nullptr;
  // Known channels make it a convolution in groups.
  if (node.op == "CausalConvWithState" && has_known_channels(node)) return nullptr;
  // A known axis makes it a product of matrices.
  if (node.op == "DFT" && (!node.input(2) || ingot::known_ints(node.input(2)))) return nullptr;
  // The transforms behind softmax and logistic are written out by others.
  if (is_forest && node.attributes.int_or("post_transform", 0) > 2) return nullptr;
  const Row* row = row_of(node);
  if (!row) return nullptr;
  // Truth values have extrema, but no smallest number.
  const bool is_extremum = node.op == "ReduceMax" || node.op == "ReduceMin";
  if (is_extremum && node.input(0) && node.input(0)->type.elem == DType::boolean) return nullptr;
  return row->lower;
}

std::string unknown_type(const Node& node) {
  constexpr std::string_view kOfOthers[] = {"ConcatFromSequence", "Equal", "Identity", "LabelEncoder", "Loop",
                                            "SplitToSequence",    "ZipMap"};
  if (std::ranges::find(kOfOthers, node.op) != std::end(kOfOthers)) return {};
  if (moves_strings(node) || (node.op == "Constant" && is_string(node.output(0)))) return {};
  if (node.op.starts_with("Sequence") || node.op.starts_with("Optional") || node.op.starts_with("String")) return {};
  for (const Value* value : node.inputs())
    if (!has_type(value)) return value->type.schema_name();
  for (const Value* value : node.outputs())
    if (!has_type(value)) return value->type.schema_name();
  return {};
}

}  // namespace ingot::lower
