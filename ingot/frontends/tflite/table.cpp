// Which function translates which operator.
#include "ingot/frontends/tflite/table.h"

#include <algorithm>
#include <iterator>

#include "ingot/frontends/tflite/translators.h"

namespace ingot::frontends::tflite {
namespace {

namespace defs = ops::defs;

constexpr Row kRows[] = {
    {"ABS", unary<defs::Abs>},
    {"ADD", arithmetic<defs::Add>},
    {"ADD_N", add_n},
    {"ARG_MAX", arg_max},
    {"ARG_MIN", arg_min},
    {"ATAN2", atan2},
    {"AVERAGE_POOL_2D", average_pool_2d},
    {"BATCH_MATMUL", batch_matmul},
    {"BATCH_TO_SPACE_ND", batch_to_space},
    {"BITWISE_XOR", binary<defs::BitwiseXor>},
    {"BROADCAST_ARGS", broadcast_args},
    {"BROADCAST_TO", broadcast_to},
    {"BUCKETIZE", bucketize},
    {"CAST", cast},
    {"CEIL", unary<defs::Ceil>},
    {"CONCATENATION", concatenation},
    {"CONV_2D", conv_2d},
    {"CONV_3D", conv_3d},
    {"CONV_3D_TRANSPOSE", conv_3d_transpose},
    {"COS", unary<defs::Cos>},
    {"CUMSUM", cumsum},
    {"CUSTOM:Convolution2DTransposeBias", transpose_conv_with_bias},
    {"CUSTOM:MaxPoolingWithArgmax2D", max_pool_with_argmax},
    {"CUSTOM:MaxUnpooling2D", max_unpool},
    {"DENSIFY", densify},
    {"DEPTHWISE_CONV_2D", depthwise_conv_2d},
    {"DEPTH_TO_SPACE", depth_to_space},
    {"DEQUANTIZE", dequantize},
    {"DILATE", dilate},
    {"DIV", arithmetic<defs::Div>},
    {"ELU", unary<defs::Elu>},
    {"EQUAL", binary<defs::Equal>},
    {"EXP", unary<defs::Exp>},
    {"EXPAND_DIMS", expand_dims},
    {"FAKE_QUANT", fake_quant},
    {"FILL", fill},
    {"FLOOR", unary<defs::Floor>},
    {"FLOOR_DIV", floor_div},
    {"FLOOR_MOD", floor_mod},
    {"FULLY_CONNECTED", fully_connected},
    {"GELU", gelu},
    {"GREATER", binary<defs::Greater>},
    {"GREATER_EQUAL", binary<defs::GreaterOrEqual>},
    {"HARD_SWISH", unary<defs::HardSwish>},
    {"L2_NORMALIZATION", l2_normalization},
    {"L2_POOL_2D", l2_pool_2d},
    {"LEAKY_RELU", leaky_relu},
    {"LESS", binary<defs::Less>},
    {"LESS_EQUAL", binary<defs::LessOrEqual>},
    {"LOCAL_RESPONSE_NORMALIZATION", local_response_normalization},
    {"LOG", unary<defs::Log>},
    {"LOGICAL_AND", binary<defs::And>},
    {"LOGICAL_NOT", unary<defs::Not>},
    {"LOGICAL_OR", binary<defs::Or>},
    {"LOGISTIC", unary<defs::Sigmoid>},
    {"LOG_SOFTMAX", log_softmax},
    {"MAXIMUM", binary<defs::Max>},
    {"MAX_POOL_2D", max_pool_2d},
    {"MEAN", mean},
    {"MINIMUM", binary<defs::Min>},
    {"MIRROR_PAD", mirror_pad},
    {"MUL", arithmetic<defs::Mul>},
    {"NEG", unary<defs::Neg>},
    {"NOT_EQUAL", not_equal},
    {"PACK", pack},
    {"PAD", pad},
    {"PADV2", pad},
    {"POW", binary<defs::Pow>},
    {"PRELU", prelu},
    {"QUANTIZE", quantize},
    {"RANGE", range},
    {"RANK", rank_of},
    {"REDUCE_ALL", reduce_all},
    {"REDUCE_ANY", reduce_any},
    {"REDUCE_MAX", reduce_max},
    {"REDUCE_MIN", reduce_min},
    {"REDUCE_PROD", reduce_prod},
    {"RELU", unary<defs::Relu>},
    {"RELU6", relu_6},
    {"RELU_0_TO_1", relu_0_to_1},
    {"RELU_N1_TO_1", relu_n1_to_1},
    {"RESHAPE", reshape},
    {"RESIZE_BILINEAR", resize_bilinear},
    {"RESIZE_NEAREST_NEIGHBOR", resize_nearest},
    {"REVERSE_SEQUENCE", reverse_sequence},
    {"REVERSE_V2", reverse},
    {"RIGHT_SHIFT", right_shift},
    {"ROUND", unary<defs::Round>},
    {"RSQRT", rsqrt},
    {"SELECT", select},
    {"SELECT_V2", select},
    {"SHAPE", shape_of},
    {"SIGN", unary<defs::Sign>},
    {"SIN", unary<defs::Sin>},
    {"SLICE", slice},
    {"SOFTMAX", softmax},
    {"SPACE_TO_BATCH_ND", space_to_batch},
    {"SPACE_TO_DEPTH", space_to_depth},
    {"SPLIT", split},
    {"SPLIT_V", split_v},
    {"SQRT", unary<defs::Sqrt>},
    {"SQUARE", square},
    {"SQUARED_DIFFERENCE", squared_difference},
    {"SQUEEZE", squeeze},
    {"STRIDED_SLICE", strided_slice},
    {"SUB", arithmetic<defs::Sub>},
    {"SUM", reduce_sum},
    {"TANH", unary<defs::Tanh>},
    {"TILE", tile},
    {"TOPK_V2", top_k},
    {"TRANSPOSE", transpose},
    {"TRANSPOSE_CONV", transpose_conv},
    {"UNPACK", unpack},
    {"ZEROS_LIKE", zeros_like},
};
static_assert(std::ranges::is_sorted(kRows, {}, &Row::name), "find_row() searches by halves");

}  // namespace

std::span<const Row> all_rows() { return kRows; }

const Row* find_row(const tfl::OperatorCode& code) {
  const std::string name = tfl::describe(code);
  const Row* row = std::ranges::lower_bound(kRows, name, {}, &Row::name);
  return row != std::end(kRows) && row->name == name ? row : nullptr;
}

}  // namespace ingot::frontends::tflite
