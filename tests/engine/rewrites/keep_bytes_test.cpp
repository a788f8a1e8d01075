// What is quantised on both sides is computed in integers, with the bits of the quantised operators' reference kernels.
#include "ingot/engine/rewrites/keep_bytes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "tests/engine/both_ways.h"
#include "tests/engine/random.h"

namespace ingot::engine {
namespace {

/// A scale, and a zero point of type u8 or i8.
struct Scale {
  float scale;
  std::int64_t zero;
  DType type;
};

Tensor zero_of(const Scale& s) {
  if (s.type == DType::i8) return Tensor::scalar(static_cast<std::int8_t>(s.zero));
  return Tensor::scalar(static_cast<std::uint8_t>(s.zero));
}

/// Writes a network twice: as converters write it, and with the quantised operators.
class Network {
 public:
  explicit Network(unsigned seed) : random(seed), type_(seed % 2 ? DType::i8 : DType::u8) {}

  Scale scale() {
    return {0.01f + 0.001f * static_cast<float>(random.below(40)), random.below(256) - (type_ == DType::i8 ? 128 : 0),
            type_};
  }
  GraphBuilder builder() { return GraphBuilder(*model.graph); }
  Value* dequantize(Value* v, const Scale& s) {
    GraphBuilder g = builder();
    return g.op("DequantizeLinear", {v, g.constant(Tensor::scalar(s.scale)), g.constant(zero_of(s))});
  }
  Value* quantize(Value* v, const Scale& s) {
    GraphBuilder g = builder();
    return g.op("QuantizeLinear", {v, g.constant(Tensor::scalar(s.scale)), g.constant(zero_of(s))});
  }

  Value* convolution(Value* v, const Scale& from, const Scale& to, std::int64_t filters, std::int64_t kernel,
                     bool is_depthwise, bool has_relu, bool is_quantized) {
    GraphBuilder g = builder();
    const std::int64_t channels = v->type.shape->at(1).value();
    const Tensor w = random.bytes(DType::i8, {filters, is_depthwise ? 1 : channels, kernel, kernel});
    const Tensor scales = random.floats({filters}, 0.001f, 0.003f);
    const Tensor zeros =
        Tensor::of<std::int8_t>({filters}, std::vector<std::int8_t>(static_cast<std::size_t>(filters)));
    std::vector<std::int32_t> bias;
    std::vector<float> bias_scales;
    for (const float s : scales.to_vector<float>()) {
      bias.push_back(static_cast<std::int32_t>(random.below(2000) - 1000));
      bias_scales.push_back(from.scale * s);
    }
    const Tensor words = Tensor::of<std::int32_t>({filters}, bias);
    const Attrs attrs = {{"pads", Dims(4, kernel / 2)}, {"group", is_depthwise ? filters : std::int64_t{1}}};
    if (is_quantized) {
      Value* y =
          g.op("QLinearConv",
               {v, g.constant(Tensor::scalar(from.scale)), g.constant(zero_of(from)), g.constant(w), g.constant(scales),
                g.constant(zeros), g.constant(Tensor::scalar(to.scale)), g.constant(zero_of(to)), g.constant(words)},
               attrs);
      return has_relu ? g.op("Max", {y, g.constant(zero_of(to))}) : y;
    }
    Value* y = g.op("Conv",
                    {dequantize(v, from),
                     g.op("DequantizeLinear", {g.constant(w), g.constant(scales), g.constant(zeros)}, {{"axis", 0}}),
                     g.op("DequantizeLinear",
                          {g.constant(words), g.constant(Tensor::of<float>({filters}, bias_scales))}, {{"axis", 0}})},
                    attrs);
    if (has_relu) y = g.op("Relu", {y});
    return quantize(y, to);
  }

  Random random;
  Model model = empty_model();

 private:
  DType type_;
};

/// A convolution, a depthwise one, a sum of what came before and after them, and a mean.
Model network(unsigned seed, bool is_quantized, Array& x) {
  Network net(seed);
  const Scale a = net.scale(), b = net.scale(), c = net.scale(), d = net.scale();
  const Dims dims = {1, 1 + net.random.below(24), 5 + net.random.below(6), 5 + net.random.below(6)};
  const bool has_relu = net.random.below(2) != 0;
  x = Array::from(net.random.bytes(a.type, dims));
  Value* v = net.model.graph->add_input("x", x.type());
  Value* first = net.convolution(v, a, b, dims[1], 1, false, has_relu, is_quantized);
  Value* second = net.convolution(first, b, c, dims[1], 3, true, !has_relu, is_quantized);
  Value* sum = net.builder().op("Add", {net.dequantize(first, b), net.dequantize(second, c)});
  net.model.graph->add_output(net.quantize(sum, d));
  return std::move(net.model);
}

std::vector<std::string> operators_of(const Model& model) {
  std::vector<std::string> operators;
  for (const KernelChoice& choice : Session(model, {.threads = 1}).kernels())
    operators.push_back(choice.op.substr(choice.op.rfind('.') + 1));
  return operators;
}

std::ptrdiff_t count(const std::vector<std::string>& operators, std::string_view name) {
  return std::ranges::count(operators, name);
}

/// Whatever the number of threads.
void expect_same_bits(const Model& model, const Model& quantized, const Array& x) {
  const Array expected = run(quantized, x, false, 1);
  for (const int threads : {1, 2}) {
    const Array got = run(model, x, true, threads);
    ASSERT_EQ(got.dims(), expected.dims());
    ASSERT_EQ(got.to_ints(), expected.to_ints());
  }
}

TEST(KeepBytes, HasTheBitsOfTheQuantizedOperators) {
  for (unsigned seed = 0; seed < 40; ++seed) {
    Array x;
    const Model model = network(seed, false, x), quantized = network(seed, true, x);
    ASSERT_NO_FATAL_FAILURE(expect_same_bits(model, quantized, x)) << seed;
    const auto operators = operators_of(model);
    EXPECT_EQ(count(operators, "ByteConv"), 2) << seed;
    EXPECT_EQ(count(operators, "ByteSum"), 1) << seed;
    EXPECT_EQ(count(operators, "Transpose"), 2) << seed;  // of what comes in and goes out
    EXPECT_EQ(count(operators, "DequantizeLinear"), 0) << seed;
  }
}

TEST(KeepBytes, IsWithinAStepOfTheFloatsThatItReplaces) {
  std::int64_t all = 0, differ = 0;
  for (unsigned seed = 0; seed < 40; ++seed) {
    Array x;
    const Model model = network(seed, false, x);
    const auto fast = run(model, x, true, 1).to_ints(), slow = run(model, x, false, 1).to_ints();
    for (std::size_t i = 0; i < fast.size(); ++i, ++all) {
      differ += fast[i] != slow[i];
      ASSERT_LE(std::abs(fast[i] - slow[i]), 2) << seed;  // a step of each operand
    }
  }
  EXPECT_LE(differ * 1000, all);
}

/// Rows times a constant matrix, with a bias in a Gemm, of bytes; also written with the quantised operators.
Model product(unsigned seed, bool is_quantized, Array& x) {
  Network net(seed);
  GraphBuilder g = net.builder();
  const Scale from = net.scale(), to = net.scale();
  const bool is_gemm = seed % 3 == 0, is_turned = is_gemm && seed % 2, has_bias = is_gemm && !is_quantized;
  const std::int64_t depth = 1 + net.random.below(90), columns = 1 + net.random.below(90);
  const Dims rows = is_gemm ? Dims{net.random.below(200) + 1, depth} : Dims{2, 1 + net.random.below(40), depth};
  x = Array::from(net.random.bytes(from.type, rows));
  Value* v = net.model.graph->add_input("x", x.type());
  const bool is_by_column = net.random.below(2) != 0;
  const Tensor w = net.random.bytes(DType::i8, is_turned ? Dims{columns, depth} : Dims{depth, columns});
  const Tensor scales = net.random.floats(is_by_column ? Dims{columns} : Dims{}, 0.001f, 0.003f);
  if (is_quantized) {
    Value* matrix = g.constant(w);
    const Tensor zero = Tensor::scalar(std::int8_t{0});
    Value* zeros = is_by_column ? g.op("Expand", {g.constant(zero), g.ints({columns})}) : g.constant(zero);
    net.model.graph->add_output(
        g.op("QLinearMatMul", {v, g.constant(Tensor::scalar(from.scale)), g.constant(zero_of(from)),
                               is_turned ? g.transpose(matrix, {1, 0}) : matrix, g.constant(scales), zeros,
                               g.constant(Tensor::scalar(to.scale)), g.constant(zero_of(to))}));
    return std::move(net.model);
  }
  Value* matrix = g.op("DequantizeLinear", {g.constant(w), g.constant(scales)}, {{"axis", is_turned ? 0 : 1}});
  Values inputs = {net.dequantize(v, from), matrix};
  if (has_bias) {
    std::vector<std::int32_t> bias(static_cast<std::size_t>(columns));
    std::vector<float> of_sums;
    for (const float s : scales.to_vector<float>()) of_sums.push_back(from.scale * s);
    inputs.push_back(g.op("DequantizeLinear",
                          {g.constant(Tensor::of<std::int32_t>({columns}, bias)),
                           g.constant(Tensor::of<float>(is_by_column ? Dims{columns} : Dims{}, of_sums))},
                          {{"axis", 0}}));
  }
  Value* y = is_gemm ? g.op("Gemm", inputs, {{"transB", is_turned}}) : g.op("MatMul", inputs);
  net.model.graph->add_output(net.quantize(y, to));
  return std::move(net.model);
}

TEST(KeepBytes, ProductsHaveTheBitsOfTheQuantizedOperator) {
  for (unsigned seed = 0; seed < 60; ++seed) {
    Array x;
    const Model model = product(seed, false, x), quantized = product(seed, true, x);
    ASSERT_NO_FATAL_FAILURE(expect_same_bits(model, quantized, x)) << seed;
    const auto operators = operators_of(model);
    EXPECT_EQ(count(operators, "ByteProduct"), 1) << seed;
    EXPECT_EQ(count(operators, "DequantizeLinear"), 0) << seed;
  }
}

// Behind a Reshape to sizes that only a run tells not even the rank is known.
TEST(KeepBytes, RowsOfProductsMayHaveAnyRank) {
  Network net(4);
  GraphBuilder g = net.builder();
  const Scale a = net.scale(), b = net.scale();
  const Array x = Array::from(net.random.bytes(a.type, {2, 3, 4, 8}));
  Value* v = net.model.graph->add_input("x", x.type());
  v->type.shape.reset();
  Value* w =
      g.op("DequantizeLinear", {g.constant(net.random.bytes(DType::i8, {8, 5})), g.constant(Tensor::scalar(0.01f))});
  net.model.graph->add_output(net.quantize(g.op("MatMul", {net.dequantize(v, a), w}), b));
  const Array got = run(net.model, x, true, 1);
  EXPECT_EQ(got.dims(), (Dims{2, 3, 4, 5}));
  const auto fast = got.to_ints(), slow = run(net.model, x, false, 1).to_ints();
  for (std::size_t i = 0; i < fast.size(); ++i) ASSERT_LE(std::abs(fast[i] - slow[i]), 1) << i;
  EXPECT_EQ(count(operators_of(net.model), "ByteProduct"), 1);
}

TEST(KeepBytes, WhatMovesNumbersMovesTheBytes) {
  for (unsigned seed = 0; seed < 12; ++seed) {
    Network net(seed);
    GraphBuilder g = net.builder();
    const Scale a = net.scale();
    const Array x = Array::from(net.random.bytes(a.type, {2, 6, 8, 4}));
    Value* v = net.model.graph->add_input("x", x.type());
    const auto around = [&](ops::Name op, Values inputs, const Attrs& attrs) {
      for (Value*& input : inputs)
        if (input->type.elem == a.type) input = net.dequantize(input, a);
      return net.quantize(g.op(op, inputs, attrs), a);
    };
    Value* turned = around("Transpose", {v}, {{"perm", {0, 2, 3, 1}}});
    Value* part = around("Slice", {turned, g.ints({1}), g.ints({7}), g.ints({1})}, {});
    Value* both = around("Concat", {part, part}, {{"axis", 3}});
    Value* flat = around("Reshape", {both, g.ints({2, 6, -1})}, {});
    Value* best = around("MaxPool", {flat}, {{"kernel_shape", {3}}, {"strides", {2}}, {"pads", {1, 1}}});
    net.model.graph->add_output(best);
    EXPECT_EQ(run(net.model, x, true, 1).to_ints(), run(net.model, x, false, 1).to_ints()) << seed;
    const auto operators = operators_of(net.model);
    EXPECT_EQ(count(operators, "DequantizeLinear") + count(operators, "QuantizeLinear"), 0) << seed;
    EXPECT_EQ(count(operators, "Elementwise"), 0) << seed;
  }
}

TEST(KeepBytes, LargestOfWindowsAreTakenOfBytes) {
  for (unsigned seed = 0; seed < 40; ++seed) {
    Network net(seed);
    const Scale a = net.scale(), b = net.scale();
    const Dims dims = {1 + net.random.below(2), 3, 5 + net.random.below(9), 5 + net.random.below(9)};
    const Array x = Array::from(net.random.bytes(a.type, dims));
    Value* v = net.convolution(net.model.graph->add_input("x", x.type()), a, b, 20, 1, false, false, false);
    std::vector<std::int64_t> kernel, strides, dilations, pads;
    for (int i = 0; i < 2; ++i) {
      kernel.push_back(1 + net.random.below(3));
      strides.push_back(1 + net.random.below(3));
      dilations.push_back(1 + net.random.below(2));
    }
    for (std::size_t i = 0; i < 4; ++i) pads.push_back(net.random.below(kernel[i % 2]));
    Value* y = net.builder().op("MaxPool", {net.dequantize(v, b)},
                                {{"kernel_shape", kernel},
                                 {"strides", strides},
                                 {"dilations", dilations},
                                 {"pads", pads},
                                 {"ceil_mode", net.random.below(2)}});
    net.model.graph->add_output(net.quantize(y, b));
    const Array one = run(net.model, x, true, 1), two = run(net.model, x, true, 2);
    const Array slow = run(net.model, x, false, 1);
    ASSERT_EQ(one.dims(), slow.dims()) << seed;
    EXPECT_EQ(one.to_ints(), two.to_ints()) << seed;
    const auto fast = one.to_ints(), expected = slow.to_ints();
    for (std::size_t i = 0; i < fast.size(); ++i) ASSERT_LE(std::abs(fast[i] - expected[i]), 1) << seed;
    EXPECT_EQ(count(operators_of(net.model), "ByteMax"), 1) << seed;
  }
}

/// A pointwise convolution of one channel that lies at its zero point: its sums are the biases.
Model biases_alone(const std::vector<std::int32_t>& biases, float x_scale, float w_scale, const Scale& to) {
  Network net(0);
  GraphBuilder g = net.builder();
  const auto filters = std::ssize(biases);
  const Scale from{x_scale, 0, DType::u8};
  Value* v = net.model.graph->add_input("x", Type::tensor(DType::u8, Shape{1, 1, 1, 1}));
  const Tensor w(net.random.bytes(DType::u8, {filters, 1, 1, 1}));
  Value* y = g.op(
      "Conv", {net.dequantize(v, from), g.op("DequantizeLinear", {g.constant(w), g.constant(Tensor::scalar(w_scale))}),
               g.op("DequantizeLinear", {g.constant(Tensor::of<std::int32_t>({filters}, biases)),
                                         g.constant(Tensor::scalar(x_scale * w_scale))})});
  net.model.graph->add_output(net.quantize(y, to));
  return std::move(net.model);
}

// A sum of floats may leave the side of the middle on which the numbers are: these two lie 3.1e-6 and 2.2e-6 of a step
// beside it, and float convolutions of 128 channels have been seen to give 175 and 131.
TEST(KeepBytes, SumsBesideTheMiddleGoToTheNearer) {
  const Model model =
      biases_alone({7128, -7128}, 0.06038718670606613f, 0.010486466810107231f, {0.20994390547275543f, 153, DType::u8});
  EXPECT_EQ(
      run(model, Array::from(Tensor::of<std::uint8_t>({1, 1, 1, 1}, std::vector<std::uint8_t>{0})), true, 1).to_ints(),
      (std::vector<std::int64_t>{174, 132}));
  EXPECT_EQ(count(operators_of(model), "ByteConv"), 1);
}

TEST(KeepBytes, SumsAreScaledAsNumbersAreButForThreeRoundings) {
  constexpr double kRoundings = 3 * 0x1p-24;  // two of the factor, one of its product with an exact sum
  const Array x = Array::from(Tensor::of<std::uint8_t>({1, 1, 1, 1}, std::vector<std::uint8_t>{0}));
  for (unsigned seed = 0; seed < 20; ++seed) {
    Random random(seed);
    const auto scales = random.floats({3}, 0.001f, 0.1f).to_vector<float>();
    const Scale to{scales[2], random.below(256), DType::u8};
    const double factor = double{scales[0]} * double{scales[1]} / double{scales[2]};
    std::vector<std::int32_t> biases;
    for (int i = 0; i < 5000; ++i)  // the integers beside a middle
      biases.push_back(static_cast<std::int32_t>((static_cast<double>(random.below(500)) - 249.5) / factor + i % 2));
    const auto got = run(biases_alone(biases, scales[0], scales[1], to), x, true, 1).to_ints();
    for (std::size_t i = 0; i < biases.size(); ++i) {
      const double number = biases[i] * factor, beside = std::abs(number - std::floor(number) - 0.5);
      const double nearest = std::clamp(std::nearbyint(number) + static_cast<double>(to.zero), 0.0, 255.0);
      if (beside > std::abs(number) * kRoundings) {
        ASSERT_EQ(static_cast<double>(got[i]), nearest) << seed << " " << biases[i];
      }
    }
  }
}

/// The sums of all pairs of bytes, which convolutions leave as they are.
Model all_sums(DType type, const Scale& a, const Scale& b, const Scale& to) {
  Network net(type == DType::i8 ? 1 : 0);
  GraphBuilder g = net.builder();
  Value* v = net.model.graph->add_input("x", Type::tensor(type, Shape{1, 1, 256, 1}));
  const Tensor one = Tensor::of<std::int8_t>({1, 1, 1, 1}, std::vector<std::int8_t>{1});
  const auto copied = [&](Value* x, const Scale& s) {
    Value* w = g.op("DequantizeLinear", {g.constant(one), g.constant(Tensor::scalar(1.0f))});
    return net.dequantize(net.quantize(g.op("Conv", {net.dequantize(x, s), w}), s), s);
  };
  Value* rows = g.op("Expand", {v, g.ints({1, 1, 256, 256})});
  Value* columns = g.transpose(rows, {0, 1, 3, 2});
  net.model.graph->add_output(net.quantize(g.op("Add", {copied(rows, a), copied(columns, b)}), to));
  return std::move(net.model);
}

TEST(KeepBytes, SumsOfAllPairsHaveTheBitsOfTheFloats) {
  for (unsigned seed = 0; seed < 24; ++seed) {
    Network net(seed);
    Scale a = net.scale(), b = net.scale(), to = net.scale();
    if (seed % 3 == 1) b.scale = a.scale, to.scale = 2 * a.scale;        // halves
    if (seed % 3 == 2) a.scale = 0.1f, b.scale = 0.3f, to.scale = 0.2f;  // halves that floats miss
    std::vector<std::uint8_t> bytes(256);
    std::iota(bytes.begin(), bytes.end(), std::uint8_t{0});
    const Array x = a.type == DType::u8 ? Array::from(Tensor::of<std::uint8_t>({1, 1, 256, 1}, bytes))
                                        : Array::from(Tensor::of<std::int8_t>(
                                              {1, 1, 256, 1}, std::vector<std::int8_t>(bytes.begin(), bytes.end())));
    const Model model = all_sums(a.type, a, b, to);
    ASSERT_EQ(run(model, x, true, 1).to_ints(), run(model, x, false, 1).to_ints()) << seed;
    EXPECT_EQ(count(operators_of(model), "ByteSum"), 1) << seed;
  }
}

TEST(KeepBytes, LimitsAreIntegers) {
  Network net(1);
  const Scale a = net.scale(), b = {0.05f, -100, DType::i8};
  const Array x = Array::from(net.random.bytes(a.type, {1, 3, 6, 6}));
  Value* v = net.model.graph->add_input("x", x.type());
  Value* y = net.convolution(v, a, b, 5, 3, false, false, false);
  Node* conv = y->producer()->input(0)->producer();
  GraphBuilder g(*net.model.graph, y->producer());
  y->producer()->set_input(0, g.op("Clip", {conv->output(0), g.scalar(-0.2, DType::f32), g.scalar(0.33, DType::f32)}));
  net.model.graph->add_output(y);
  const auto got = run(net.model, x, true, 1).to_ints();
  EXPECT_EQ(got, run(net.model, x, false, 1).to_ints());
  EXPECT_EQ(std::ranges::min(got), -104);
  EXPECT_EQ(std::ranges::max(got), -93);
  EXPECT_EQ(count(operators_of(net.model), "ByteConv"), 1);
}

TEST(KeepBytes, MeansOfPlanesAreTakenOfBytes) {
  for (const std::string_view op : {"GlobalAveragePool", "AveragePool", "ReduceMean"}) {
    Network net(3);
    const Scale a = net.scale(), b = net.scale();
    const Array x = Array::from(net.random.bytes(a.type, {2, 3, 6, 5}));
    Value* v =
        net.dequantize(net.convolution(net.model.graph->add_input("x", x.type()), a, b, 20, 3, false, false, false), b);
    GraphBuilder g = net.builder();
    Value* y = op == "ReduceMean"    ? g.op("ReduceMean", {v, g.ints({-1, 2})}, {{"keepdims", 0}})
               : op == "AveragePool" ? g.op("AveragePool", {v}, {{"kernel_shape", {6, 5}}})
                                     : g.op("GlobalAveragePool", {v});
    net.model.graph->add_output(y);
    const Array fast = run(net.model, x, true, 1), slow = run(net.model, x, false, 1);
    ASSERT_EQ(fast.dims(), slow.dims());
    for (std::size_t i = 0; i < static_cast<std::size_t>(fast.size()); ++i)
      EXPECT_NEAR(fast.data<float>()[i], slow.data<float>()[i], b.scale / 30 + 1e-6f);  // one step of one element
    EXPECT_EQ(count(operators_of(net.model), "ByteMean"), 1) << op;
  }
}

/// What changes the model, and leaves floats.
struct Change {
  const char* name;
  void (*apply)(Model& model, Node& conv);
};

class KeepBytesNot : public testing::TestWithParam<Change> {};

TEST_P(KeepBytesNot, WhereItWouldMeanSomethingElse) {
  Network net(2);
  const Scale a = net.scale(), b = net.scale();
  const Array x = Array::from(net.random.bytes(a.type, {1, 4, 6, 6}));
  Value* v = net.model.graph->add_input("x", x.type());
  Value* y = net.convolution(v, a, b, 4, 3, false, true, false);
  net.model.graph->add_output(y);
  ASSERT_EQ(count(operators_of(net.model), "ByteConv"), 1);
  Node* conv = y->producer()->input(0)->producer()->input(0)->producer();
  ASSERT_TRUE(conv->is("Conv"));
  GetParam().apply(net.model, *conv);
  EXPECT_EQ(count(operators_of(net.model), "ByteConv"), 0);
  const auto fast = run(net.model, x, true, 1), slow = run(net.model, x, false, 1);
  ASSERT_EQ(fast.dims(), slow.dims());
}

INSTANTIATE_TEST_SUITE_P(
    Changes, KeepBytesNot,
    testing::Values(Change{"FloatsAreAnOutput", [](Model& m, Node& conv) { m.graph->add_output(conv.output(0)); }},
                    Change{"BiasOfAnotherScale",
                           [](Model&, Node& conv) {
                             conv.input(2)->producer()->input(1)->initializer =
                                 Tensor::of<float>({4}, std::vector<float>{0.1f, 0.1f, 0.1f, 0.1f});
                           }},
                    Change{"BiasTooLarge",
                           [](Model&, Node& conv) {
                             conv.input(2)->producer()->input(0)->initializer =
                                 Tensor::of<std::int32_t>({4}, std::vector<std::int32_t>{2147483000, 0, 0, 0});
                           }},
                    Change{"ScaleOfZero",
                           [](Model&, Node& conv) {
                             conv.input(0)->producer()->input(1)->initializer = Tensor::scalar(0.0f);
                           }},
                    Change{"Groups",
                           [](Model&, Node& conv) {
                             conv.attributes.set({"group", 2});
                             Random random(7);
                             Value* weights = conv.input(1)->producer()->input(0);
                             weights->initializer = random.bytes(DType::i8, {4, 2, 3, 3});
                             weights->type = Type::tensor(DType::i8, Shape{4, 2, 3, 3});
                             conv.input(1)->type = Type::tensor(DType::f32, Shape{4, 2, 3, 3});
                           }}),
    [](const auto& change) { return change.param.name; });

}  // namespace
}  // namespace ingot::engine
