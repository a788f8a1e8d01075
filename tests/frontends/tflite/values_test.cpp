// Operators of TFLite by their values: models of one operator, run in Ingot's engine.
#include <cmath>

#include "ingot/base/error.h"
#include "ingot/formats/tflite/flexbuffer.h"
#include "tests/frontends/tflite/one_op.h"

namespace ingot::frontends::tflite {
namespace {

namespace tfl = formats::tflite;
using tfl::BuiltinOperator;
using tfl::Options;

Options with(BuiltinOperator op) { return Options(op); }

TEST(TfliteValues, ArithmeticWithFusedActivations) {
  const In a{{3}, {-4, 2, 5}}, b{{3}, {1, 2, 3}};
  EXPECT_THAT(values_of("ADD", {a, b}), near({-3, 4, 8}));
  const auto relu = with(BuiltinOperator::ADD).set("fused_activation_function", tfl::ActivationFunctionType::RELU6);
  EXPECT_THAT(values_of("ADD", relu, {a, b}), near({0, 4, 6}));
  EXPECT_THAT(values_of("SUB", {a, b}), near({-5, 0, 2}));
  EXPECT_THAT(values_of("MUL", {a, b}), near({-4, 4, 15}));
  EXPECT_THAT(values_of("DIV", {a, b}), near({-4, 1, 5.0 / 3}));
  EXPECT_THAT(values_of("SQUARED_DIFFERENCE", {a, b}), near({25, 0, 4}));
  EXPECT_THAT(values_of("MAXIMUM", {a, b}), near({1, 2, 5}));
  EXPECT_THAT(values_of("MINIMUM", {a, b}), near({-4, 2, 3}));
  EXPECT_THAT(values_of("POW", {b, b}), near({1, 4, 27}));
  EXPECT_THAT(values_of("ADD_N", {a, b, b}), near({-2, 6, 11}));
}

TEST(TfliteValues, QuotientsRoundDownAndRemaindersHaveTheDivisorsSign) {
  const In a{{4}, {7, -7, 7, -7}, INT32}, b{{4}, {2, 2, -2, -2}, INT32};
  EXPECT_THAT(values_of("FLOOR_DIV", {a, b}, of_type(INT32)), near({3, -4, -4, 3}));
  EXPECT_THAT(values_of("FLOOR_MOD", {a, b}, of_type(INT32)), near({1, 1, -1, -1}));
  const In x{{4}, {7, -7, 7, -7}}, y{{4}, {2, 2, -2, -2}};
  EXPECT_THAT(values_of("FLOOR_DIV", {x, y}), near({3, -4, -4, 3}));
  EXPECT_THAT(values_of("FLOOR_MOD", {x, y}), near({1, 1, -1, -1}));
  const In bits{{3}, {-5, 8, 255}, INT32}, by{{3}, {1, 2, 40}, INT32};
  EXPECT_THAT(values_of("RIGHT_SHIFT", {bits, by}, of_type(INT32)), near({-3, 2, 0}));
}

TEST(TfliteValues, FunctionsOfOneElement) {
  const In x{{4}, {-2, -0.5, 0.5, 2}};
  EXPECT_THAT(values_of("ABS", {x}), near({2, 0.5, 0.5, 2}));
  EXPECT_THAT(values_of("NEG", {x}), near({2, 0.5, -0.5, -2}));
  EXPECT_THAT(values_of("RELU", {x}), near({0, 0, 0.5, 2}));
  EXPECT_THAT(values_of("RELU6", {In{{2}, {-1, 9}}}), near({0, 6}));
  EXPECT_THAT(values_of("RELU_N1_TO_1", {x}), near({-1, -0.5, 0.5, 1}));
  EXPECT_THAT(values_of("RELU_0_TO_1", {x}), near({0, 0, 0.5, 1}));
  EXPECT_THAT(values_of("SQUARE", {x}), near({4, 0.25, 0.25, 4}));
  EXPECT_THAT(values_of("SIGN", {x}), near({-1, -1, 1, 1}));
  EXPECT_THAT(values_of("FLOOR", {x}), near({-2, -1, 0, 2}));
  EXPECT_THAT(values_of("CEIL", {x}), near({-2, 0, 1, 2}));
  EXPECT_THAT(values_of("ROUND", {In{{4}, {0.5, 1.5, -2.5, 2.4}}}), near({0, 2, -2, 2}));
  EXPECT_THAT(values_of("EXP", {x}), near({std::exp(-2), std::exp(-0.5), std::exp(0.5), std::exp(2)}));
  EXPECT_THAT(values_of("SIN", {x}), near({std::sin(-2), std::sin(-0.5), std::sin(0.5), std::sin(2)}));
  EXPECT_THAT(values_of("COS", {x}), near({std::cos(2), std::cos(0.5), std::cos(0.5), std::cos(2)}));
  EXPECT_THAT(values_of("TANH", {x}), near({std::tanh(-2), std::tanh(-0.5), std::tanh(0.5), std::tanh(2)}));
  EXPECT_THAT(values_of("LOG", {In{{2}, {1, 4}}}), near({0, std::log(4)}));
  EXPECT_THAT(values_of("SQRT", {In{{2}, {1, 4}}}), near({1, 2}));
  EXPECT_THAT(values_of("RSQRT", {In{{2}, {1, 4}}}), near({1, 0.5}));
  EXPECT_THAT(values_of("LOGISTIC", {In{{2}, {0, 2}}}), near({0.5, 1 / (1 + std::exp(-2))}));
  EXPECT_THAT(values_of("ELU", {In{{2}, {-1, 2}}}), near({std::exp(-1) - 1, 2}));
  EXPECT_THAT(values_of("HARD_SWISH", {In{{3}, {-4, 1, 4}}}), near({0, 4.0 / 6, 4}));
  EXPECT_THAT(values_of("LEAKY_RELU", with(BuiltinOperator::LEAKY_RELU).set("alpha", 0.25F), {x}),
              near({-0.5, -0.125, 0.5, 2}));
  EXPECT_THAT(values_of("PRELU", {x, constant({4}, {2, 4, 2, 2})}), near({-4, -2, 0.5, 2}));
  EXPECT_THAT(values_of("GELU", {In{{1}, {1}}}), near({0.5 * std::erfc(-1 / std::sqrt(2))}));
  EXPECT_THAT(values_of("CAST", {x}, of_type(INT32)), near({-2, 0, 0, 2}));
  EXPECT_THAT(values_of("ZEROS_LIKE", {x}), near({0, 0, 0, 0}));
}

TEST(TfliteValues, AnglesOfAllQuadrants) {
  const In y{{5}, {1, 1, -1, -1, 2}}, x{{5}, {1, -1, -1, 1, 0}};
  EXPECT_THAT(values_of("ATAN2", {y, x}),
              near({std::atan2(1, 1), std::atan2(1, -1), std::atan2(-1, -1), std::atan2(-1, 1), std::atan2(2, 0)}));
}

TEST(TfliteValues, ComparisonsAndLogic) {
  const In a{{3}, {1, 2, 3}}, b{{3}, {2, 2, 2}};
  EXPECT_THAT(values_of("LESS", {a, b}, of_type(BOOL)), near({1, 0, 0}));
  EXPECT_THAT(values_of("LESS_EQUAL", {a, b}, of_type(BOOL)), near({1, 1, 0}));
  EXPECT_THAT(values_of("GREATER", {a, b}, of_type(BOOL)), near({0, 0, 1}));
  EXPECT_THAT(values_of("GREATER_EQUAL", {a, b}, of_type(BOOL)), near({0, 1, 1}));
  EXPECT_THAT(values_of("EQUAL", {a, b}, of_type(BOOL)), near({0, 1, 0}));
  EXPECT_THAT(values_of("NOT_EQUAL", {a, b}, of_type(BOOL)), near({1, 0, 1}));
  const In p{{2}, {1, 0}, BOOL}, q{{2}, {1, 1}, BOOL};
  EXPECT_THAT(values_of("LOGICAL_AND", {p, q}, of_type(BOOL)), near({1, 0}));
  EXPECT_THAT(values_of("LOGICAL_OR", {p, q}, of_type(BOOL)), near({1, 1}));
  EXPECT_THAT(values_of("LOGICAL_NOT", {p}, of_type(BOOL)), near({0, 1}));
  const In rows{{2, 2}, {1, 2, 3, 4}}, others{{2, 2}, {5, 6, 7, 8}};
  EXPECT_THAT(values_of("SELECT", {p, rows, others}), near({1, 2, 7, 8}));
  EXPECT_THAT(values_of("SELECT_V2", {p, rows, others}), near({1, 6, 3, 8}));
}

TEST(TfliteValues, Reductions) {
  const In x{{2, 3}, {1, 2, 3, 4, 5, 6}};
  EXPECT_THAT(values_of("SUM", {x, numbers({1})}), near({6, 15}));
  EXPECT_THAT(values_of("MEAN", {x, numbers({0})}), near({2.5, 3.5, 4.5}));
  EXPECT_THAT(values_of("REDUCE_MAX", {x, numbers({-1})}), near({3, 6}));
  EXPECT_THAT(values_of("REDUCE_MIN", {x, numbers({0, 1})}), near({1}));
  EXPECT_THAT(values_of("REDUCE_PROD", {x, numbers({1})}), near({6, 120}));
  const In whole{{2, 2}, {1, 2, 4, 4}, INT32};
  EXPECT_THAT(values_of("MEAN", {whole, numbers({1})}, of_type(INT32)), near({1, 4}));
  const In truth{{2, 2}, {1, 0, 1, 1}, BOOL};
  EXPECT_THAT(values_of("REDUCE_ANY", {truth, numbers({0})}, of_type(BOOL)), near({1, 1}));
  EXPECT_THAT(values_of("REDUCE_ALL", {truth, numbers({0})}, of_type(BOOL)), near({1, 0}));
  EXPECT_THAT(values_of("ARG_MAX", {In{{2, 3}, {1, 9, 3, 7, 5, 6}}, number(1)}, of_type(INT32)), near({1, 0}));
  EXPECT_THAT(values_of("ARG_MIN", {In{{2, 3}, {1, 9, 3, 7, 5, 6}}, number(-1)}, of_type(INT64)), near({0, 1}));
  const auto top =
      run_op("TOPK_V2", with(BuiltinOperator::TOPK_V2), {In{{4}, {1, 9, 3, 7}}, number(2)}, {In{}, of_type(INT32)});
  EXPECT_THAT(top[0].to_doubles(), near({9, 7}));
  EXPECT_THAT(top[1].to_doubles(), near({1, 3}));
  EXPECT_THAT(
      values_of("CUMSUM", with(BuiltinOperator::CUMSUM).set("exclusive", true), {In{{3}, {1, 2, 3}}, number(0)}),
      near({0, 1, 3}));
}

TEST(TfliteValues, Movements) {
  const In x{{2, 3}, {1, 2, 3, 4, 5, 6}};
  EXPECT_THAT(values_of("TRANSPOSE", {x, numbers({1, 0})}), near({1, 4, 2, 5, 3, 6}));
  EXPECT_THAT(values_of("CONCATENATION", with(BuiltinOperator::CONCATENATION).set("axis", -1), {x, x}),
              near({1, 2, 3, 1, 2, 3, 4, 5, 6, 4, 5, 6}));
  EXPECT_THAT(values_of("PACK", with(BuiltinOperator::PACK).set("axis", 1).set("values_count", 2),
                        {In{{2}, {1, 2}}, In{{2}, {3, 4}}}),
              near({1, 3, 2, 4}));
  EXPECT_THAT(values_of("PAD", {In{{1, 2}, {1, 2}}, constant({2, 2}, {0, 1, 1, 0}, INT32)}), near({0, 1, 2, 0, 0, 0}));
  EXPECT_THAT(values_of("PADV2", {In{{2}, {1, 2}}, constant({1, 2}, {1, 1}, INT32), constant({}, {9})}),
              near({9, 1, 2, 9}));
  const auto symmetric = with(BuiltinOperator::MIRROR_PAD).set("mode", tfl::MirrorPadMode::SYMMETRIC);
  EXPECT_THAT(values_of("MIRROR_PAD", symmetric, {In{{3}, {1, 2, 3}}, constant({1, 2}, {2, 1}, INT32)}),
              near({2, 1, 1, 2, 3, 3}));
  EXPECT_THAT(values_of("MIRROR_PAD", {In{{3}, {1, 2, 3}}, constant({1, 2}, {2, 1}, INT32)}), near({3, 2, 1, 2, 3, 2}));
  EXPECT_THAT(values_of("SLICE", {x, numbers({0, 1}), numbers({-1, 1})}), near({2, 5}));
  EXPECT_THAT(
      values_of("STRIDED_SLICE", with(BuiltinOperator::STRIDED_SLICE).set("shrink_axis_mask", 1).set("end_mask", 2),
                {x, numbers({-1, 0}), numbers({0, 0}), numbers({1, 2})}),
      near({4, 6}));
  EXPECT_THAT(values_of("STRIDED_SLICE", with(BuiltinOperator::STRIDED_SLICE).set("begin_mask", 1).set("end_mask", 1),
                        {In{{3}, {1, 2, 3}}, numbers({0}), numbers({0}), numbers({-1})}),
              near({3, 2, 1}));
  EXPECT_THAT(values_of("TILE", {In{{2}, {1, 2}}, numbers({2})}), near({1, 2, 1, 2}));
  EXPECT_THAT(values_of("REVERSE_V2", {x, numbers({1})}), near({3, 2, 1, 6, 5, 4}));
  EXPECT_THAT(values_of("BROADCAST_TO", {In{{1, 2}, {1, 2}}, numbers({2, 2})}), near({1, 2, 1, 2}));
  EXPECT_THAT(values_of("FILL", {numbers({2, 2}), constant({}, {3})}), near({3, 3, 3, 3}));
  EXPECT_THAT(values_of("SHAPE", {x}, of_type(INT32)), near({2, 3}));
  EXPECT_THAT(values_of("RANK", {x}, of_type(INT32)), near({2}));
  EXPECT_THAT(values_of("RANGE", {number(1), number(7), number(2)}, of_type(INT32)), near({1, 3, 5}));
  EXPECT_THAT(values_of("BROADCAST_ARGS", {numbers({3, 1}), numbers({2, 1, 4})}, of_type(INT32)), near({2, 3, 4}));
  EXPECT_THAT(values_of("EXPAND_DIMS", {x, number(0)}), near({1, 2, 3, 4, 5, 6}));
  EXPECT_THAT(values_of("RESHAPE", {x, numbers({3, -1})}), near({1, 2, 3, 4, 5, 6}));
  EXPECT_THAT(values_of("DILATE", {In{{2}, {1, 2}}, numbers({3}), constant({}, {9})}), near({1, 9, 9, 2}));
  EXPECT_THAT(
      values_of("REVERSE_SEQUENCE", with(BuiltinOperator::REVERSE_SEQUENCE).set("seq_dim", 1), {x, numbers({2, 3})}),
      near({2, 1, 3, 6, 5, 4}));
}

TEST(TfliteValues, Splits) {
  const In x{{2, 3}, {1, 2, 3, 4, 5, 6}};
  const auto rows = run_op("UNPACK", with(BuiltinOperator::UNPACK).set("num", 2), {x}, {In{}, In{}});
  EXPECT_THAT(rows[1].to_doubles(), near({4, 5, 6}));
  EXPECT_EQ(rows[1].dims(), (Dims{3}));
  const auto thirds =
      run_op("SPLIT", with(BuiltinOperator::SPLIT).set("num_splits", 3), {number(1), x}, {In{}, In{}, In{}});
  EXPECT_THAT(thirds[2].to_doubles(), near({3, 6}));
  const auto parts = run_op("SPLIT_V", with(BuiltinOperator::SPLIT_V), {x, numbers({1, -1}), number(1)}, {In{}, In{}});
  EXPECT_THAT(parts[1].to_doubles(), near({2, 3, 5, 6}));
}

TEST(TfliteValues, BlocksOfSpace) {
  const In image{{1, 2, 2, 1}, {1, 2, 3, 4}}, deep{{1, 1, 1, 4}, {1, 2, 3, 4}};
  EXPECT_THAT(values_of("SPACE_TO_DEPTH", with(BuiltinOperator::SPACE_TO_DEPTH).set("block_size", 2), {image}),
              near({1, 2, 3, 4}));
  EXPECT_THAT(values_of("DEPTH_TO_SPACE", with(BuiltinOperator::DEPTH_TO_SPACE).set("block_size", 2), {deep}),
              near({1, 2, 3, 4}));
  const In pads = constant({2, 2}, {0, 0, 0, 0}, INT32);
  EXPECT_THAT(values_of("SPACE_TO_BATCH_ND", {In{{1, 2, 4, 1}, {1, 2, 3, 4, 5, 6, 7, 8}}, numbers({2, 2}), pads}),
              near({1, 3, 2, 4, 5, 7, 6, 8}));
  EXPECT_THAT(values_of("BATCH_TO_SPACE_ND", {In{{4, 1, 2, 1}, {1, 3, 2, 4, 5, 7, 6, 8}}, numbers({2, 2}), pads}),
              near({1, 2, 3, 4, 5, 6, 7, 8}));
}

TEST(TfliteValues, GathersAndScatters) {
  const In x{{3, 2}, {1, 2, 3, 4, 5, 6}};
  EXPECT_THAT(values_of("GATHER", {x, numbers({2, 0})}), near({5, 6, 1, 2}));
  EXPECT_THAT(values_of("GATHER", with(BuiltinOperator::GATHER).set("axis", 1).set("batch_dims", 1),
                        {x, constant({3, 1}, {1, 0, 1}, INT32)}),
              near({2, 3, 6}));
  EXPECT_THAT(values_of("GATHER_ND", {x, constant({2, 2}, {0, 1, 2, 0}, INT32)}), near({2, 5}));
  EXPECT_THAT(values_of("EMBEDDING_LOOKUP", {numbers({1}), x}), near({3, 4}));
  EXPECT_THAT(values_of("SCATTER_ND", {constant({3, 1}, {1, 1, 0}, INT32), In{{3}, {5, 6, 7}}, numbers({3})}),
              near({7, 11, 0}));
  EXPECT_THAT(values_of("SPARSE_TO_DENSE", {numbers({1, 3}), numbers({4}), In{{2}, {5, 6}}, constant({}, {9})}),
              near({9, 5, 9, 6}));
  EXPECT_THAT(values_of("ONE_HOT", with(BuiltinOperator::ONE_HOT).set("axis", -1),
                        {numbers({1, -1, 5}), number(2), constant({}, {8}), constant({}, {9})}),
              near({9, 8, 9, 9, 9, 9}));
  EXPECT_THAT(values_of("WHERE", {In{{2, 2}, {1, 0, 0, 1}, BOOL}}, of_type(INT64)), near({0, 0, 1, 1}));
  const auto found = run_op("UNIQUE", with(BuiltinOperator::UNIQUE), {In{{4}, {7, 3, 7, 5}}}, {In{}, of_type(INT32)});
  EXPECT_THAT(found[0].to_doubles(), near({7, 3, 5}));
  EXPECT_THAT(found[1].to_doubles(), near({0, 1, 0, 2}));
  EXPECT_THAT(values_of("MATRIX_DIAG", {In{{2}, {1, 2}}}), near({1, 0, 0, 2}));
  EXPECT_THAT(values_of("MATRIX_SET_DIAG", {In{{2, 3}, {1, 2, 3, 4, 5, 6}}, In{{2}, {8, 9}}}),
              near({8, 2, 3, 4, 9, 6}));
  EXPECT_THAT(values_of("DYNAMIC_UPDATE_SLICE", {x, In{{1, 2}, {8, 9}}, numbers({9, 0})}), near({1, 2, 3, 4, 8, 9}));
}

TEST(TfliteValues, Segments) {
  const In x{{3, 2}, {1, 2, 3, 4, 5, 6}};
  EXPECT_THAT(values_of("SEGMENT_SUM", {x, numbers({0, 0, 1})}), near({4, 6, 5, 6}));
  EXPECT_THAT(values_of("UNSORTED_SEGMENT_SUM", {x, numbers({1, -1, 1}), number(2)}), near({0, 0, 6, 8}));
  EXPECT_THAT(values_of("UNSORTED_SEGMENT_PROD", {x, numbers({1, 1, 0}), number(2)}), near({5, 6, 3, 8}));
  EXPECT_THAT(values_of("UNSORTED_SEGMENT_MAX", {x, numbers({0, 0, 0}), number(1)}), near({5, 6}));
  EXPECT_THAT(values_of("UNSORTED_SEGMENT_MIN", {x, numbers({0, 0, 0}), number(1)}), near({1, 2}));
}

TEST(TfliteValues, Products) {
  const In x{{1, 2}, {1, 2}}, w = constant({3, 2}, {1, 0, 0, 1, 1, 1});
  EXPECT_THAT(values_of("FULLY_CONNECTED", {x, w, constant({3}, {1, 1, 1})}), near({2, 3, 4}));
  EXPECT_THAT(values_of("FULLY_CONNECTED", with(BuiltinOperator::FULLY_CONNECTED).set("keep_num_dims", true),
                        {In{{1, 2, 2}, {1, 2, 3, 4}}, w}),
              near({1, 2, 3, 3, 4, 7}));
  EXPECT_THAT(values_of("BATCH_MATMUL", with(BuiltinOperator::BATCH_MATMUL).set("adj_y", true),
                        {In{{1, 2}, {1, 2}}, In{{3, 2}, {1, 0, 0, 1, 1, 1}}}),
              near({1, 2, 3}));
}

Options window(BuiltinOperator op, tfl::Padding padding) {
  return Options(op).set("stride_h", 1).set("stride_w", 1).set("padding", padding);
}

TEST(TfliteValues, ConvolutionsAndPools) {
  const In image{{1, 2, 2, 1}, {1, 2, 3, 4}};
  const In ones = constant({1, 2, 2, 1}, {1, 1, 1, 1});
  EXPECT_THAT(
      values_of("CONV_2D", window(BuiltinOperator::CONV_2D, tfl::Padding::SAME), {image, ones, constant({1}, {1})}),
      near({11, 7, 8, 5}));
  EXPECT_THAT(values_of("CONV_2D", window(BuiltinOperator::CONV_2D, tfl::Padding::VALID), {image, ones}), near({10}));
  const auto depthwise = window(BuiltinOperator::DEPTHWISE_CONV_2D, tfl::Padding::VALID).set("depth_multiplier", 2);
  EXPECT_THAT(
      values_of("DEPTHWISE_CONV_2D", depthwise, {In{{1, 1, 1, 2}, {3, 5}}, constant({1, 1, 1, 4}, {1, 2, 3, 4})}),
      near({3, 6, 15, 20}));
  const auto pool = [&](BuiltinOperator op) {
    return window(op, tfl::Padding::SAME).set("filter_height", 2).set("filter_width", 2);
  };
  EXPECT_THAT(values_of("MAX_POOL_2D", pool(BuiltinOperator::MAX_POOL_2D), {image}), near({4, 4, 4, 4}));
  EXPECT_THAT(values_of("AVERAGE_POOL_2D", pool(BuiltinOperator::AVERAGE_POOL_2D), {image}), near({2.5, 3, 3.5, 4}));
  EXPECT_THAT(values_of("L2_POOL_2D", pool(BuiltinOperator::L2_POOL_2D), {image}),
              near({std::sqrt(30 / 4.0), std::sqrt(10), std::sqrt(12.5), 4}));
  const auto transposed = Options(BuiltinOperator::TRANSPOSE_CONV)
                              .set("stride_h", 2)
                              .set("stride_w", 2)
                              .set("padding", tfl::Padding::VALID);
  EXPECT_THAT(values_of("TRANSPOSE_CONV", transposed,
                        {numbers({1, 2, 2, 1}), constant({1, 2, 2, 1}, {1, 2, 3, 4}), In{{1, 1, 1, 1}, {2}}}),
              near({2, 4, 6, 8}));
  const auto volume = Options(BuiltinOperator::CONV_3D)
                          .set("stride_d", 1)
                          .set("stride_h", 1)
                          .set("stride_w", 1)
                          .set("padding", tfl::Padding::VALID);
  EXPECT_THAT(values_of("CONV_3D", volume, {In{{1, 2, 1, 1, 1}, {3, 4}}, constant({2, 1, 1, 1, 1}, {1, 2})}),
              near({11}));
}

TEST(TfliteValues, Normalisations) {
  EXPECT_THAT(values_of("SOFTMAX", with(BuiltinOperator::SOFTMAX).set("beta", 2.0F), {In{{1, 2}, {0, 1}}}),
              near({1 / (1 + std::exp(2)), std::exp(2) / (1 + std::exp(2))}));
  EXPECT_THAT(values_of("LOG_SOFTMAX", {In{{1, 2}, {0, 0}}}), near({-std::log(2), -std::log(2)}));
  EXPECT_THAT(values_of("L2_NORMALIZATION", {In{{1, 2}, {3, 4}}}), near({0.6, 0.8}));
  const auto local = with(BuiltinOperator::LOCAL_RESPONSE_NORMALIZATION)
                         .set("radius", 1)
                         .set("bias", 1.0F)
                         .set("alpha", 2.0F)
                         .set("beta", 1.0F);
  EXPECT_THAT(values_of("LOCAL_RESPONSE_NORMALIZATION", local, {In{{1, 1, 1, 3}, {1, 2, 3}}}),
              near({1 / 11.0, 2 / 29.0, 3 / 27.0}));
}

TEST(TfliteValues, ResizingTakesTheElementsThatTfliteTakes) {
  const In row{{1, 1, 2, 1}, {0, 1}};
  const auto half = [](BuiltinOperator op) { return Options(op).set("half_pixel_centers", true); };
  EXPECT_THAT(values_of("RESIZE_BILINEAR", half(BuiltinOperator::RESIZE_BILINEAR), {row, numbers({1, 4})}),
              near({0, 0.25, 0.75, 1}));
  EXPECT_THAT(values_of("RESIZE_BILINEAR", {row, numbers({1, 4})}), near({0, 0.5, 1, 1}));
  EXPECT_THAT(values_of("RESIZE_BILINEAR", with(BuiltinOperator::RESIZE_BILINEAR).set("align_corners", true),
                        {row, numbers({1, 3})}),
              near({0, 0.5, 1}));
  EXPECT_THAT(values_of("RESIZE_NEAREST_NEIGHBOR", {row, numbers({1, 3})}), near({0, 0, 1}));
  EXPECT_THAT(
      values_of("RESIZE_NEAREST_NEIGHBOR", half(BuiltinOperator::RESIZE_NEAREST_NEIGHBOR), {row, numbers({1, 3})}),
      near({0, 1, 1}));
}

TEST(TfliteValues, QuantisedOperatorsRoundOnce) {
  const In a = quantized({{2}, {10, -10}}, 0.5F, 0), b = quantized({{2}, {3, 3}}, 1.0F, 1);
  In out = quantized({}, 1.0F, -1);
  EXPECT_THAT(values_of("ADD", {a, b}, out), near({6, -4}));
  In probability = quantized({}, 1.0F / 256, -128);
  EXPECT_THAT(values_of("LOGISTIC", {a}, probability),
              near({std::round(256 / (1 + std::exp(-5))) - 128, std::round(256 / (1 + std::exp(5))) - 128}));
  EXPECT_THAT(values_of("QUANTIZE", {In{{3}, {-1, 0.5, 1000}}}, quantized({}, 0.5F, 3)), near({1, 4, 127}));
  EXPECT_THAT(values_of("DEQUANTIZE", {a}), near({5, -5}));
  const auto pads = constant({1, 2}, {1, 0}, INT32);
  EXPECT_THAT(values_of("PAD", {b, pads}, quantized({}, 1.0F, 1)), near({1, 3, 3}));
}

TEST(TfliteValues, FakeQuantisationAndBuckets) {
  const auto fake = with(BuiltinOperator::FAKE_QUANT).set("min", 0.0F).set("max", 255.0F).set("num_bits", 8);
  EXPECT_THAT(values_of("FAKE_QUANT", fake, {In{{3}, {-3, 7.4, 300}}}), near({0, 7, 255}));
  const auto buckets = with(BuiltinOperator::BUCKETIZE).set("boundaries", std::vector<float>{0, 10});
  EXPECT_THAT(values_of("BUCKETIZE", buckets, {In{{4}, {-1, 0, 5, 10}}}, of_type(INT32)), near({0, 1, 1, 2}));
}

TEST(TfliteValues, NonMaximumSuppressionFillsUpWithZeros) {
  const In boxes{{3, 4}, {0, 0, 1, 1, 0, 0, 1, 0.9, 2, 2, 3, 3}}, scores{{3}, {0.5, 0.9, 0.7}};
  const auto made =
      run_op("NON_MAX_SUPPRESSION_V4", with(BuiltinOperator::NON_MAX_SUPPRESSION_V4),
             {boxes, scores, number(3), constant({}, {0.5}), constant({}, {0.1})}, {of_type(INT32), of_type(INT32)});
  EXPECT_THAT(made[0].to_doubles(), near({1, 2, 0}));
  EXPECT_THAT(made[1].to_doubles(), near({2}));
}

TEST(TfliteValues, StableHlo) {
  const In a{{3}, {-4, 2, 5}}, b{{3}, {3, 3, 3}};
  EXPECT_THAT(values_of("STABLEHLO_ADD", {a, b}), near({-1, 5, 8}));
  EXPECT_THAT(values_of("STABLEHLO_REMAINDER", {a, b}), near({-1, 2, 2}));
  EXPECT_THAT(values_of("STABLEHLO_CLAMP", {constant({}, {0}), a, constant({}, {3})}), near({0, 2, 3}));
  EXPECT_THAT(values_of("STABLEHLO_CBRT", {In{{2}, {-8, 27}}}), near({-2, 3}));
  const auto less =
      with(BuiltinOperator::STABLEHLO_COMPARE).set("comparison_direction", tfl::StablehloComparisonDirection::LT);
  EXPECT_THAT(values_of("STABLEHLO_COMPARE", less, {a, b}, of_type(BOOL)), near({1, 1, 0}));
}

/// A custom operator's result for these options.
std::vector<double> custom_values(std::string_view op, tfl::FlexValue::Map options, const std::vector<In>& inputs) {
  const Bytes bytes = tfl::write_flexbuffer(tfl::FlexValue{std::move(options)});
  return run_op(op, tfl::Options(), inputs, {In{}}, bytes).at(0).to_doubles();
}
tfl::FlexValue whole(std::int64_t n) { return {n}; }
tfl::FlexValue real(double n) { return {n}; }

TEST(TfliteValues, TheWindowAroundLandmarksIsTurnedWithThem) {
  // The line from landmark 0 to landmark 1 goes down the image: the window is turned by a quarter.
  const In landmarks{{1, 4, 3}, {2, 1, 0, 2, 5, 0, 1, 1, 0, 4, 5, 0}};
  const std::vector<double> matrix =
      custom_values("Landmarks2TransformMatrix",
                    {{"left_rotation_idx", whole(0)},
                     {"output_height", whole(4)},
                     {"output_width", whole(8)},
                     {"right_rotation_idx", whole(1)},
                     {"scale_x", real(1)},
                     {"scale_y", real(2)},
                     {"subset_idxs", {tfl::FlexValue::List{whole(2), whole(3), whole(0)}}},
                     {"target_rotation_radians", real(0)}},
                    {landmarks});
  // Turned by -90 degrees the points (1,1), (4,5), (2,1) are (1,-1), (5,-4), (1,-2): a box of 4 x 3 around (3,-2.5),
  // which is (2.5,3) in the image. A step to the right in the window is 4 / 8 down, one down is 2 * 3 / 4 to the left.
  EXPECT_THAT(matrix, IsNear(std::vector<double>{0, -1.5, 0, 5.5, 0.5, 0, 0, 1, 0, 0, 1, 0, 0, 0, 0, 1}));
}

TEST(TfliteValues, LandmarksMoveByAMatrix) {
  const In landmarks{{1, 2, 3}, {1, 2, 9, 3, 4, 8}};
  const In matrix{{1, 4, 4}, {0, -1, 0, 10, 2, 0, 0, 20, 0, 0, 1, 0, 0, 0, 0, 1}};
  EXPECT_THAT(custom_values("TransformLandmarks", {{"dimensions", whole(3)}}, {landmarks, matrix}),
              IsNear(std::vector<double>{8, 22, 9, 6, 26, 8}));
  EXPECT_THAT(custom_values("TransformLandmarks", {}, {In{{1, 1, 2}, {1, 2}}, matrix}),
              IsNear(std::vector<double>{8, 22}));
}

TEST(TfliteValues, AnImageIsReadThroughAMatrix) {
  const In image{{1, 2, 3, 1}, {0, 1, 2, 10, 11, 12}};
  const auto read = [&](std::vector<double> matrix) {
    return custom_values("TransformTensorBilinear", {{"output_height", whole(2)}, {"output_width", whole(2)}},
                         {image, In{{1, 4, 4}, std::move(matrix)}});
  };
  EXPECT_THAT(read({1, 0, 0, 0.5, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1}),
              IsNear(std::vector<double>{0.5, 1.5, 10.5, 11.5}));
  // Half a pixel outside is outside.
  EXPECT_THAT(read({1, 0, 0, -0.5, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1}), IsNear(std::vector<double>{0, 0.5, 0, 10.5}));
}

}  // namespace
}  // namespace ingot::frontends::tflite
