// Which of PyTorch's operators says which ONNX operator.
#include "ingot/backends/torch/operators.h"

#include <algorithm>

#include "ingot/backends/torch/carriers.h"
#include "ingot/backends/torch/refusals.h"
#include "ingot/ops/infer.h"

namespace ingot::backends::torch {
namespace {

/// PyTorch has it with the numbers of its paper alone.
Refused selu(const Node& node) {
  constexpr float kAlpha = 1.67326319217681884765625F, kGamma = 1.05070102214813232421875F;
  const bool is_usual =
      node.attributes.float_or("alpha", kAlpha) == kAlpha && node.attributes.float_or("gamma", kGamma) == kGamma;
  if (!is_usual) return Refusal{Kind::attribute_value, "alpha and gamma"};
  return refuse::not_float(node);
}

constexpr Row kRows[] = {
    {"Abs", "torch.abs({0})"},
    {"Acos", "torch.acos({0})"},
    {"Acosh", "torch.acosh({0})"},
    {"Add", "<0> + <1>"},
    {"And", "torch.logical_and({0}, {1})"},
    {"ArgMax", {}, write_arg_extremum, refuse::arg_extremum},
    {"ArgMin", {}, write_arg_extremum, refuse::arg_extremum},
    {"Asin", "torch.asin({0})"},
    {"Asinh", "torch.asinh({0})"},
    {"Atan", "torch.atan({0})"},
    {"Atanh", "torch.atanh({0})"},
    {"AveragePool", {}, write_average_pool, refuse::average_pool},
    {"BatchNormalization", {}, write_batch_normalization, refuse::batch_normalization},
    {"Bernoulli", {}, write_bernoulli},
    {"BitCast", {}, write_bit_cast, refuse_bit_cast},
    {"BitShift", {}, write_bit_shift},
    {"BitwiseAnd", "{0} & {1}"},
    {"BitwiseNot", "torch.bitwise_not({0})"},
    {"BitwiseOr", "{0} | {1}"},
    {"BitwiseXor", "{0} ^ {1}"},
    {"Cast", {}, write_cast},
    {"Ceil", "torch.ceil({0})"},
    {"Celu", {}, write_celu},
    {"Clip", {}, write_clip},
    {"Compress", {}, write_compress},
    {"Concat", {}, write_concat},
    {"ConcatFromSequence", {}, write_concat_from_sequence},
    {"ConstantOfShape", {}, write_constant_of_shape},
    {"Conv", {}, write_conv, refuse::conv},
    {"ConvTranspose", {}, write_conv_transpose, refuse::conv_transpose},
    {"Cos", "torch.cos({0})"},
    {"Cosh", "torch.cosh({0})"},
    {"CumProd", {}, write_cumulative},
    {"CumSum", {}, write_cumulative},
    {"DepthToSpace", {}, write_depth_to_space, refuse::images},
    {"DequantizeLinear", {}, write_dequantize_linear, refuse_dequantize_linear},
    {"Det", "torch.det({0})"},
    {"Div", {}, write_div},
    {"Dropout", {}, write_dropout, refuse::not_float},
    {"Einsum", {}, write_einsum},
    {"Elu", {}, write_elu, refuse::not_float},
    {"Equal", "<0> == <1>"},
    {"Erf", "torch.erf({0})", nullptr, refuse::not_float},
    {"Exp", "torch.exp({0})"},
    {"Expand", {}, write_expand},
    {"EyeLike", {}, write_eye_like},
    {"Flatten", {}, write_flatten, refuse::unranked},
    {"Floor", "torch.floor({0})"},
    {"Gather", {}, write_gather, refuse::axis_from_end},
    {"GatherElements", {}, write_gather_elements},
    {"GatherND", {}, write_gather_nd},
    {"Gelu", "nn:gelu({0})", nullptr, refuse::gelu},
    {"Gemm", {}, write_gemm},
    {"GlobalAveragePool", {}, write_global_pool, refuse::unranked},
    {"GlobalMaxPool", {}, write_global_pool, refuse::unranked},
    {"Greater", {}, write_comparison},
    {"GreaterOrEqual", {}, write_comparison},
    {"GridSample", {}, write_grid_sample, refuse::grid_sample},
    {"GroupNormalization", {}, write_group_normalization, refuse::group_normalization},
    {"HardSigmoid", {}, write_hard_sigmoid, refuse::not_float},
    {"HardSwish", "nn:hardswish({0})", nullptr, refuse::not_float},
    {"Identity", "{0}"},
    {"If", {}, write_if},
    {"InstanceNormalization", {}, write_instance_normalization, refuse::not_float},
    {"IsInf", {}, write_is_inf, refuse::not_float},
    {"IsNaN", "torch.isnan({0})"},
    {"LRN", {}, write_lrn, refuse::not_float},
    {"LayerNormalization", {}, write_layer_normalization, refuse::layer_normalization},
    {"LeakyRelu", {}, write_leaky_relu, refuse::not_float},
    {"Less", {}, write_comparison},
    {"LessOrEqual", {}, write_comparison},
    {"Log", "torch.log({0})"},
    {"LogSoftmax", {}, write_softmax, refuse::not_float},
    {"Loop", {}, write_loop, refuse::loop},
    {"MatMul", "{0} @ {1}"},
    {"MatMulInteger", {}, write_matmul_integer},
    {"Max", {}, write_extremum, refuse::truth},
    {"MaxPool", {}, write_max_pool, refuse::max_pool},
    {"Mean", {}, write_mean, refuse::not_float},
    {"Min", {}, write_extremum, refuse::truth},
    {"Mish", "{0} * torch.tanh(nn:softplus({0}))", nullptr, refuse::not_float},
    {"Mod", {}, write_mod},
    {"Mul", "<0> * <1>"},
    {"Multinomial", {}, write_multinomial},
    {"Neg", "-{0}"},
    {"NonMaxSuppression", {}, write_non_max_suppression},
    {"NonZero", "{0}.nonzero().t()"},
    {"Not", "torch.logical_not({0})"},
    {"OneHot", {}, write_one_hot, refuse::unranked},
    {"Optional", {}, write_optional},
    {"OptionalGetElement", {}, write_optional_get_element},
    {"OptionalHasElement", {}, write_optional_has_element},
    {"Or", "torch.logical_or({0}, {1})"},
    {"PRelu", {}, write_prelu},
    {"Pad", {}, write_pad, refuse::pad},
    {"Pow", {}, write_pow},
    {"RandomNormal", {}, write_random},
    {"RandomNormalLike", {}, write_random},
    {"RandomUniform", {}, write_random},
    {"RandomUniformLike", {}, write_random},
    {"Range", {}, write_range},
    {"Reciprocal", "torch.reciprocal({0})"},
    {"ReduceL1", {}, write_reduce},
    {"ReduceL2", {}, write_reduce, refuse::not_float},
    {"ReduceLogSum", {}, write_reduce, refuse::not_float},
    {"ReduceLogSumExp", {}, write_reduce, refuse::not_float},
    {"ReduceMax", {}, write_reduce},
    {"ReduceMean", {}, write_reduce, refuse::not_float},
    {"ReduceMin", {}, write_reduce},
    {"ReduceProd", {}, write_reduce},
    {"ReduceSum", {}, write_reduce},
    {"ReduceSumSquare", {}, write_reduce},
    {"Relu", "torch.relu({0})"},
    {"Reshape", {}, write_reshape},
    {"Resize", {}, write_resize, refuse_resize},
    {"ReverseSequence", {}, write_reverse_sequence},
    {"Round", "torch.round({0})"},
    {"ScatterElements", {}, write_scatter_elements, refuse::scatter},
    {"ScatterND", {}, write_scatter_nd, refuse::scatter},
    {"Selu", "torch.selu({0})", nullptr, selu},
    {"SequenceAt", {}, write_sequence_at},
    {"SequenceConstruct", {}, write_sequence_construct},
    {"SequenceEmpty", {}, write_sequence_empty},
    {"SequenceErase", {}, write_sequence_erase},
    {"SequenceInsert", {}, write_sequence_insert},
    {"SequenceLength", {}, write_sequence_length},
    {"Shape", {}, write_shape},
    {"Shrink", {}, write_shrink, refuse::not_float},
    {"Sigmoid", "torch.sigmoid({0})"},
    {"Sign", "torch.sign({0})"},
    {"Sin", "torch.sin({0})"},
    {"Sinh", "torch.sinh({0})"},
    {"Size", "torch.tensor({0}.numel())"},
    {"Slice", {}, write_slice},
    {"Softmax", {}, write_softmax, refuse::not_float},
    {"Softplus", "nn:softplus({0})", nullptr, refuse::not_float},
    {"SpaceToDepth", {}, write_space_to_depth, refuse::images},
    {"Split", {}, write_split},
    {"SplitToSequence", {}, write_split_to_sequence},
    {"Sqrt", "torch.sqrt({0})"},
    {"Squeeze", {}, write_squeeze},
    {"Sub", "<0> - <1>"},
    {"Sum", {}, write_sum},
    {"Tan", "torch.tan({0})"},
    {"Tanh", "torch.tanh({0})"},
    {"Tile", {}, write_tile},
    {"TopK", {}, write_top_k},
    {"Transpose", {}, write_transpose, refuse::transpose},
    {"Trilu", {}, write_trilu},
    {"Unique", {}, write_unique, refuse::unique},
    {"Unsqueeze", {}, write_unsqueeze},
    {"Where", "torch.where({0}, {1}, {2})"},
    {"Xor", "torch.logical_xor({0}, {1})"},
};
static_assert(std::ranges::is_sorted(kRows, {}, &Row::op), "keep the rows sorted");

/// What processors compute in float16 since PyTorch 1.8; all else of it is computed in float32 and rounded once.
constexpr std::string_view kInHalves[] = {"Abs",
                                          "Add",
                                          "ArgMax",
                                          "ArgMin",
                                          "BitCast",
                                          "Cast",
                                          "Compress",
                                          "Concat",
                                          "ConcatFromSequence",
                                          "ConstantOfShape",
                                          "DepthToSpace",
                                          "Div",
                                          "Dropout",
                                          "Equal",
                                          "Expand",
                                          "EyeLike",
                                          "Flatten",
                                          "Gather",
                                          "GatherElements",
                                          "GatherND",
                                          "Greater",
                                          "GreaterOrEqual",
                                          "Identity",
                                          "If",
                                          "IsInf",
                                          "IsNaN",
                                          "Less",
                                          "LessOrEqual",
                                          "Loop",
                                          "Max",
                                          "Min",
                                          "Mul",
                                          "Neg",
                                          "NonZero",
                                          "OneHot",
                                          "Optional",
                                          "OptionalGetElement",
                                          "OptionalHasElement",
                                          "Pad",
                                          "RandomNormal",
                                          "RandomNormalLike",
                                          "RandomUniform",
                                          "RandomUniformLike",
                                          "Range",
                                          "ReduceMax",
                                          "ReduceMin",
                                          "Reshape",
                                          "ReverseSequence",
                                          "ScatterElements",
                                          "ScatterND",
                                          "SequenceAt",
                                          "SequenceConstruct",
                                          "SequenceEmpty",
                                          "SequenceErase",
                                          "SequenceInsert",
                                          "SequenceLength",
                                          "Shape",
                                          "Sign",
                                          "Size",
                                          "Slice",
                                          "SpaceToDepth",
                                          "Split",
                                          "SplitToSequence",
                                          "Squeeze",
                                          "Sub",
                                          "Sum",
                                          "Tile",
                                          "TopK",
                                          "Transpose",
                                          "Trilu",
                                          "Unsqueeze",
                                          "Where"};
static_assert(std::ranges::is_sorted(kInHalves), "keep the names sorted");

std::string filled(std::string_view text, const NodeOut& n) {
  std::string made;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool is_operand = text[i] == '<' && i + 2 < text.size() && text[i + 2] == '>';
    if (text[i] == '{' || is_operand) {
      const auto input = static_cast<std::size_t>(text[i + 1] - '0');
      made += is_operand ? n.operand(input) : n.in(input);
      i += 2;
    } else if (text.substr(i).starts_with("nn:")) {
      made += n.s.nn("");
      i += 2;
    } else {
      made += text[i];
    }
  }
  return made;
}

}  // namespace

std::span<const Row> all_rows() { return kRows; }

const Row* find_row(std::string_view op) {
  const auto row = std::ranges::lower_bound(kRows, op, {}, &Row::op);
  return row != std::end(kRows) && row->op == op ? row : nullptr;
}

bool has_type(const Type& type) {
  if (type.is_sequence()) return type.inner().is_tensor() && has_type(type.inner());
  if (type.is_optional()) return !type.inner().is_optional() && has_type(type.inner());
  return type.is_tensor() && carrier_of(type.elem) != DType::undefined;
}

Refused refusal(const Node& node) {
  const Row* row = node.domain.empty() ? find_row(node.op) : nullptr;
  if (!row) return Refusal{Kind::unknown_operator, "PyTorch has no such operator"};
  for (const Values& values : {node.inputs(), node.outputs()})
    for (const Value* value : values)
      if (value && !has_type(value->type))
        return Refusal{Kind::element_type, "PyTorch has nothing of type " + value->type.str()};
  return row->refuses ? row->refuses(node) : Refused();
}

DType wide_type(const Node& node) {
  const Value* x = node.input(0);
  if (!x || !x->type.is_tensor()) return DType::undefined;
  const DType elem = x->type.elem;
  if (node.op == "MaxPool" && is_integer(elem)) return DType::f32;
  if (elem != DType::f16) return DType::undefined;
  return std::ranges::binary_search(kInHalves, node.op) ? DType::undefined : DType::f32;
}

void write_nodes(Script& script, const Graph& graph) {
  for (const Node& node : graph.nodes()) {
    if (node.is("Constant")) {
      script.bind(node.output(), script.constant(*ops::constant_of(node.output())));
      continue;
    }
    const NodeOut out{script, node, wide_type(node)};
    if (script.layer && script.layer(out)) continue;
    const Row* row = find_row(node.op);
    if (row->write)
      row->write(out);
    else
      out.set(filled(row->text, out));
  }
}

}  // namespace ingot::backends::torch
